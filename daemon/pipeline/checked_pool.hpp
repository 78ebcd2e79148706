// Proofs that count. Every proof a pool answers with is verified before it is handed on; what
// failed or does not verify is done once more, and then, where that is allowed, on the fallback,
// counted and said in the log.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "daemon/pipeline/prover_pool.hpp"
#include "daemon/pipeline/stage_log.hpp"

namespace epochd {

/// Where a job may be proved.
struct ProvingPlaces {
  PoolFactory primary;
  PoolFactory fallback;    ///< empty: only the primary may prove
  bool is_device = false;  ///< the primary, in messages and reasons
};

/// An epoch that is done: its proof was verified.
struct CheckedEpoch {
  Bytes payload;  ///< as it is stored
  std::vector<BoundaryRecord> boundary;
  bool was_stored = false;
};

/// Exactly one of the two is there.
struct CheckedAnswer {
  std::optional<CheckedEpoch> epoch;
  std::exception_ptr error;
};

class CheckedPool {
 public:
  /// Is it a proof of the capsule's epoch?
  using Verify =
      std::function<bool(const Capsule&, const EpochProof&, std::span<const BoundaryRecord>)>;
  using MakeVerify = std::function<Verify()>;  ///< called once a thread
  using Done = std::function<void(CheckedAnswer)>;
  enum class Trust : u8 { kPrimary, kFallback };
  enum class Start : u8 { kOpen, kClosed };

  /// `job` and `log` outlive this. Errors: as open().
  CheckedPool(const PoolJob& job, ProvingPlaces places, const MakeVerify& make_verify,
              u32 verify_threads, StageLog& log, Start start = Start::kOpen);
  /// As end().
  ~CheckedPool();
  CheckedPool(const CheckedPool&) = delete;
  CheckedPool& operator=(const CheckedPool&) = delete;

  // On one thread:
  /// Opens the primary pool, the fallback only when it is needed, and gives them what waits.
  /// Errors: JobError(kGpu) when a device's pool cannot be opened and there is no fallback; for
  /// other primaries what the factory throws.
  void open();
  /// Waits for what is being proved, which is still verified and answered. What is not begun waits
  /// for open(), and no attempt at it is counted.
  void close();
  bool is_open() const;
  /// Epochs are to be proved, and there is no open pool.
  bool is_wanting() const;

  /// Epochs that keep it busy, those being verified included; before it is opened only those.
  u32 capacity() const { return capacity_; }
  /// Returns at once. `stored`: bytes that may already be this epoch, proved; when they are not,
  /// the log says so and the epoch is proved. `done` is called once, from a thread of this pool,
  /// unless the pool ends first; it must not throw or wait. Its error is JobError(kGpu) when the
  /// device failed twice and there is no fallback, JobError(kInternal) when the CPU did,
  /// std::bad_alloc for the host's memory. Threads: any.
  void submit(std::shared_ptr<const Capsule> capsule, std::optional<Bytes> stored, Done done);
  /// Waits for what is being proved, which is still verified and answered; what is not begun is
  /// dropped, and so is all that comes later.
  void end();

  /// See GlobalProver::prove. `trust` says where: kFallback where there is one, when what the
  /// primary made was refused. Only the bundle's verification checks these proofs. What the
  /// callbacks throw passes through. Pre: nothing is submitted. Errors: as `done`'s.
  bool prove_global(const BoundaryStore& boundaries, const RunMemory::Ends& ends,
                    const std::function<void(std::span<const u64>)>& emit,
                    const std::function<bool()>& cancelled, Trust trust = Trust::kPrimary);
  /// A bundle with a global proof of the primary did not verify.
  void count_refused_global();

  /// The primary's, with the counters epoch_retry (second attempts there), self_verify_failed (its
  /// proofs that did not verify) and, where it is a device, fallback (proofs, a global one
  /// included, that the fallback made). Threads: any.
  ProverUsage usage() const;

 private:
  struct Task {
    std::shared_ptr<const Capsule> capsule;
    Done done;
    u32 attempts = 0;  ///< on the primary
    bool is_on_fallback = false;
  };
  /// What is to be verified.
  struct Item {
    Task task;
    std::optional<Bytes> stored;
    PoolAnswer answer;
  };

  /// Has a pool make the global proof; returns why it could not.
  using GlobalWork = std::function<std::optional<std::string>(ProverPool&)>;

  void open_primary();
  void close_pools();
  std::string primary_name() const { return places_.is_device ? "the device" : "the CPU"; }
  ProverPool& fall_back(const std::string& what);
  void start(Task task);
  void count_attempt(const Task& task);
  void give(ProverPool& pool, Task task);
  Task take_back(u64 ticket);
  void push(Item item);
  void run_verifier(u32 index, const MakeVerify& make_verify);
  void check_stored(Item& item, const Verify& verify, const std::string& row);
  void check_answer(Item& item, const Verify& verify, const std::string& row);
  bool is_good(const Task& task, const EpochProof& proof, std::span<const BoundaryRecord> boundary,
               const Verify& verify, const std::string& row);
  void note_failure(const Task& task, const std::string& why);
  bool try_primary_global(const GlobalWork& work);
  void prove_global_on_fallback(const GlobalWork& work);

  const PoolJob& job_;
  ProvingPlaces places_;
  StageLog& log_;
  u32 verify_threads_;
  std::atomic<u32> capacity_;

  // A pool is called with this held, but not for a proof; callbacks are not.
  mutable std::mutex pools_mutex_;
  std::unique_ptr<ProverPool> primary_;  ///< null: it could not be opened, or has ended
  std::unique_ptr<ProverPool> fallback_;
  ProverUsage ended_usage_;  ///< of primaries that were closed
  std::string fallback_backend_;
  std::deque<Task> kept_;  ///< for when the pools are open
  bool is_open_ = false;
  bool had_primary_ = false;
  bool is_ending_ = false;
  std::string why_;  ///< the primary's last failure
  u64 primary_proofs_ = 0;
  u64 retries_ = 0;
  u64 verify_failures_ = 0;
  u64 fallbacks_ = 0;

  // Apart, because a pool may answer while it is called.
  std::mutex given_mutex_;
  std::map<u64, Task> given_;  ///< to a pool and not answered, by ticket
  u64 next_ticket_ = 1;

  std::mutex queue_mutex_;
  std::condition_variable queue_changed_;
  std::deque<Item> queue_;
  bool is_queue_closed_ = false;
  std::vector<std::thread> verifiers_;
};

}  // namespace epochd
