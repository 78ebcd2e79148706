#include "daemon/pipeline/local_pool.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "daemon/log/log.hpp"
#include "daemon/pipeline/stage_spans.hpp"
#include "epoch/exec/recycle_records.hpp"
#include "epoch/exec/replay.hpp"
#include "prover/core/assert.hpp"

namespace epochd {
namespace {

/// Replay threads allocate from a prover's memory at the same time.
class LockedMemory : public std::pmr::memory_resource {
 public:
  explicit LockedMemory(std::pmr::memory_resource* memory) : memory_(memory) {}

 private:
  void* do_allocate(size_t bytes, size_t alignment) override {
    const std::lock_guard lock(mutex_);
    return memory_->allocate(bytes, alignment);
  }
  void do_deallocate(void* p, size_t bytes, size_t alignment) override {
    const std::lock_guard lock(mutex_);
    memory_->deallocate(p, bytes, alignment);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  std::pmr::memory_resource* memory_;
  std::mutex mutex_;
};

/// What the exception being handled says, as an answer.
PoolAnswer failure() {
  PoolAnswer answer;
  try {
    throw;
  } catch (const std::bad_alloc&) {
    answer.error = "out of memory";
    answer.is_out_of_memory = true;
  } catch (const std::exception& error) {
    answer.error = error.what();
  }
  return answer;
}

}  // namespace

LocalPool::LocalPool(const PoolJob& job, Threads threads, MakeProver make)
    : job_(job), threads_(threads), make_(std::move(make)) {
  EPOCHD_ASSERT(threads_.replay > 0 && threads_.provers > 0);
  memories_.resize(threads_.provers);
  errands_.resize(threads_.provers);
  usages_.resize(threads_.provers);
  try {
    start();
  } catch (...) {
    end();
    throw;
  }
}

LocalPool::~LocalPool() {
  end();
}

void LocalPool::start() {
  for (u32 i = 0; i < threads_.provers; ++i) proving_.emplace_back([this, i] { run_prover(i); });
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return made_ == threads_.provers; });
    if (make_error_) std::rethrow_exception(make_error_);
  }
  make_slots();
  for (u32 i = 0; i < threads_.replay; ++i) replaying_.emplace_back([this, i] { run_replay(i); });
}

void LocalPool::end() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : replaying_) thread.join();
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return resting_ == proving_.size(); });
    // Records go before the provers whose memory they are in, and provers on their own threads.
    ready_.clear();
    free_.clear();
    are_slots_gone_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : proving_) thread.join();
}

void LocalPool::make_slots() {
  free_.clear();
  for (u32 i = 0; i < capacity(); ++i) {
    std::pmr::memory_resource* const memory = memories_[i % threads_.provers].get();
    auto slot = std::make_unique<Slot>();
    slot->records.emplace(memory != nullptr ? memory : std::pmr::get_default_resource());
    slot->is_pageable = memory == nullptr;
    free_.push_back(std::move(slot));
  }
}

void LocalPool::submit(std::shared_ptr<const Capsule> capsule, Done done) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({std::move(capsule), std::move(done)});
    ++unanswered_;
  }
  changed_.notify_all();
}

bool LocalPool::prove_global(const BoundaryStore& boundaries, const RunMemory::Ends& ends,
                             const std::function<void(std::span<const u64>)>& emit,
                             const std::function<bool()>& cancelled) {
  std::unique_lock lock(mutex_);
  EPOCHD_ASSERT(free_.size() == capacity());  // nothing is submitted
  make_slots();                               // what only the epochs needed makes room
  bool is_complete = false;
  run_on(0, lock, [&](EpochProver& prover) {
    is_complete = prover.prove_global(boundaries, ends, emit, cancelled);
  });
  return is_complete;
}

/// Has a prover's own thread do `work`, and waits for it. Errors: what it throws.
/// Pre: `lock` holds mutex_.
void LocalPool::run_on(u32 index, std::unique_lock<std::mutex>& lock,
                       const std::function<void(EpochProver&)>& work) {
  bool is_over = false;
  std::exception_ptr error;
  errands_[index] = [&](EpochProver& prover) {
    try {
      work(prover);
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard relock(mutex_);
    usages_[index] = prover.usage();
    is_over = true;
    changed_.notify_all();
  };
  changed_.notify_all();
  changed_.wait(lock, [&] { return is_over; });
  if (error) std::rethrow_exception(error);
}

void LocalPool::finish() {
  std::unique_lock lock(mutex_);
  is_finishing_ = true;
  unanswered_ -= waiting_.size();
  waiting_.clear();
  changed_.wait(lock, [&] {
    drop_ready();
    return unanswered_ == 0;
  });
  is_finishing_ = false;
}

/// Pre: mutex_ is held.
void LocalPool::drop_ready() {
  unanswered_ -= ready_.size();
  for (Ready& ready : ready_) free_.push_back(std::move(ready.slot));
  ready_.clear();
}

bool LocalPool::rekey(const PoolJob& job) {
  std::unique_lock lock(mutex_);
  EPOCHD_ASSERT(unanswered_ == 0);
  const bool is_same_key = job.key == job_.key;
  job_ = job;
  ++job_number_;
  if (!is_same_key) {
    // All let go before one takes: a device has room for one program.
    for (u32 i = 0; i < threads_.provers; ++i) {
      run_on(i, lock, [](EpochProver& prover) { prover.let_go(); });
    }
    for (u32 i = 0; i < threads_.provers; ++i) {
      bool is_taken = false;
      run_on(i, lock, [&](EpochProver& prover) { is_taken = prover.rekey(*job.key); });
      if (!is_taken) return false;
    }
  }
  earlier_ = usage_since_start();
  return true;
}

ProverUsage LocalPool::usage() const {
  const std::lock_guard lock(mutex_);
  return usage_after(usage_since_start(), earlier_);
}

/// Pre: mutex_ is held.
ProverUsage LocalPool::usage_since_start() const {
  ProverUsage sum;
  for (const ProverUsage& usage : usages_) add_usage(sum, usage);
  return sum;
}

std::unique_ptr<EpochProver> LocalPool::make_prover(u32 index) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<EpochProver> prover;
  try {
    if (!make_error_) prover = make_();
  } catch (...) {
    make_error_ = std::current_exception();
  }
  if (prover) {
    std::pmr::memory_resource* const memory = prover->record_memory();
    if (memory != std::pmr::get_default_resource()) {
      memories_[index] = std::make_unique<LockedMemory>(memory);
    }
    usages_[index] = prover->usage();
  }
  ++made_;
  changed_.notify_all();
  return prover;
}

void LocalPool::run_prover(u32 index) {
  const std::unique_ptr<EpochProver> prover = make_prover(index);
  if (prover) serve_prover(index, *prover);
  std::unique_lock lock(mutex_);
  ++resting_;
  changed_.notify_all();
  changed_.wait(lock, [&] { return are_slots_gone_; });
}

void LocalPool::serve_prover(u32 index, EpochProver& prover) {
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(
        lock, [&] { return is_ending_ || errands_[index] || (!ready_.empty() && !is_finishing_); });
    if (is_ending_) return;
    if (errands_[index]) {
      const auto work = std::exchange(errands_[index], nullptr);
      lock.unlock();
      work(prover);
      continue;
    }
    Ready ready = std::move(ready_.front());
    ready_.pop_front();
    lock.unlock();
    PoolAnswer answer = prove(index, prover, ready);
    give_back(std::move(ready.slot));
    ready.task.done(std::move(answer));
    answered();
  }
}

void LocalPool::answered() {
  {
    const std::lock_guard lock(mutex_);
    --unanswered_;
  }
  changed_.notify_all();
}

PoolAnswer LocalPool::prove(u32 index, EpochProver& prover, Ready& ready) {
  PoolAnswer answer;
  SpanRecorder recorder(index);
  try {
    ProvedEpoch epoch;
    {
      const Stage stage(&recorder, "prove");
      epoch.proof = prover.prove_epoch(*ready.slot->records, {{}, &recorder});
    }
    epoch.boundary = ready.slot->records->boundary;
    epoch.stages = std::move(ready.stages);
    for (StageSpan& span : recorder.take()) epoch.stages.push_back(std::move(span));
    answer.epoch = std::move(epoch);
  } catch (...) {
    answer = failure();
  }
  const ProverUsage usage = prover.usage();
  const std::lock_guard lock(mutex_);
  usages_[index] = usage;
  return answer;
}

void LocalPool::give_back(std::unique_ptr<Slot> slot) {
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(slot));
  }
  changed_.notify_all();
}

void LocalPool::run_replay(u32 index) {
  std::optional<Replayer> replayer;
  u64 job_number = 0;
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_ending_ || (!waiting_.empty() && !free_.empty()); });
    if (is_ending_) return;
    Task task = std::move(waiting_.front());
    waiting_.pop_front();
    std::unique_ptr<Slot> slot = std::move(free_.back());
    free_.pop_back();
    if (std::exchange(job_number, job_number_) != job_number_) replayer.reset();
    lock.unlock();
    replay(threads_.provers + index, replayer, std::move(task), std::move(slot));
  }
}

void LocalPool::replay(u32 lane, std::optional<Replayer>& replayer, Task task,
                       std::unique_ptr<Slot> slot) {
  SpanRecorder recorder(lane);
  try {
    const Stage stage(&recorder, "replay");
    replay_into(replayer, *task.capsule, *slot);
  } catch (...) {
    PoolAnswer answer = failure();
    replayer.reset();  // it may have stopped halfway
    give_back(std::move(slot));
    task.done(std::move(answer));
    answered();
    return;
  }
  Ready ready{std::move(task), std::move(slot), recorder.take()};
  {
    const std::lock_guard lock(mutex_);
    ready_.push_back(std::move(ready));
  }
  changed_.notify_all();
}

void LocalPool::replay_into(std::optional<Replayer>& replayer, const Capsule& capsule, Slot& slot) {
  const auto run = [&] {
    recycle(*slot.records);
    if (!replayer) replayer.emplace(*job_.code);
    return replayer->run(capsule, *slot.records);
  };
  std::optional<ReplayError> error;
  try {
    error = run();
  } catch (const std::exception& why) {
    if (slot.is_pageable) throw;
    log::warn("no pinned memory for an epoch's records; uploads are slower without",
              {{"epoch", capsule.label}, {"why", why.what()}});
    slot.records.emplace();
    slot.is_pageable = true;
    replayer.reset();  // it stopped halfway
    error = run();
  }
  if (error) {
    throw std::runtime_error("replay of epoch " + std::to_string(capsule.label) +
                             " disagrees with the run: " + error->message);
  }
}

}  // namespace epochd
