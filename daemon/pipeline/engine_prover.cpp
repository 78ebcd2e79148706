#include "daemon/pipeline/engine_prover.hpp"

#include <algorithm>
#include <optional>

#include "daemon/host/host_info.hpp"
#include "daemon/log/log.hpp"
#include "daemon/pipeline/bundle_file.hpp"
#include "daemon/pipeline/epoch_payload.hpp"
#include "daemon/pipeline/guest.hpp"
#include "daemon/pipeline/resilient_prover.hpp"
#include "daemon/queue/reason.hpp"
#include "epoch/capsule/stitch.hpp"
#include "epoch/continuation/area.hpp"
#include "epoch/continuation/cpu_prover.hpp"
#include "epoch/exec/replay.hpp"
#include "epoch/exec/scout.hpp"

namespace epochd {
namespace {

std::span<const u8> as_byte_span(std::span<const u64> words) {
  return {reinterpret_cast<const u8*>(words.data()), words.size_bytes()};
}

class EngineProver : public JobProver {
 public:
  EngineProver(const ProofRequest& request, DebugText debug, DeviceAccess devices);

  RunFacts execute(const Checkpoint& checkpoint) override;
  Bytes prove_epoch(u64 label) override;
  bool accept_epoch(u64 label, std::span<const u8> bytes) override;
  void assemble(const EpochLoader& load, const ByteSink& bundle) override;
  void verify(const Path& bundle) override;
  ProverUsage usage() const override;

 private:
  EpochProver& prover();
  std::unique_ptr<EpochProver> make_device_prover() const;
  void seal(u64 label);
  const EpochRecords& replay(u64 label);
  void replay_into_records(u64 label);
  bool is_of_this_epoch(const EpochPayload& payload) const;
  bool is_proof_of_this_epoch(const EpochProof& proof);
  RunMemory::Ends finish_memory();

  const ProofRequest& request_;
  DeviceAccess devices_;
  BackendChoice choice_;
  Guest guest_;
  DebugText debug_;
  Isa isa_ = best_isa();
  Parallel pool_;
  RunParams params_;
  ProvingKey key_;
  std::optional<RunFacts> facts_;
  std::unique_ptr<EpochProver> prover_;  ///< made when first needed: execute() settles params_

  // The second run, which seals one capsule after the other.
  std::optional<Scout> scout_;
  Stitch stitch_;
  std::optional<Replayer> replayer_;
  Capsule capsule_;
  std::optional<EpochRecords> records_;  ///< one for all epochs, in memory that suits prover_
  std::unique_ptr<RunScratch> scratch_ = std::make_unique<RunScratch>();
  std::unique_ptr<RunMemory> memory_ = std::make_unique<RunMemory>();
};

ProvingKey make_key(const Guest& guest, const RunParams& params, Isa isa, const Parallel& pool) {
  auto key = make_proving_key(guest.program(), *params.preset, isa, pool);
  if (!key) throw JobError(Reason::kInput, key.error().message);
  return std::move(key).value();
}

EngineProver::EngineProver(const ProofRequest& request, DebugText debug, DeviceAccess devices)
    : request_(request),
      devices_(std::move(devices)),
      choice_(choose_backend(request.backend, request.residency, devices_.query)),
      guest_(request.elf, request.elf_name),
      debug_(std::move(debug)),
      pool_(request.threads),
      params_{&preset_of(request.protocol.security), request.protocol.epoch_size_log2},
      key_(make_key(guest_, params_, isa_, pool_)),
      stitch_(key_.vk.digest()) {}

RunFacts EngineProver::execute(const Checkpoint& checkpoint) {
  const bool is_one_epoch = !request_.protocol.continuations;
  const GuestRun run(guest_, request_.input, request_.cycle_limit, debug_);
  RunParams cut = params_;
  if (is_one_epoch) cut.epoch_size_log2 = kEpochSizeLog2Max;
  u64 area = 0;
  const RunFacts facts = run.to_exit(cut, [&](const ScoutEpoch& epoch) {
    area = epoch.area;
    checkpoint();
  });
  if (is_one_epoch) {
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
  }
  facts_ = facts;
  return facts;
}

void EngineProver::seal(u64 label) {
  if (stitch_.next_label() != label) return;  // accept_epoch refused, and prove_epoch follows
  if (!scout_) scout_.emplace(guest_.make_scout(request_.input, params_, {}));
  const auto epoch = scout_->run_epoch(1u << params_.epoch_size_log2);
  if (!epoch) throw JobError(Reason::kInternal, "the run changed: " + epoch.error().message());
  capsule_ = stitch_.seal(*epoch);
}

EpochProver& EngineProver::prover() {
  if (prover_) return *prover_;
  const auto make_cpu = [this] { return make_cpu_prover(key_, params_, isa_, pool_); };
  if (request_.backend == BackendPolicy::kCpu) {
    prover_ = make_cpu();
    return *prover_;
  }
  ResilientProver::Factory fallback;
  if (request_.backend == BackendPolicy::kCudaPreferred) fallback = make_cpu;
  prover_ = std::make_unique<ResilientProver>(
      [this] { return make_device_prover(); }, fallback,
      [this](const EpochProof& proof) { return is_proof_of_this_epoch(proof); });
  return *prover_;
}

std::unique_ptr<EpochProver> EngineProver::make_device_prover() const {
  if (!choice_.is_cuda) throw JobError(Reason::kGpu, choice_.fallback);
  auto made = devices_.make_prover(key_, params_, choice_.device);
  if (!made) throw JobError(Reason::kGpu, made.error().message);
  return std::move(made).value();
}

ProverUsage EngineProver::usage() const {
  if (prover_) return prover_->usage();
  ProverUsage usage;
  usage.backend = choice_.is_cuda ? "cuda" : "cpu";
  usage.fallback = choice_.fallback;
  return usage;
}

void EngineProver::replay_into_records(u64 label) {
  if (!replayer_) replayer_.emplace(guest_.code());
  if (const auto error = replayer_->run(capsule_, *records_)) {
    throw JobError(Reason::kInternal, "replay of epoch " + std::to_string(label) +
                                          " disagrees with the run: " + error->message);
  }
}

const EpochRecords& EngineProver::replay(u64 label) {
  std::pmr::memory_resource* const preferred = prover().record_memory();
  if (!records_) records_.emplace(preferred);
  try {
    replay_into_records(label);
  } catch (const JobError&) {
    throw;
  } catch (const std::exception& error) {
    if (preferred == std::pmr::get_default_resource()) throw;
    log::warn("no pinned memory for an epoch's records; uploads are slower without",
              {{"epoch", label}, {"why", error.what()}});
    records_.emplace();
    replayer_.reset();  // it stopped halfway
    replay_into_records(label);
  }
  return *records_;
}

Bytes EngineProver::prove_epoch(u64 label) {
  seal(label);
  const EpochRecords& records = replay(label);
  const EpochProof proof = prover().prove_epoch(records);
  memory_->absorb(static_cast<u32>(label), records.boundary);
  return encode_payload(proof, records.boundary);
}

bool EngineProver::accept_epoch(u64 label, std::span<const u8> bytes) {
  seal(label);
  const std::optional<EpochPayload> payload = decode_payload(bytes);
  if (!payload || !is_of_this_epoch(*payload) || !is_proof_of_this_epoch(payload->proof)) {
    return false;
  }
  memory_->absorb(static_cast<u32>(label), payload->boundary);
  return true;
}

bool EngineProver::is_of_this_epoch(const EpochPayload& payload) const {
  const auto is_same = [](const BoundaryRecord& row, const CapsuleKey& key) {
    return row.key == key.key && row.init == key.value && row.init_epoch == key.init_epoch;
  };
  return std::equal(payload.boundary.begin(), payload.boundary.end(), capsule_.keys.begin(),
                    capsule_.keys.end(), is_same);
}

bool EngineProver::is_proof_of_this_epoch(const EpochProof& proof) {
  WordReader reader{proof.record.data(), proof.record.size()};
  EpochStatement statement;
  prover::Digest boundary_root;
  const RunResult result = verify_epoch(key_.vk, params_, capsule_.label, capsule_.is_final, reader,
                                        *scratch_, statement, boundary_root);
  return result.ok() && reader.position == reader.count && statement.pc_in == capsule_.pc &&
         statement.cycles == capsule_.cycles && boundary_root == proof.boundary_root &&
         boundary_height(statement) == proof.boundary_log_height;
}

RunMemory::Ends EngineProver::finish_memory() {
  RunMemory::Ends ends = memory_->finish(key_.image);
  // What only the epochs needed makes room for the global proof.
  memory_.reset();
  scout_.reset();
  replayer_.reset();
  records_.reset();
  return ends;
}

void EngineProver::assemble(const EpochLoader& load, const ByteSink& bundle) {
  const u32 epochs = static_cast<u32>(facts_.value().epochs);
  const RunMemory::Ends ends = finish_memory();
  bundle(as_byte_span(bundle_header(key_.vk, params_, epochs, ends)));

  const auto load_payload = [&](u32 label) {
    std::optional<EpochPayload> payload = decode_payload(load(label));
    EPOCHD_ASSERT(payload.has_value());  // it was made, or accepted, by this prover
    return *std::move(payload);
  };
  std::vector<prover::Digest> roots;
  std::vector<u32> heights;
  for (u32 label = 1; label <= epochs; ++label) {
    const EpochPayload payload = load_payload(label);
    bundle(as_byte_span(payload.proof.record));
    roots.push_back(payload.proof.boundary_root);
    heights.push_back(payload.proof.boundary_log_height);
  }
  BoundaryStore store;
  store.epochs = epochs;
  store.rows = [&](u32 label) { return load_payload(label).boundary; };
  store.root = [&](u32 label) { return roots[label - 1]; };
  store.log_height = [&](u32 label) { return heights[label - 1]; };
  prover().prove_global(store, ends,
                        [&](std::span<const u64> words) { bundle(as_byte_span(words)); });
  release_free_memory();
}

void EngineProver::verify(const Path& bundle) {
  FileSystem fs;
  const BundleFile file(fs, bundle, Links::kRefuse);
  const Verdict verdict =
      verify_bundle(key_.vk, file, request_.protocol.security == SecurityPreset::kTest);
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
                                              DeviceAccess devices) {
  return std::make_unique<EngineProver>(request, std::move(debug), std::move(devices));
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
