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
  ProverUsage usage() const override;

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
  PoolAnswer prove(u32 index, EpochProver& prover, Ready& ready);
  void run_replay(u32 index);
  void replay(u32 lane, std::optional<Replayer>& replayer, Task task, std::unique_ptr<Slot> slot);
  void replay_into(std::optional<Replayer>& replayer, const Capsule& capsule, Slot& slot);
  void give_back(std::unique_ptr<Slot> slot);

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
  std::function<void(EpochProver&)> global_;  ///< for the first prover
  std::vector<ProverUsage> usages_;           ///< by prover
  u32 resting_ = 0;                           ///< provers that have left their loop
  bool is_ending_ = false;
  bool are_slots_gone_ = false;
  std::vector<std::thread> proving_;
  std::vector<std::thread> replaying_;
};

}  // namespace epochd
