// The daemon's side of one worker: a pool whose threads are another process. When that dies, a new
// one is started. What it was proving alone, or what dies with a second worker, is answered with
// the reason; the rest may be innocent, and is given to the next worker.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <thread>

#include "daemon/worker/codec.hpp"
#include "daemon/worker/process.hpp"

namespace epochd {

/// Starts a worker. A test's may be anything with a channel.
using WorkerLauncher = std::function<WorkerProcess()>;

/// A worker process and its channel, kept from job to job because starting a device takes seconds.
class WorkerHandle {
 public:
  explicit WorkerHandle(WorkerLauncher launch) : launch_(std::move(launch)) {}
  ~WorkerHandle();

  /// Starts the worker where none runs. Errors: IoError.
  std::shared_ptr<Channel> running();
  /// Ends a worker that does not answer; its channel closes. Threads: any.
  void kill();
  /// Pre: its channel is closed, or it is to be killed. Says how it ended.
  std::string bury();
  u64 starts() const { return starts_; }

 private:
  WorkerLauncher launch_;
  std::mutex mutex_;  ///< guards process_, for kill()
  std::optional<WorkerProcess> process_;
  std::shared_ptr<Channel> channel_;
  u64 starts_ = 0;
};

/// Which devices there are, asked of a worker: the daemon itself never touches one, because a
/// context that breaks cannot be mended in a process that goes on.
DeviceList query_through(WorkerHandle& worker);

/// How long a worker is waited for before it is killed.
struct WorkerPatience {
  /// With work and nothing to say: an epoch takes a device well under a second, the largest some.
  std::chrono::milliseconds silence = std::chrono::minutes(2);
  /// For the end of a job: what is being proved is waited for.
  std::chrono::milliseconds close = std::chrono::seconds(30);
};

class WorkerPool : public ProverPool {
 public:
  /// Opens the job on the worker. Pre: the handle outlives the pool and serves nothing else.
  /// Errors: std::runtime_error when the worker cannot be started or refuses the job.
  WorkerPool(WorkerHandle& worker, const PoolJob& job, int device, u32 threads,
             WorkerPatience patience = {});
  ~WorkerPool() override;

  u32 capacity() const override { return capacity_; }
  void submit(std::shared_ptr<const Capsule> capsule, Done done) override;
  bool prove_global(const BoundaryStore& boundaries, const RunMemory::Ends& ends,
                    const std::function<void(std::span<const u64>)>& emit,
                    const std::function<bool()>& cancelled) override;
  /// The device's, over all its workers of this job, with the counter `worker_restart`.
  ProverUsage usage() const override;

 private:
  struct Task {
    std::shared_ptr<const Capsule> capsule;
    Done done;
    u32 deaths = 0;  ///< of workers that had it
  };

  void open();
  bool try_open();
  void send_close();
  std::shared_ptr<Channel> serving() const;
  void run();
  void serve_channel(Channel& channel);
  void dispatch(Message message);
  void worker_died(const std::string& why);
  bool restart();
  void send_waiting();
  std::shared_ptr<Channel> begin_global();
  void end_global();
  void abandon_global();
  std::optional<Message> next_global_message();
  bool take_global(const BoundaryStore& boundaries,
                   const std::function<void(std::span<const u64>)>& emit,
                   const std::function<bool()>& cancelled, Channel& channel);

  WorkerHandle& worker_;
  PoolJob job_;
  int device_;
  u32 threads_;
  WorkerPatience patience_;
  std::atomic<u32> capacity_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> waiting_;          ///< not sent yet: the worker is being started again
  std::map<u64, Task> sent_;          ///< by tag
  std::deque<Message> global_;        ///< what concerns the global proof
  bool is_global_ = false;            ///< the global proof is being made
  bool is_global_settled_ = true;     ///< the worker has said its last word on it
  std::shared_ptr<Channel> channel_;  ///< null: no worker serves this job now
  bool is_leaving_ = false;           ///< the worker said that its device is lost
  bool is_closing_ = false;
  bool is_ended_ = false;  ///< the thread is
  std::string broken_;     ///< why no worker is started any more; empty: they are
  u64 next_tag_ = 1;
  u32 deaths_in_a_row_ = 0;
  u64 restarts_ = 0;
  ProverUsage ended_;    ///< of workers that died
  ProverUsage current_;  ///< of the one that runs
  std::thread thread_;
};

}  // namespace epochd
