#include "daemon/worker/device_worker.hpp"

#include <algorithm>

#include "daemon/log/log.hpp"
#include "daemon/worker/kept_pool.hpp"
#include "daemon/worker/serve.hpp"

namespace epochd {
namespace {

// argv: the program, the flag, log level, log format.
constexpr std::string_view kFlag = "--device-worker";
constexpr int kArgumentCount = 4;

/// The devices that can be used; what is wrong with the others goes to the log.
DeviceList query_and_log() {
  return query_devices([](const DeviceQueryError& error) {
    log::warn("a device cannot be used", {{"device", error.device}, {"why", error.message}});
  });
}

template <size_t N>
size_t index_of(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? 0 : static_cast<size_t>(at - names.begin());
}

}  // namespace

std::optional<int> run_as_device_worker(int argc, const char* const* argv) {
  if (argc != kArgumentCount || argv[1] != kFlag) return std::nullopt;
  log::configure(static_cast<LogLevel>(index_of(kLogLevelNames, argv[2])),
                 static_cast<LogFormat>(index_of(kLogFormatNames, argv[3])));
  const auto pool = std::make_shared<KeptPool>(make_cuda_pool);
  return run_worker({query_and_log,
                     [pool](const OpenRequest& request) { return pool->open(request); },
                     device_works, [pool] { pool->release(); }});
}

WorkerProcess start_device_worker() {
  const LogSettings log = log::configured();
  return WorkerProcess::start({"/proc/self/exe", std::string(kFlag),
                               std::string(kLogLevelNames[static_cast<size_t>(log.level)]),
                               std::string(kLogFormatNames[static_cast<size_t>(log.format)])});
}

DeviceAccess access_through(DeviceWorkers& workers) {
  return {[&workers] { return has_cuda_code() ? workers.query() : query_and_log(); },
          [&workers](const std::vector<int>& devices) -> PoolFactory {
            return [&workers, devices](const PoolJob& job) { return workers.open(job, devices); };
          }};
}

}  // namespace epochd
