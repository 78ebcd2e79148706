#include "daemon/pipeline/resume_point.hpp"

#include <cstring>

#include "daemon/log/log.hpp"
#include "daemon/queue/reason.hpp"

namespace epochd {
namespace {

/// Errors: IoError; what is wrong with the checkpoint.
Result<ResumePoint, SnapshotError> read_point(const CutRun& run, const SnapshotReading& how,
                                              const prover::Digest& program, ResumeStore& store,
                                              u64 label) {
  Stitch stitch(program);
  const std::unique_ptr<CheckpointSource> source = store.open_checkpoint(label);
  auto for_survey = store.open_checkpoint(label), for_memory = store.open_checkpoint(label);
  const SnapshotVisit visit{
      [&](const SnapshotCells& cells) { stitch.restore_labels(cells.first_key, cells.labels); },
      [&](u32 first_key, u32 count) { stitch.expect_labels(first_key, count); }};
  auto at = resume_scout(run, how, store.key(), {}, *source, visit);
  if (!at) return Unexpected{at.error()};
  if (at->snapshot.label != label) {
    return Unexpected{
        SnapshotError{SnapshotError::Code::kForeign, "the snapshot is of another epoch"}};
  }
  stitch.resume(at->snapshot.label + 1);
  return ResumePoint{*std::move(at), std::move(stitch), std::move(for_survey),
                     std::move(for_memory)};
}

}  // namespace

prover::Digest snapshot_owner(const JobKey& key) {
  prover::Digest owner;
  static_assert(sizeof(owner) == std::tuple_size_v<JobKey>);
  std::memcpy(&owner, key.data(), key.size());
  return owner;
}

Result<ResumedScout, SnapshotError> resume_scout(const CutRun& run, const SnapshotReading& how,
                                                 const JobKey& key, const DebugText& debug,
                                                 CheckpointSource& source,
                                                 const SnapshotVisit& visit) {
  Scout scout = run.guest.make_scout(run.input, run.params, debug);
  auto snapshot = read_snapshot(
      how, snapshot_owner(key), [&](std::span<u8> bytes) { return source.read(bytes); }, scout,
      visit);
  if (!snapshot) return Unexpected{snapshot.error()};
  return ResumedScout{*std::move(snapshot), std::move(scout)};
}

std::optional<ResumePoint> find_resume_point(const CutRun& run, const SnapshotReading& how,
                                             const prover::Digest& program, ResumeStore& store) {
  std::exception_ptr stopped;
  SnapshotReading watched = how;
  watched.check = [&] {
    try {
      how.check();
    } catch (...) {
      stopped = std::current_exception();
      throw;
    }
  };
  for (const u64 label : store.checkpoints()) {
    std::string why;
    try {
      auto point = read_point(run, watched, program, store, label);
      if (point) return *std::move(point);
      why = point.error().message;
    } catch (const IoError& error) {
      if (stopped) throw;  // that was not about the checkpoint
      why = error.what();
    }
    log::warn("a checkpoint cannot be used; an earlier one is, or the start of the program",
              {{"epoch", label}, {"why", why}});
    store.remove_checkpoint(label);
  }
  return std::nullopt;
}

std::unique_ptr<RunMemory> resume_memory(const CutRun& run, const SnapshotReading& how,
                                         const JobKey& key, CheckpointSource& source) {
  auto memory = std::make_unique<RunMemory>();
  const Scout at_start = run.guest.make_scout(run.input, run.params, {});
  const SnapshotVisit visit{[&](const SnapshotCells& cells) {
                              memory->restore(cells.first_key, cells.labels, cells.genesis,
                                              cells.values);
                            },
                            [&](u32 first_key, u32 count) { memory->expect(first_key, count); }};
  const auto read = [&](std::span<u8> bytes) { return source.read(bytes); };
  const auto at = visit_snapshot(how, snapshot_owner(key), read, at_start, visit);
  if (!at) {
    throw JobError(Reason::kIo, "a checkpoint was read once and not again (" + at.error().message +
                                    "); check the disk");
  }
  return memory;
}

std::optional<KeptFacts> load_facts(ResumeStore& store) {
  const std::optional<Bytes> bytes = store.load_facts();
  return bytes ? decode_facts(*bytes) : std::nullopt;
}

void keep_facts(ResumeStore& store, const KeptFacts& facts) {
  try {
    store.save_facts(encode_facts(facts));
  } catch (const IoError& error) {
    log::warn("what is known of the run could not be kept", {{"why", error.what()}});
  }
}

}  // namespace epochd
