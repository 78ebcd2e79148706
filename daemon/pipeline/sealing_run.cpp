#include "daemon/pipeline/sealing_run.hpp"

#include <algorithm>

#include "daemon/log/log.hpp"

namespace epochd {
namespace {

using Seconds = std::chrono::duration<double>;

/// After a disk refused a checkpoint.
constexpr Seconds kFailurePause(60);

}  // namespace

void SealingRun::resume(ResumedScout at, Stitch stitch) {
  EPOCHD_ASSERT(!scout_);
  scout_.emplace(std::move(at.scout));
  stitch_ = std::move(stitch);
  outputs_ = std::move(at.snapshot.outputs);
  kept_cycles_ = at.snapshot.cycles;
}

void SealingRun::keep_checkpoints(ResumeStore& store, const CheckpointPace& pace) {
  store_ = &store;
  pace_ = pace;
  not_before_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(Seconds(pace.seconds));
}

std::optional<Capsule> SealingRun::next() {
  // Before the epoch rather than after it: the one just sealed is not kept waiting.
  if (is_checkpoint_due()) write_checkpoint();
  const u64 label = stitch_.next_label();
  std::optional<ScoutEpoch> epoch = run_epoch(label);
  if (!epoch) return std::nullopt;
  if (store_ != nullptr) {
    outputs_.insert(outputs_.end(), epoch->outputs.begin(), epoch->outputs.end());
  }
  const LoggedStage stage(log_, "scout", "seal", label);
  return stitch_.seal(*epoch);
}

std::optional<ScoutEpoch> SealingRun::run_epoch(u64 label) {
  const LoggedStage stage(log_, "scout", "scout", label);
  if (!scout_) scout_.emplace(run_.guest.make_scout(run_.input, run_.params, {}));
  auto epoch = scout_->run_epoch(1u << run_.params.epoch_size_log2);
  if (!epoch) return std::nullopt;
  return *std::move(epoch);
}

bool SealingRun::is_checkpoint_due() const {
  return store_ != nullptr && scout_ && scout_->cycles() - kept_cycles_ >= pace_.cycles &&
         Clock::now() >= not_before_;
}

void SealingRun::write_checkpoint() {
  const u64 label = stitch_.next_label() - 1;
  const Clock::time_point start = Clock::now();
  Seconds pause = kFailurePause;
  try {
    const std::unique_ptr<CheckpointSink> sink = store_->write_checkpoint(label);
    if (!sink) return;  // asked again before the next epoch
    const LoggedStage stage(log_, "scout", "checkpoint", label);
    write_snapshot(isa_, snapshot_owner(store_->key()), *scout_, stitch_, outputs_,
                   [&](std::span<const u8> bytes) { sink->append(bytes); });
    sink->finish();
    kept_cycles_ = scout_->cycles();
    pause = std::max(Seconds(pace_.seconds), pace_.per_write * Seconds(Clock::now() - start));
  } catch (const IoError& error) {
    log::warn("a checkpoint could not be written; the job goes on without",
              {{"epoch", label}, {"why", error.what()}});
  }
  not_before_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(pause);
}

}  // namespace epochd
