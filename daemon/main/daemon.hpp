// The parts of a running epochd, put together: the worker's threads, the control thread and the
// housekeeper's, and what each tells the others.
#pragma once

#include <atomic>

#include "daemon/cli/exit_code.hpp"
#include "daemon/pipeline/backend_choice.hpp"
#include "daemon/service/control.hpp"
#include "daemon/service/housekeeper.hpp"
#include "daemon/service/notify.hpp"
#include "daemon/service/observer.hpp"
#include "daemon/service/pages.hpp"

namespace epochd {

struct DaemonOptions {
  std::string config;
  std::string queue;  ///< in place of the settings' one, where it is not empty
  bool once = false;
};

class Daemon {
 public:
  /// Takes the queue. `devices`: what there is to prove on, for the dashboard. `manager` outlives
  /// it.
  /// Errors: QueueBusy, IoError.
  Daemon(DaemonOptions options, Config config, Environment environment,
         JobProverFactory make_prover, std::vector<DeviceInfo> devices, ServiceManager& manager);

  /// Serves until it is told to stop; with `once`, until nothing is left to do. On the calling
  /// thread, which is the control thread, and several of its own.
  ExitCode run();

 private:
  Control::Handlers handlers();
  void serve_http(const HttpSettings& settings);
  Worker::Report run_worker();
  ExitCode exit_code(const Worker::Report& report) const;

  // On the control thread:
  void stop(const std::string& why);
  void stop_at_once();
  void reload();
  void dump_heap();
  void tick();
  void tell_progress();
  void sample();

  void device_lost();  ///< on a lane's thread

  DaemonOptions options_;
  FileSystem fs_;
  Clock clock_;
  i64 start_unix_ = clock_.unix_seconds();
  ServiceManager& manager_;
  LiveConfig config_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> is_device_lost_ = false;
  Queue queue_;
  Board board_{clock_};
  MetricsRegistry registry_;
  DaemonMetrics metrics_{registry_, start_unix_};
  ServiceObserver observer_;
  JobHandler handler_;
  Worker worker_;
  Pages pages_{board_, registry_, metrics_, start_unix_, clock_};
  Control control_;
  std::unique_ptr<HttpServer> http_;

  std::string status_;
  double sampled_s_ = 0;
  u32 heap_profiles_ = 0;
};

}  // namespace epochd
