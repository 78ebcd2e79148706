// The worker's side: a process that owns one device and proves what comes through its channel. It
// holds nothing that is not in the daemon as well, so it may die at any point.
#pragma once

#include <atomic>
#include <chrono>

#include "daemon/worker/codec.hpp"

namespace epochd {

/// What a worker does with a device, passed in.
struct WorkerDuties {
  DeviceQuery query;
  /// The request outlives the pool. Errors: throws a std::exception.
  std::function<std::shared_ptr<ProverPool>(const OpenRequest&)> make_pool;
  /// Asked after a failure. A context that is lost stays lost: the process has to end.
  std::function<bool(int device)> device_works;
  /// Gives up what is kept from the last job for the next, when none came for this long.
  std::function<void()> release = [] {};
  std::chrono::milliseconds idle = std::chrono::minutes(1);
};

class WorkerServer {
 public:
  enum class End : u8 {
    kReleased,    ///< the daemon closed the channel, or is gone
    kDeviceLost,  ///< the device does not work any more
  };

  WorkerServer(Channel& channel, WorkerDuties duties);
  ~WorkerServer();

  /// Serves until there is nobody to serve, or nothing to serve with.
  End serve();

 private:
  struct Job;

  std::optional<Message> next_message();
  bool handle(Message message);
  void open(Message message);
  void close();
  void prove(const Message& message);
  void answer(Job& job, u64 tag, const PoolAnswer& answer);
  void prove_global(const Message& message);
  std::vector<BoundaryRecord> fetch_rows(u32 label);
  void fail(u64 tag, const std::string& why, bool is_out_of_memory);

  Channel& channel_;
  WorkerDuties duties_;
  std::unique_ptr<Job> job_;
  std::atomic<int> device_ = -1;  ///< the last job's, -1: there was none
  std::atomic<bool> is_device_lost_ = false;
};

/// The whole life of a worker process whose channel is descriptor kWorkerChannelFd. Its exit code
/// is 0 when it was released, 3 when its device is lost.
int run_worker(const WorkerDuties& duties);

}  // namespace epochd
