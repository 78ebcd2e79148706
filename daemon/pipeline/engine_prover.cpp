#include "daemon/pipeline/engine_prover.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>

#include "cuda/prover/cuda_prover.hpp"
#include "daemon/host/host_info.hpp"
#include "daemon/pipeline/budgets.hpp"
#include "daemon/pipeline/bundle_file.hpp"
#include "daemon/pipeline/engine_parts.hpp"
#include "daemon/pipeline/epoch_checker.hpp"
#include "daemon/pipeline/epoch_payload.hpp"
#include "daemon/pipeline/epoch_pipeline.hpp"
#include "daemon/pipeline/guest.hpp"
#include "daemon/pipeline/memory_load.hpp"
#include "daemon/pipeline/payload_reader.hpp"
#include "daemon/pipeline/sealing_run.hpp"
#include "daemon/pipeline/stored_check.hpp"
#include "daemon/queue/reason.hpp"
#include "epoch/continuation/area.hpp"
#include "epoch/exec/replay.hpp"

namespace epochd {
namespace {

constexpr u32 kVerifyThreadsMax = 4;
/// Verifying an epoch takes less than a hundredth of proving it on that many threads.
constexpr u32 kThreadsOfAVerifier = 4;
constexpr std::chrono::milliseconds kCheckPause(20);
/// Assemblies whose global proof the primary pool makes.
constexpr u32 kTrustedAssemblies = 2;

std::span<const u8> as_byte_span(std::span<const u64> words) {
  return {reinterpret_cast<const u8*>(words.data()), words.size_bytes()};
}

class EngineProver : public EpochEngine {
 public:
  EngineProver(const ProofRequest& request, EngineParts parts, DebugText debug, TraceFile* trace);

  RunFacts prove_epochs(EpochExchange& exchange) override;
  prover::Digest program() const override { return key_.vk.digest(); }
  Bytes prove_capsule(Capsule capsule, const Checkpoint& check) override;
  std::optional<u32> adopt(const RunFacts& facts, const EpochLoader& load,
                           const Checkpoint& check) override;
  void assemble(const EpochLoader& load, const ByteSink& bundle, const Checkpoint& check) override;
  void verify(const Path& bundle) override;
  void verify_watched(const Path& bundle, const Checkpoint& check) override;
  ProverUsage usage() const override;
  std::map<std::string, double> stage_seconds() const override { return log_.seconds(); }

 private:
  using Source = std::shared_ptr<CheckpointSource>;

  CutRun cut_run() const { return {guest_, request_.input, params_}; }
  SnapshotReading reading(Checkpoint check) const { return {parallel_, isa_, std::move(check)}; }
  RunFacts run_ahead(ResumeStore* store, const Source& from, const Checkpoint& checkpoint) const;
  std::optional<RunFacts> known_facts(ResumeStore* store) const;
  RunFacts choose_one_epoch(EpochExchange& exchange);
  RunFacts survey_one_epoch(EpochExchange& exchange);
  void prove_missing(StoredCheck& stored, EpochExchange& exchange);
  void open_pool();
  void take_turn(const Checkpoint& check);
  void give_turn_back();
  ProvingPlaces places() const;
  RunMemory::Ends finish_memory();

  const ProofRequest& request_;
  EngineParts parts_;
  BackendChoice choice_;
  Guest guest_;
  DebugText debug_;
  Isa isa_ = best_isa();
  Parallel parallel_;
  RunParams params_;
  ProvingKey key_;
  StageLog log_;
  PoolJob pool_job_;
  std::optional<CheckedPool> pool_;  ///< opened when first needed: until then params_ may change
  std::optional<RunFacts> facts_;
  std::unique_ptr<RunMemory> memory_ = std::make_unique<RunMemory>();
  std::optional<RunMemory::Ends> ends_;  ///< once the epochs are done
  u32 assemblies_ = 0;
};

EngineProver::EngineProver(const ProofRequest& request, EngineParts parts, DebugText debug,
                           TraceFile* trace)
    : request_(request),
      parts_(std::move(parts)),
      choice_(choose_backend(request.backend, parts_.devices.query, request.devices)),
      guest_(request.elf, request.elf_name),
      debug_(std::move(debug)),
      parallel_(request.threads),
      params_{&preset_of(request.protocol.security), request.protocol.epoch_size_log2},
      key_(parts_.key(guest_, params_, isa_, parallel_)),
      log_(trace) {}

std::optional<RunFacts> EngineProver::known_facts(ResumeStore* store) const {
  if (store == nullptr) return std::nullopt;
  std::optional<KeptFacts> kept = load_facts(*store);
  const bool is_of_this_run = kept && kept->params.preset == params_.preset &&
                              kept->params.epoch_size_log2 == params_.epoch_size_log2 &&
                              kept->run.cycles <= request_.cycle_limit;
  if (!is_of_this_run) return std::nullopt;
  return std::move(kept->run);
}

RunFacts EngineProver::run_ahead(ResumeStore* store, const Source& from,
                                 const Checkpoint& checkpoint) const {
  if (auto known = known_facts(store)) return *std::move(known);
  const GuestRun run(guest_, request_.input, request_.cycle_limit, debug_);
  const auto visit = [&](const ScoutEpoch&) { checkpoint(); };
  RunFacts facts;
  const SnapshotVisit nobody{[](const SnapshotCells&) {}};
  // It was read to its end a moment ago.
  auto at = from ? resume_scout(cut_run(), reading(checkpoint), store->key(), debug_, *from, nobody)
                 : Result<ResumedScout, SnapshotError>(Unexpected{SnapshotError{}});
  if (at) {
    facts = {at->snapshot.cycles, at->snapshot.label, 0, std::move(at->snapshot.outputs)};
    facts = run.to_exit(std::move(at->scout), std::move(facts), params_, visit);
  } else {
    facts = run.to_exit(params_, visit);
  }
  if (store != nullptr) keep_facts(*store, {params_, facts});
  return facts;
}

RunFacts EngineProver::choose_one_epoch(EpochExchange& exchange) {
  ResumeStore* const store = exchange.resume_store();
  const std::optional<KeptFacts> kept = store != nullptr ? load_facts(*store) : std::nullopt;
  if (kept && kept->params.preset == params_.preset && kept->run.epochs == 1 &&
      kept->run.cycles <= request_.cycle_limit) {
    params_ = kept->params;
    return kept->run;
  }
  const RunFacts facts = survey_one_epoch(exchange);
  if (store != nullptr) keep_facts(*store, {params_, facts});
  return facts;
}

RunFacts EngineProver::survey_one_epoch(EpochExchange& exchange) {
  RunParams largest = params_;
  largest.epoch_size_log2 = kEpochSizeLog2Max;
  std::atomic<u64> area = 0;
  const auto run = [&](const Checkpoint& checkpoint) {
    const LoggedStage stage(log_, "survey", "survey");
    const GuestRun guest_run(guest_, request_.input, request_.cycle_limit, debug_);
    return guest_run.to_exit(largest, [&](const ScoutEpoch& epoch) {
      area = epoch.area;
      checkpoint();
    });
  };
  std::mutex mutex;
  std::condition_variable ended;
  const Survey survey(run, [&] {
    const std::lock_guard lock(mutex);
    ended.notify_all();
  });
  while (!survey.has_ended()) {
    exchange.check();
    std::unique_lock lock(mutex);
    ended.wait_for(lock, kCheckPause, [&] { return survey.has_ended(); });
  }
  const RunFacts facts = survey.facts();
  if (facts.epochs > 1) {
    throw JobError(Reason::kInput,
                   "the run needs more cycles or table area than one epoch of 2^26 cycles holds; "
                   "prove it with continuations");
  }
  // The smallest epoch that holds the run, whatever size was asked for.
  params_.epoch_size_log2 = kEpochSizeLog2Min;
  while (facts.cycles > u64{1} << params_.epoch_size_log2 || area > epoch_area(params_).cap) {
    ++params_.epoch_size_log2;
  }
  return facts;
}

ProvingPlaces EngineProver::places() const {
  const PoolFactory cpu = parts_.cpu(isa_, parallel_);
  if (request_.backend == BackendPolicy::kCpu) return {cpu, {}, false};
  ProvingPlaces places;
  places.is_device = true;
  if (choice_.is_cuda) {
    places.primary = parts_.devices.pool(choice_.devices);
  } else {
    places.primary = [why = choice_.fallback](const PoolJob&) -> std::unique_ptr<ProverPool> {
      throw std::runtime_error(why);
    };
  }
  if (request_.backend == BackendPolicy::kCudaPreferred) places.fallback = cpu;
  return places;
}

void EngineProver::open_pool() {
  const LoggedStage stage(log_, "main", "open pool");
  const BudgetedProof proof{params_, request_.backend, request_.residency, request_.threads};
  if (const auto refusal = budget_refusal(request_.memory, proof)) {
    throw JobError(Reason::kInput, *refusal);
  }
  const bool is_limited = request_.memory.device_bytes + request_.memory.pinned_bytes > 0;
  const u32 in_flight = is_limited ? in_flight_within(request_.memory, proof, kInFlightDefault) : 0;
  pool_job_ = {request_.elf, request_.elf_name,  &key_,    &guest_.code(),
               params_,      request_.residency, in_flight};
  const u32 verifiers =
      std::clamp(parallel_.threads() / kThreadsOfAVerifier, 1u, kVerifyThreadsMax);
  pool_.emplace(pool_job_, places(), parts_.epochs(key_.vk, params_), verifiers, log_,
                request_.turn == nullptr ? CheckedPool::Start::kOpen : CheckedPool::Start::kClosed);
}

/// Has the pool open, whatever it takes to wait for that.
void EngineProver::take_turn(const Checkpoint& check) {
  if (request_.turn != nullptr) wait_for_turn(*request_.turn, check);
  pool_->open();
}

/// What comes now needs no pool.
void EngineProver::give_turn_back() {
  if (request_.turn == nullptr) return;
  pool_->close();
  request_.turn->give_back();
}

RunFacts EngineProver::prove_epochs(EpochExchange& exchange) {
  const bool is_cut = request_.protocol.continuations;
  ResumeStore* const store = exchange.resume_store();
  EpochRun run;
  if (!is_cut) {
    run.survey = [facts = choose_one_epoch(exchange)](const Checkpoint&) { return facts; };
  }
  open_pool();
  SealingRun sealing(cut_run(), isa_, key_.vk.digest(), log_);
  Source from;
  std::optional<MemoryLoad> earlier;  // not needed before the first proof is there
  u64 resumed = 0;
  if (is_cut && store != nullptr) {
    const LoggedStage stage(log_, "main", "resume");
    const SnapshotReading how = reading([&] {
      exchange.check();
      exchange.advanced();
    });
    if (auto point = find_resume_point(cut_run(), how, key_.vk.digest(), *store)) {
      resumed = point->at.snapshot.label;
      exchange.resumed(resumed);
      from = std::move(point->for_survey);
      earlier.emplace(cut_run(), parallel_, isa_, store->key(), std::move(point->for_memory));
      sealing.resume(std::move(point->at), std::move(point->stitch));
    }
    if (request_.checkpoints) sealing.keep_checkpoints(*store, *request_.checkpoints);
  }
  if (is_cut) {
    run.survey = [&](const Checkpoint& checkpoint) { return run_ahead(store, from, checkpoint); };
  }
  run.first = resumed + 1;
  run.next = [&] { return sealing.next(); };
  StoredCheck stored(exchange, resumed);
  EpochPipeline pipeline(*pool_, exchange, log_, request_.pipeline_depth, request_.turn);
  facts_ = pipeline.run(run, [&](u32 label, std::span<const BoundaryRecord> rows) {
    if (earlier) {
      memory_ = earlier->get([&](bool went_forward) {
        exchange.check();
        if (went_forward) exchange.advanced();
      });
      earlier.reset();
    }
    memory_->absorb(label, rows);
  });
  prove_missing(stored, exchange);
  return *facts_;
}

void EngineProver::prove_missing(StoredCheck& stored, EpochExchange& exchange) {
  while (!stored.has_ended()) {
    exchange.check();
    std::this_thread::sleep_for(kCheckPause);
  }
  const std::vector<u32> missing = stored.missing();
  if (missing.empty()) return;
  take_turn([&] { exchange.check(); });
  SealingRun again(cut_run(), isa_, key_.vk.digest(), log_);
  epochd::prove_missing(
      missing, [&] { return again.next(); }, *pool_, exchange);
}

Bytes EngineProver::prove_capsule(Capsule capsule, const Checkpoint& check) {
  {
    EpochRecords records;
    if (const auto error = Replayer(guest_.code()).run(capsule, records)) {
      throw JobError(Reason::kInput, "the capsule is no epoch of its program: " + error->message);
    }
  }
  open_pool();
  return prove_one(*pool_, std::move(capsule), check).payload;
}

std::optional<u32> EngineProver::adopt(const RunFacts& facts, const EpochLoader& load,
                                       const Checkpoint& check) {
  const LoggedStage stage(log_, "main", "verify epochs");
  EpochChecker checker(key_.vk, params_);
  for (u32 label = 1; label <= facts.epochs; ++label) {
    check();
    const std::optional<EpochPayload> payload = decode_payload(load(label));
    if (!payload || !checker.is_epoch(label, label == facts.epochs, *payload)) return label;
    memory_->absorb(label, payload->boundary);
  }
  open_pool();
  facts_ = facts;
  return std::nullopt;
}

ProverUsage EngineProver::usage() const {
  if (pool_) return pool_->usage();
  ProverUsage usage;
  usage.backend = choice_.is_cuda ? "cuda" : "cpu";
  usage.fallback = choice_.fallback;
  return usage;
}

RunMemory::Ends EngineProver::finish_memory() {
  RunMemory::Ends ends = memory_->finish(key_.image);
  memory_.reset();  // makes room for the global proof
  return ends;
}

void EngineProver::assemble(const EpochLoader& load, const ByteSink& bundle,
                            const Checkpoint& check) {
  const LoggedStage stage(log_, "main", "assemble");
  if (++assemblies_ > 1) pool_->count_refused_global();
  const u32 epochs = static_cast<u32>(facts_.value().epochs);
  if (request_.turn != nullptr && request_.turn->is_wanted()) give_turn_back();
  if (!ends_) ends_ = finish_memory();
  bundle(as_byte_span(bundle_header(key_.vk, params_, epochs, *ends_)));

  PayloadReader payloads(load, epochs, parallel_);
  std::vector<prover::Digest> roots;
  std::vector<u32> heights;
  for (u32 label = 1; label <= epochs; ++label) {
    check();
    const EpochPayload& payload = payloads.at(label);
    bundle(as_byte_span(payload.proof.record));
    roots.push_back(payload.proof.boundary_root);
    heights.push_back(payload.proof.boundary_log_height);
  }
  BoundaryStore store;
  store.epochs = epochs;
  store.rows = [&](u32 label) { return payloads.at(label).boundary; };
  store.root = [&](u32 label) { return roots[label - 1]; };
  store.log_height = [&](u32 label) { return heights[label - 1]; };
  take_turn(check);
  const LoggedStage global(log_, "main", "global proof");
  const auto emit = [&](std::span<const u64> words) { bundle(as_byte_span(words)); };
  const auto cancelled = [&] {
    check();
    return false;
  };
  pool_->prove_global(store, *ends_, emit, cancelled,
                      assemblies_ <= kTrustedAssemblies ? CheckedPool::Trust::kPrimary
                                                        : CheckedPool::Trust::kFallback);
  give_turn_back();
  release_free_memory();
}

void EngineProver::verify(const Path& bundle) {
  verify_watched(bundle, [] {});
}

void EngineProver::verify_watched(const Path& bundle, const Checkpoint& check) {
  const LoggedStage stage(log_, "main", "verify bundle");
  const bool is_test = request_.protocol.security == SecurityPreset::kTest;
  const Verdict verdict = parts_.bundle(key_.vk, bundle, is_test, parallel_, check);
  const RunResult& result = verdict.result;
  if (!result.ok()) {
    throw JobError(Reason::kInternal, "the bundle does not verify (" + describe_failure(result) +
                                          "); please report this with the program and its input");
  }
  const bool is_as_run =
      !facts_ || (result.cycles == facts_->cycles && result.exit_code == facts_->exit_code &&
                  verdict.outputs == facts_->outputs);
  if (!is_as_run) {
    throw JobError(Reason::kInternal, "the bundle proves another run than the one executed");
  }
}

}  // namespace

std::unique_ptr<JobProver> make_engine_prover(const ProofRequest& request, DebugText debug,
                                              DeviceAccess devices, TraceFile* trace) {
  EngineParts parts;
  parts.devices = std::move(devices);
  return std::make_unique<EngineProver>(request, std::move(parts), std::move(debug), trace);
}

std::unique_ptr<JobProver> make_engine_prover(const ProofRequest& request, EngineParts parts,
                                              DebugText debug) {
  return std::make_unique<EngineProver>(request, std::move(parts), std::move(debug), nullptr);
}

std::unique_ptr<EpochEngine> make_epoch_engine(const ProofRequest& request, DeviceAccess devices) {
  EngineParts parts;
  parts.devices = std::move(devices);
  return std::make_unique<EngineProver>(request, std::move(parts), DebugText{}, nullptr);
}

const prover::Preset& preset_of(SecurityPreset security) {
  const std::string_view name = kSecurityPresetNames[static_cast<size_t>(security)];
  for (const prover::Preset& preset : prover::kPresets) {
    if (preset.name == name) return preset;
  }
  EPOCHD_ASSERT(false && "every name of the settings is a compiled-in preset");
  return prover::kPresets[0];
}

}  // namespace epochd
