// A pool that answers as a test wants: late, in any order, wrongly, or not at all. Its "proofs" are
// the epoch's label, and its global proof is 10, 11 .. 14, in records of two words and one.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <random>
#include <thread>

#include "daemon/pipeline/checked_pool.hpp"
#include "daemon/queue/io_error.hpp"

namespace epochd {

enum class Act { kGood, kFail, kFlip, kNoMemory };

inline const std::vector<u64> kGlobalWords = {10, 11, 12, 13, 14};

/// What the pools of a test share.
struct Script {
  /// Asked for every proof, label 0 for the global one. Threads: that of the pool.
  std::function<Act(u32 label)> act = [](u32) { return Act::kGood; };
  std::string backend = "cuda";
  u32 capacity = 3;
  u64 order_seed = 0;  ///< 0: in the order of submission
  u32 opened = 0;

  std::mutex mutex;
  std::condition_variable changed;
  bool is_stuck = false;  ///< nothing is answered until release()
  u32 submitted = 0;
  u32 begun = 0;

  void release() {
    const std::lock_guard lock(mutex);
    is_stuck = false;
    changed.notify_all();
  }
  void wait_for_begun(u32 count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return begun >= count; });
  }
};

/// One act a call; the last for all that follow.
inline std::function<Act(u32)> in_turn(std::vector<Act> acts) {
  return [acts = std::move(acts), at = size_t{0}](u32) mutable {
    return acts[std::min(at++, acts.size() - 1)];
  };
}

class ScriptedPool : public ProverPool {
 public:
  explicit ScriptedPool(Script& script)
      : script_(script), random_(script.order_seed), thread_([this] { run(); }) {
    ++script.opened;
  }
  ~ScriptedPool() override {
    {
      const std::lock_guard lock(script_.mutex);
      is_ending_ = true;
    }
    script_.changed.notify_all();
    thread_.join();
  }

  u32 capacity() const override { return script_.capacity; }
  void submit(std::shared_ptr<const Capsule> capsule, Done done) override {
    {
      const std::lock_guard lock(script_.mutex);
      waiting_.emplace_back(std::move(capsule), std::move(done));
      ++script_.submitted;
    }
    script_.changed.notify_all();
  }
  bool prove_global(const BoundaryStore& boundaries, const RunMemory::Ends&,
                    const std::function<void(std::span<const u64>)>& emit,
                    const std::function<bool()>& cancelled) override {
    const Act act = count_and_act(0);
    for (size_t at = 0; at < kGlobalWords.size(); at += 2) {
      if (cancelled()) return false;
      boundaries.rows(1);
      if (at == 2 && act == Act::kFail) throw std::runtime_error("cudaErrorOfTheTest");
      if (at == 2 && act == Act::kNoMemory) throw std::bad_alloc();
      emit(std::span(kGlobalWords).subspan(at, std::min<size_t>(2, kGlobalWords.size() - at)));
    }
    return true;
  }
  ProverUsage usage() const override {
    ProverUsage usage;
    usage.backend = script_.backend;
    usage.bytes_h2d = 7;
    const std::lock_guard lock(script_.mutex);
    usage.counters["lde"] = calls_;
    return usage;
  }

 private:
  using Task = std::pair<std::shared_ptr<const Capsule>, Done>;

  Act count_and_act(u32 label) {
    {
      const std::lock_guard lock(script_.mutex);
      ++calls_;
    }
    return script_.act(label);
  }

  void run() {
    for (;;) {
      std::unique_lock lock(script_.mutex);
      script_.changed.wait(lock, [&] { return is_ending_ || !waiting_.empty(); });
      if (is_ending_) return;
      const size_t at = script_.order_seed == 0 ? 0 : random_() % waiting_.size();
      Task task = std::move(waiting_[at]);
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(at));
      ++script_.begun;
      script_.changed.notify_all();
      script_.changed.wait(lock, [&] { return !script_.is_stuck; });
      lock.unlock();
      task.second(answer(*task.first));
    }
  }

  PoolAnswer answer(const Capsule& capsule) {
    PoolAnswer answer;
    const Act act = count_and_act(capsule.label);
    if (act == Act::kFail) answer.error = "cudaErrorOfTheTest";
    if (act == Act::kNoMemory) answer.error = "out of memory", answer.is_out_of_memory = true;
    if (act == Act::kGood || act == Act::kFlip) {
      answer.epoch.emplace();
      answer.epoch->proof.record = {1, capsule.label ^ (act == Act::kFlip ? 1u << 30 : 0u)};
      answer.epoch->boundary.resize(1);
      answer.epoch->boundary[0].fini_ts = capsule.label;
    }
    return answer;
  }

  Script& script_;
  std::mt19937_64 random_;
  std::deque<Task> waiting_;
  u64 calls_ = 0;
  bool is_ending_ = false;
  std::thread thread_;
};

inline PoolFactory scripted(Script& script) {
  return [&script](const PoolJob&) { return std::make_unique<ScriptedPool>(script); };
}

inline std::shared_ptr<const Capsule> capsule_of(u32 label, bool is_final = false) {
  auto capsule = std::make_shared<Capsule>();
  capsule->label = label;
  capsule->is_final = is_final;
  return capsule;
}

/// Accepts what a ScriptedPool means well.
inline bool is_scripted_proof(const Capsule& capsule, const EpochProof& proof,
                              std::span<const BoundaryRecord> boundary) {
  return proof.record == std::vector<u64>{1, capsule.label} && boundary.size() == 1;
}

}  // namespace epochd
