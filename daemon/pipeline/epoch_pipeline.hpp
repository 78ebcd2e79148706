// The epochs of one run, all stages at once: while a pool proves some, the scout seals the next,
// earlier ones are verified, and those before are saved in order. At most a fixed number of epochs
// is between the scout and the store, so memory does not depend on how many there are.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>

#include "daemon/pipeline/checked_pool.hpp"
#include "daemon/pipeline/job_prover.hpp"
#include "daemon/pipeline/survey.hpp"

namespace epochd {

/// A program's run, twice: ahead to the exit, and epoch by epoch.
struct EpochRun {
  Survey::Run survey;
  u64 first = 1;  ///< label of the first epoch of `next`; those before are stored
  /// The next epoch, sealed; labels first, first + 1 ... up to the final one. Nothing when the run
  /// ends in a fault, which the survey reports. Errors: JobError.
  std::function<std::optional<Capsule>()> next;
};

class EpochPipeline {
 public:
  /// In the order of labels, on the calling thread, before the epoch is saved.
  using Absorb = std::function<void(u32 label, std::span<const BoundaryRecord>)>;

  /// `pool`, `exchange`, `log` and `turn` outlive this. `depth`: epochs between the scout and the
  /// store besides those that keep the pool busy. `turn`: says when the pool may be open; null:
  /// always, and it is.
  EpochPipeline(CheckedPool& pool, EpochExchange& exchange, StageLog& log, u32 depth,
                ProvingTurn* turn = nullptr);
  ~EpochPipeline();
  EpochPipeline(const EpochPipeline&) = delete;
  EpochPipeline& operator=(const EpochPipeline&) = delete;

  /// Proves every epoch that is not stored and saves all. Once. When exchange.check() throws, what
  /// was being proved is saved first, and the pool has ended. Otherwise the pool stays open, if it
  /// was needed, and the turn with it. Errors: what the survey, the run,
  /// the pool or the exchange throws; JobError(kInternal) when the two runs differ.
  RunFacts run(const EpochRun& run, const Absorb& absorb);

  /// The most epochs that were between the scout and the store.
  u64 outstanding_max() const { return outstanding_max_; }

 private:
  void scout(const EpochRun& run);
  void scout_all(const EpochRun& run);
  bool wait_for_room();
  void finish(u64 label, CheckedAnswer answer);
  RunFacts coordinate(const Survey& survey, const Absorb& absorb);
  /// The epoch whose turn it is, if it comes before there is something else to do.
  std::optional<CheckedEpoch> wait(const Survey& survey);
  /// Nothing is under way, nor will be. Pre: mutex_ is held.
  bool is_idle() const { return has_scout_ended_ && outstanding_ == 0; }
  void report(const Survey& survey);
  void mind_turn();
  u64 limit() const { return u64{pool_.capacity()} + depth_; }
  void check();
  void save(u64 label, const CheckedEpoch& epoch);
  void stop();
  void salvage();

  CheckedPool& pool_;
  EpochExchange& exchange_;
  StageLog& log_;
  u32 depth_;
  ProvingTurn* turn_;
  bool is_surveyed_ = false;  ///< and the exchange knows
  bool is_stopped_by_check_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<u64, CheckedEpoch> finished_;  ///< those whose turn to be saved has not come
  u64 next_ = 1;                          ///< whose turn it is
  u64 outstanding_ = 0;
  u64 outstanding_max_ = 0;
  std::optional<u64> last_label_;  ///< once the scout has sealed it
  bool has_scout_ended_ = false;
  std::exception_ptr error_;  ///< the first of the scout's and the pool's
  bool is_stopping_ = false;
  bool is_our_turn_ = false;  ///< it came, and was not looked at yet
};

}  // namespace epochd
