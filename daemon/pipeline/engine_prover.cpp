#include "daemon/pipeline/engine_prover.hpp"

#include <algorithm>
#include <optional>

#include "daemon/host/host_info.hpp"
#include "daemon/pipeline/bundle_file.hpp"
#include "daemon/pipeline/epoch_payload.hpp"
#include "daemon/pipeline/guest.hpp"
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
  EngineProver(const ProofRequest& request, DebugText debug);

  RunFacts execute(const Checkpoint& checkpoint) override;
  Bytes prove_epoch(u64 label) override;
  bool accept_epoch(u64 label, std::span<const u8> bytes) override;
  void assemble(const EpochLoader& load, const ByteSink& bundle) override;
  void verify(const Path& bundle) override;

 private:
  void seal(u64 label);
  bool is_of_this_epoch(const EpochPayload& payload) const;
  bool is_proof_of_this_epoch(const EpochProof& proof);
  RunMemory::Ends finish_memory();

  const ProofRequest& request_;
  Guest guest_;
  DebugText debug_;
  Isa isa_ = best_isa();
  Parallel pool_;
  prover::CpuBackend backend_;
  RunParams params_;
  ProvingKey key_;
  std::optional<RunFacts> facts_;

  // The second run, which seals one capsule after the other.
  std::optional<Scout> scout_;
  Stitch stitch_;
  std::optional<Replayer> replayer_;
  Capsule capsule_;
  std::unique_ptr<RunScratch> scratch_ = std::make_unique<RunScratch>();
  std::unique_ptr<RunMemory> memory_ = std::make_unique<RunMemory>();
};

ProvingKey make_key(const Guest& guest, const RunParams& params, Isa isa, const Parallel& pool) {
  auto key = make_proving_key(guest.program(), *params.preset, isa, pool);
  if (!key) throw JobError(Reason::kInput, key.error().message);
  return std::move(key).value();
}

EngineProver::EngineProver(const ProofRequest& request, DebugText debug)
    : request_(request),
      guest_(request.elf, request.elf_name),
      debug_(std::move(debug)),
      pool_(request.threads),
      backend_(isa_, pool_),
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

Bytes EngineProver::prove_epoch(u64 label) {
  seal(label);
  if (!replayer_) replayer_.emplace(guest_.code());
  EpochRecords records;
  if (const auto error = replayer_->run(capsule_, records)) {
    throw JobError(Reason::kInternal, "replay of epoch " + std::to_string(label) +
                                          " disagrees with the run: " + error->message);
  }
  const EpochProof proof = epochd::prove_epoch(backend_, key_, params_, records);
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
  GlobalProver<prover::CpuBackend> global(backend_, key_, params_, store, ends);
  global.prove([&](std::span<const u64> words) { bundle(as_byte_span(words)); });
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

std::unique_ptr<JobProver> make_engine_prover(const ProofRequest& request, DebugText debug) {
  return std::make_unique<EngineProver>(request, std::move(debug));
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
