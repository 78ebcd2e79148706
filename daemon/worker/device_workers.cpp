#include "daemon/worker/device_workers.hpp"

#include "daemon/log/log.hpp"
#include "daemon/worker/spread_pool.hpp"

namespace epochd {

DeviceList DeviceWorkers::query() {
  const std::lock_guard lock(mutex_);
  if (known_) return *known_;
  if (!asked_) asked_ = std::make_unique<WorkerHandle>(launch_);
  DeviceList devices = query_through(*asked_);
  if (devices) {
    known_ = *devices;
  } else {
    asked_.reset();
  }
  return devices;
}

WorkerHandle& DeviceWorkers::worker_of(int device) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<WorkerHandle>& worker = workers_[device];
  if (!worker) worker = asked_ ? std::move(asked_) : std::make_unique<WorkerHandle>(launch_);
  return *worker;
}

std::unique_ptr<ProverPool> DeviceWorkers::open(const PoolJob& job, std::span<const int> devices) {
  std::vector<std::unique_ptr<ProverPool>> pools;
  std::string why = "no device was named";
  for (const int device : devices) {
    try {
      pools.push_back(std::make_unique<WorkerPool>(worker_of(device), job, device, threads_));
    } catch (const std::exception& error) {
      why = error.what();
      log::error("a device does not take the job", {{"device", device}, {"why", why}});
    }
  }
  if (pools.empty()) throw std::runtime_error(why);
  return std::make_unique<SpreadPool>(std::move(pools));
}

}  // namespace epochd
