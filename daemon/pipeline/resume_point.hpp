// Where a run goes on: its state at the newest checkpoint that can be used, and what is known of
// its end.
#pragma once

#include <memory>
#include <optional>

#include "daemon/pipeline/guest.hpp"
#include "daemon/pipeline/resume_store.hpp"
#include "daemon/pipeline/run_facts.hpp"
#include "epoch/capsule/snapshot.hpp"
#include "epoch/continuation/run_memory.hpp"

namespace epochd {

/// A run of a guest, and how it is cut.
struct CutRun {
  const Guest& guest;
  std::span<const u8> input;
  RunParams params;
};

/// The job's key as snapshots name their owner.
prover::Digest snapshot_owner(const JobKey& key);

/// The scout where the run stood.
struct ResumedScout {
  Snapshot snapshot;
  Scout scout;
};
/// Reads a checkpoint; `visit` as read_snapshot calls it; `debug` takes the guest's text from there
/// on. Errors: IoError, as make_scout(), and what how.check throws.
Result<ResumedScout, SnapshotError> resume_scout(const CutRun& run, const SnapshotReading& how,
                                                 const JobKey& key, const DebugText& debug,
                                                 CheckpointSource& source,
                                                 const SnapshotVisit& visit);

/// All that it takes to seal the next epoch, and the checkpoint twice more: for what is needed
/// later, or by another thread.
struct ResumePoint {
  ResumedScout at;
  Stitch stitch;
  std::unique_ptr<CheckpointSource> for_survey;
  std::unique_ptr<CheckpointSource> for_memory;
};

/// The newest checkpoint that can be used; nothing without one. What cannot be used is removed, and
/// the log says why. `program` is the stitch's. Errors: as make_scout(), and what how.check throws,
/// which removes none.
std::optional<ResumePoint> find_resume_point(const CutRun& run, const SnapshotReading& how,
                                             const prover::Digest& program, ResumeStore& store);

/// The memory of the run up to a checkpoint that was read before. Errors: JobError(kIo), IoError,
/// what how.check throws.
std::unique_ptr<RunMemory> resume_memory(const CutRun& run, const SnapshotReading& how,
                                         const JobKey& key, CheckpointSource& source);

/// What an earlier attempt kept, if it did and it can be read.
std::optional<KeptFacts> load_facts(ResumeStore& store);
/// For a later attempt. What cannot be kept, the log says.
void keep_facts(ResumeStore& store, const KeptFacts& facts);

}  // namespace epochd
