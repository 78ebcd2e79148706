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
/// Reads a checkpoint; `visit` as read_snapshot calls it; `debug` takes the
/// guest's text from there on. Errors: IoError, and as make_scout().
Result<ResumedScout, SnapshotError> resume_scout(
    const CutRun& run, const JobKey& key, const DebugText& debug, CheckpointSource& source,
    const std::function<void(const SnapshotPage&)>& visit);

/// All that a run has behind it between two epochs.
struct ResumePoint {
  ResumedScout at;
  Stitch stitch;
  std::unique_ptr<RunMemory> memory;
  std::unique_ptr<CheckpointSource> again;  ///< the checkpoint once more, for the survey
};

/// The newest checkpoint that can be used; nothing without one. What cannot be used is removed, and
/// the log says why. `program` is the stitch's. Errors: as make_scout().
std::optional<ResumePoint> find_resume_point(const CutRun& run, const prover::Digest& program,
                                             ResumeStore& store);

/// What an earlier attempt kept, if it did and it can be read.
std::optional<KeptFacts> load_facts(ResumeStore& store);
/// For a later attempt. What cannot be kept, the log says.
void keep_facts(ResumeStore& store, const KeptFacts& facts);

}  // namespace epochd
