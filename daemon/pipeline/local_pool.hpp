// A pool of threads of this process: some replay capsules into records, the others prove records.
// The records of an epoch are large, so a fixed number of them goes round.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "daemon/pipeline/prover_pool.hpp"
#include "epoch/continuation/epoch_prover.hpp"

namespace epochd {

class Replayer;

class LocalPool : public ProverPool {
 public:
  using MakeProver = std::function<std::unique_ptr<EpochProver>()>;
  struct Threads {
    u32 replay = 1;   ///< at least 1
    u32 provers = 1;  ///< epochs in flight, a prover each; at least 1
  };

  /// `make` is called once on each proving thread, one after the other: a CUDA prover belongs to
  /// the thread that made it, and is destroyed there. Errors: what `make` throws.
  LocalPool(const PoolJob& job, Threads threads, MakeProver make);
  ~LocalPool() override;

  u32 capacity() const override { return threads_.replay + threads_.provers; }
  void submit(std::shared_ptr<const Capsule> capsule, Done done) override;
  /// The callbacks are called on a proving thread, while the caller waits.
  bool prove_global(const BoundaryStore& boundaries, const RunMemory::Ends& ends,
                    const std::function<void(std::span<const u64>)>& emit,
                    const std::function<bool()>& cancelled) override;
  /// Of the job that it is open for.
  ProverUsage usage() const override;

  /// Ends the job: what is not begun is dropped, without an answer; what is being proved is waited
  /// for. Threads: one that opens, submits and ends jobs.
  void finish();
  /// Opens another job, of the same parameters and residency, with the provers there are.
  /// False: one of them does not take the key, and this pool is of no more use.
  /// Pre: nothing is submitted. Errors: what a prover throws; then likewise.
  [[nodiscard]] bool rekey(const PoolJob& job);

 private:
  struct Task {
    std::shared_ptr<const Capsule> capsule;
    Done done;
  };
  /// Records of one epoch, used again and again.
  struct Slot {
    std::optional<EpochRecords> records;
    bool is_pageable = false;  ///< in the heap, whatever the prover prefers
  };
  struct Ready {
    Task task;
    std::unique_ptr<Slot> slot;
    std::vector<StageSpan> stages;
  };

  void start();
  void end();
  void make_slots();
  std::unique_ptr<EpochProver> make_prover(u32 index);
  void run_prover(u32 index);
  void serve_prover(u32 index, EpochProver& prover);
  void run_on(u32 index, std::unique_lock<std::mutex>& lock,
              const std::function<void(EpochProver&)>& work);
  PoolAnswer prove(u32 index, EpochProver& prover, Ready& ready);
  void run_replay(u32 index);
  void replay(u32 lane, std::optional<Replayer>& replayer, Task task, std::unique_ptr<Slot> slot);
  void replay_into(std::optional<Replayer>& replayer, const Capsule& capsule, Slot& slot);
  void give_back(std::unique_ptr<Slot> slot);
  void drop_ready();
  void answered();
  ProverUsage usage_since_start() const;

  PoolJob job_;
  Threads threads_;
  MakeProver make_;
  /// One a prover, over its record memory, which need not be safe for several threads; null where
  /// that is the heap.
  std::vector<std::unique_ptr<std::pmr::memory_resource>> memories_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  u32 made_ = 0;                   ///< provers, or failures to make one
  std::exception_ptr make_error_;  ///< the first of them
  std::deque<Task> waiting_;
  std::vector<std::unique_ptr<Slot>> free_;
  std::deque<Ready> ready_;
  /// By prover: what its thread is to do beside epochs.
  std::vector<std::function<void(EpochProver&)>> errands_;
  std::vector<ProverUsage> usages_;  ///< by prover, since it was made
  ProverUsage earlier_;              ///< of the jobs before this
  u64 unanswered_ = 0;               ///< capsules submitted
  u64 job_number_ = 0;
  u32 resting_ = 0;  ///< provers that have left their loop
  bool is_finishing_ = false;
  bool is_ending_ = false;
  bool are_slots_gone_ = false;
  std::vector<std::thread> proving_;
  std::vector<std::thread> replaying_;
};

}  // namespace epochd
