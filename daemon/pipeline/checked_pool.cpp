#include "daemon/pipeline/checked_pool.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "daemon/log/log.hpp"
#include "daemon/pipeline/epoch_payload.hpp"
#include "daemon/queue/reason.hpp"

namespace epochd {
namespace {

constexpr u32 kPrimaryAttempts = 2;
constexpr const char* kGlobalProof = "the global proof";

[[noreturn]] void throw_fallback_failed(const std::string& what, const std::string& why) {
  throw JobError(Reason::kInternal, "the CPU failed in the device's place at " + what + ": " + why);
}

std::string name_of_epoch(const Capsule& capsule) {
  return "epoch " + std::to_string(capsule.label);
}

/// Calls through, and keeps what the callee throws: that is not the pool's failure, whatever the
/// pool makes of it on the way out.
class Outside {
 public:
  template <class Call>
  auto operator()(const Call& call) {
    try {
      return call();
    } catch (...) {
      if (!error_) error_ = std::current_exception();
      throw;
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::exception_ptr error_;
};

}  // namespace

CheckedPool::CheckedPool(const PoolJob& job, ProvingPlaces places, const MakeVerify& make_verify,
                         u32 verify_threads, StageLog& log, Start start)
    : job_(job),
      places_(std::move(places)),
      log_(log),
      verify_threads_(verify_threads),
      capacity_(verify_threads) {
  if (start == Start::kOpen) open();
  try {
    for (u32 i = 0; i < verify_threads; ++i) {
      verifiers_.emplace_back([this, i, make_verify, context = log::context()] {
        log::join(context);
        run_verifier(i, make_verify);
      });
    }
  } catch (...) {
    end();
    throw;
  }
}

CheckedPool::~CheckedPool() {
  end();
}

void CheckedPool::open_primary() {
  try {
    std::unique_ptr<ProverPool> pool = places_.primary(job_);
    const std::lock_guard lock(pools_mutex_);
    primary_ = std::move(pool);
    had_primary_ = true;
  } catch (const std::exception& error) {
    if (!places_.is_device) throw;
    if (!places_.fallback) throw JobError(Reason::kGpu, error.what());
    log::warn("no CUDA device proves this job; the CPU does", {{"why", error.what()}});
    std::unique_ptr<ProverPool> pool = places_.fallback(job_);
    const std::lock_guard lock(pools_mutex_);
    why_ = error.what();
    fallback_ = std::move(pool);
  }
}

void CheckedPool::open() {
  if (is_open()) return;
  open_primary();
  capacity_ = (primary_ ? primary_ : fallback_)->capacity() + verify_threads_;
  std::deque<Task> kept;
  {
    const std::lock_guard lock(pools_mutex_);
    is_open_ = true;
    kept.swap(kept_);
  }
  for (Task& task : kept) start(std::move(task));
}

void CheckedPool::close() {
  close_pools();
  std::map<u64, Task> not_begun;
  {
    const std::lock_guard lock(given_mutex_);
    not_begun.swap(given_);
  }
  const std::lock_guard lock(pools_mutex_);
  for (auto& [ticket, task] : not_begun) {
    if (!std::exchange(task.is_on_fallback, false)) --task.attempts;
    kept_.push_back(std::move(task));
  }
  std::sort(kept_.begin(), kept_.end(),
            [](const Task& a, const Task& b) { return a.capsule->label < b.capsule->label; });
}

bool CheckedPool::is_open() const {
  const std::lock_guard lock(pools_mutex_);
  return is_open_;
}

bool CheckedPool::is_wanting() const {
  const std::lock_guard lock(pools_mutex_);
  return !is_open_ && !kept_.empty();
}

/// Each waits for what it is proving, and answers it.
void CheckedPool::close_pools() {
  std::unique_ptr<ProverPool> primary, fallback;
  {
    const std::lock_guard lock(pools_mutex_);
    is_open_ = false;
    if (primary_) add_usage(ended_usage_, primary_->usage());
    if (fallback_) fallback_backend_ = fallback_->usage().backend;
    primary.swap(primary_);
    fallback.swap(fallback_);
  }
  primary.reset();
  fallback.reset();
}

void CheckedPool::end() {
  {
    const std::lock_guard lock(pools_mutex_);
    is_ending_ = true;
  }
  close_pools();
  {
    const std::lock_guard lock(queue_mutex_);
    is_queue_closed_ = true;
  }
  queue_changed_.notify_all();
  for (std::thread& verifier : verifiers_) verifier.join();
  verifiers_.clear();
}

void CheckedPool::submit(std::shared_ptr<const Capsule> capsule, std::optional<Bytes> stored,
                         Done done) {
  Task task{std::move(capsule), std::move(done)};
  if (stored) {
    push({std::move(task), std::move(stored), {}});
  } else {
    start(std::move(task));
  }
}

ProverPool& CheckedPool::fall_back(const std::string& what) {
  if (!places_.fallback) {
    std::string message = primary_name() + " failed twice at " + what + ": " + why_;
    if (places_.is_device) {
      message +=
          "; look at the driver's log, or allow the CPU with the backend cuda-preferred "
          "(--backend auto)";
    }
    throw JobError(places_.is_device ? Reason::kGpu : Reason::kInternal, message);
  }
  if (had_primary_) log::error("the CPU proves what the device could not", {{"what", what}});
  if (!fallback_) fallback_ = places_.fallback(job_);
  return *fallback_;
}

void CheckedPool::start(Task task) {
  const std::shared_ptr<const Capsule> capsule = task.capsule;
  const Done done = task.done;
  std::exception_ptr error;
  try {
    const std::lock_guard lock(pools_mutex_);
    if (is_ending_) return;
    if (!is_open_) {
      kept_.push_back(std::move(task));
      return;
    }
    ProverPool* pool = primary_.get();
    task.is_on_fallback = pool == nullptr || task.attempts == kPrimaryAttempts;
    if (task.is_on_fallback) {
      pool = &fall_back(name_of_epoch(*capsule));
    } else {
      ++task.attempts;
    }
    give(*pool, std::move(task));
  } catch (...) {
    error = std::current_exception();
  }
  // Handed over whole: whoever gets it is the last to hold it.
  if (error) done({std::nullopt, std::move(error)});
}

/// Pre: pools_mutex_ is held.
void CheckedPool::give(ProverPool& pool, Task task) {
  const std::shared_ptr<const Capsule> capsule = task.capsule;
  u64 ticket = 0;
  {
    const std::lock_guard lock(given_mutex_);
    ticket = next_ticket_++;
    given_.emplace(ticket, std::move(task));
  }
  try {
    pool.submit(capsule, [this, ticket](PoolAnswer answer) {
      push({take_back(ticket), std::nullopt, std::move(answer)});
    });
  } catch (...) {
    take_back(ticket);
    throw;
  }
}

CheckedPool::Task CheckedPool::take_back(u64 ticket) {
  const std::lock_guard lock(given_mutex_);
  auto node = given_.extract(ticket);
  return std::move(node.mapped());
}

void CheckedPool::push(Item item) {
  {
    const std::lock_guard lock(queue_mutex_);
    queue_.push_back(std::move(item));
  }
  queue_changed_.notify_one();
}

void CheckedPool::run_verifier(u32 index, const MakeVerify& make_verify) {
  const std::string row = "verify " + std::to_string(index);
  Verify verify;
  for (;;) {
    std::unique_lock lock(queue_mutex_);
    queue_changed_.wait(lock, [&] { return is_queue_closed_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Item item = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    std::exception_ptr error;
    try {
      if (!verify) verify = make_verify();
      if (item.stored) {
        check_stored(item, verify, row);
      } else {
        check_answer(item, verify, row);
      }
    } catch (...) {
      error = std::current_exception();
    }
    if (error) item.task.done({std::nullopt, std::move(error)});
  }
}

bool CheckedPool::is_good(const Task& task, const EpochProof& proof,
                          std::span<const BoundaryRecord> boundary, const Verify& verify,
                          const std::string& row) {
  const LoggedStage stage(log_, row, "verify", task.capsule->label);
  return verify(*task.capsule, proof, boundary);
}

void CheckedPool::check_stored(Item& item, const Verify& verify, const std::string& row) {
  std::optional<EpochPayload> payload = decode_payload(*item.stored);
  if (payload && is_good(item.task, payload->proof, payload->boundary, verify, row)) {
    CheckedEpoch epoch{*std::move(item.stored), std::move(payload->boundary), true};
    item.task.done({std::move(epoch), nullptr});
    return;
  }
  log::warn("stored epoch does not belong to this run; the epoch is proved again",
            {{"epoch", item.task.capsule->label}});
  start(std::move(item.task));
}

/// What is answered was tried; what is only given may be kept, and be another's the next time.
void CheckedPool::count_attempt(const Task& task) {
  const std::lock_guard lock(pools_mutex_);
  if (task.is_on_fallback) {
    ++fallbacks_;
  } else if (task.attempts > 1) {
    ++retries_;
  }
}

void CheckedPool::check_answer(Item& item, const Verify& verify, const std::string& row) {
  count_attempt(item.task);
  if (item.answer.is_out_of_memory) throw std::bad_alloc();
  std::string why = item.answer.error;
  if (item.answer.epoch) {
    ProvedEpoch& proved = *item.answer.epoch;
    const std::string pool = item.task.is_on_fallback ? "fallback " : "pool ";
    for (const StageSpan& span : proved.stages) {
      log_.add(pool + std::to_string(span.lane), span, item.task.capsule->label);
    }
    if (is_good(item.task, proved.proof, proved.boundary, verify, row)) {
      {
        const std::lock_guard lock(pools_mutex_);
        if (!item.task.is_on_fallback) ++primary_proofs_;
      }
      Bytes payload = encode_payload(proved.proof, proved.boundary);
      item.task.done({CheckedEpoch{std::move(payload), std::move(proved.boundary)}, nullptr});
      return;
    }
    why = "its proof of " + name_of_epoch(*item.task.capsule) + " does not verify";
    const std::lock_guard lock(pools_mutex_);
    if (!item.task.is_on_fallback) ++verify_failures_;
  }
  note_failure(item.task, why);
  start(std::move(item.task));
}

void CheckedPool::note_failure(const Task& task, const std::string& why) {
  const std::string what = name_of_epoch(*task.capsule);
  if (task.is_on_fallback) throw_fallback_failed(what, why);
  log::warn(primary_name() + " failed", {{"at", what}, {"attempt", task.attempts}, {"why", why}});
  const std::lock_guard lock(pools_mutex_);
  why_ = why;
}

bool CheckedPool::try_primary_global(const GlobalWork& work) {
  for (u32 attempt = 1; primary_ && attempt <= kPrimaryAttempts; ++attempt) {
    if (attempt > 1) {
      const std::lock_guard lock(pools_mutex_);
      ++retries_;
    }
    const std::optional<std::string> why = work(*primary_);
    const std::unique_lock lock(pools_mutex_);
    if (!why) {
      ++primary_proofs_;
      return true;
    }
    log::warn(primary_name() + " failed",
              {{"at", kGlobalProof}, {"attempt", attempt}, {"why", *why}});
    why_ = *why;
  }
  return false;
}

bool CheckedPool::prove_global(const BoundaryStore& boundaries, const RunMemory::Ends& ends,
                               const std::function<void(std::span<const u64>)>& emit,
                               const std::function<bool()>& cancelled, Trust trust) {
  Outside outside;
  BoundaryStore guarded = boundaries;
  guarded.rows = [&](u32 label) { return outside([&] { return boundaries.rows(label); }); };
  const auto guarded_cancelled = [&] { return outside([&] { return cancelled && cancelled(); }); };
  // What has been emitted cannot be taken back. Provers of one key give the same words, so another
  // attempt goes on after those.
  u64 emitted = 0;
  bool is_complete = false;
  const GlobalWork work = [&](ProverPool& pool) -> std::optional<std::string> {
    u64 known = emitted;
    const auto emit_new = [&](std::span<const u64> words) {
      const u64 skipped = std::min<u64>(known, words.size());
      known -= skipped;
      words = words.subspan(skipped);
      if (words.empty()) return;
      outside([&] { emit(words); });
      emitted += words.size();
    };
    try {
      is_complete = pool.prove_global(guarded, ends, emit_new, guarded_cancelled);
      return std::nullopt;
    } catch (const std::bad_alloc&) {
      outside.rethrow();
      throw;
    } catch (const std::exception& error) {
      outside.rethrow();
      return error.what();
    }
  };
  const bool is_refused = trust == Trust::kFallback && places_.fallback;
  if (is_refused || !try_primary_global(work)) prove_global_on_fallback(work);
  return is_complete;
}

void CheckedPool::prove_global_on_fallback(const GlobalWork& work) {
  std::unique_lock lock(pools_mutex_);
  ProverPool& pool = fall_back(kGlobalProof);
  ++fallbacks_;
  lock.unlock();
  if (const auto why = work(pool)) throw_fallback_failed(kGlobalProof, *why);
}

void CheckedPool::count_refused_global() {
  const std::lock_guard lock(pools_mutex_);
  ++verify_failures_;
  why_ = "its global proof does not verify";
}

ProverUsage CheckedPool::usage() const {
  const std::lock_guard lock(pools_mutex_);
  ProverUsage usage = ended_usage_;
  if (primary_) add_usage(usage, primary_->usage());
  if (!had_primary_ || (primary_proofs_ == 0 && fallbacks_ > 0)) {
    usage.backend = fallback_ ? fallback_->usage().backend : fallback_backend_;
    if (usage.backend.empty()) usage.backend = "cpu";
  }
  usage.counters["epoch_retry"] = retries_;
  usage.counters["self_verify_failed"] = verify_failures_;
  if (places_.is_device) usage.counters["fallback"] = fallbacks_;
  if (!had_primary_ || fallbacks_ > 0) usage.fallback = why_;
  return usage;
}

}  // namespace epochd
