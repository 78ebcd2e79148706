// The run that seals one capsule after the other, and keeps its state now and then for a later
// attempt.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "daemon/pipeline/resume_point.hpp"
#include "daemon/pipeline/stage_log.hpp"

namespace epochd {

class SealingRun {
 public:
  /// From the start. `log` outlives this.
  SealingRun(const CutRun& run, Isa isa, const prover::Digest& program, StageLog& log)
      : run_(run), isa_(isa), stitch_(program), log_(log) {}

  /// Goes on from there instead. Pre: nothing was sealed.
  void resume(ResumedScout at, Stitch stitch);
  /// Keeps checkpoints from now on. The store outlives this.
  void keep_checkpoints(ResumeStore& store, const CheckpointPace& pace);

  /// The next epoch, sealed. Nothing when the program faults. A checkpoint that cannot be written
  /// is no failure; the log says so. Errors: JobError, std::system_error without address space.
  std::optional<Capsule> next();

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<ScoutEpoch> run_epoch(u64 label);
  bool is_checkpoint_due() const;
  void write_checkpoint();

  CutRun run_;
  Isa isa_;
  std::optional<Scout> scout_;
  Stitch stitch_;
  std::vector<u64> outputs_;  ///< emitted so far; kept only for checkpoints
  StageLog& log_;
  ResumeStore* store_ = nullptr;
  CheckpointPace pace_;
  u64 kept_cycles_ = 0;           ///< where the last checkpoint stands
  Clock::time_point not_before_;  ///< for the next one
};

}  // namespace epochd
