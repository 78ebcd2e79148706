#include "daemon/pipeline/energy.hpp"

#include <dlfcn.h>

#include <memory>
#include <mutex>
#include <numeric>

namespace epochd {
namespace {

constexpr double kMillijoulesPerJoule = 1e3;
constexpr int kNvmlSuccess = 0;

/// The four functions of NVML that are needed (NVML API reference, nvmlInit_v2 ...).
class Nvml {
 public:
  Nvml() {
    library_ = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) return;
    int (*init)() = nullptr;
    find("nvmlInit_v2", init);
    find("nvmlDeviceGetCount_v2", count_);
    find("nvmlDeviceGetHandleByIndex_v2", handle_of_);
    find("nvmlDeviceGetTotalEnergyConsumption", energy_of_);
    const bool is_whole =
        init != nullptr && count_ != nullptr && handle_of_ != nullptr && energy_of_ != nullptr;
    is_usable_ = is_whole && init() == kNvmlSuccess;
  }
  // NVML stays loaded: its threads may outlive whoever asks.

  std::optional<double> joules(std::vector<int> devices) const {
    unsigned count = 0;
    if (!is_usable_ || count_(&count) != kNvmlSuccess || count == 0) return std::nullopt;
    if (devices.empty()) {
      devices.resize(count);
      std::iota(devices.begin(), devices.end(), 0);
    }
    double joules = 0;
    for (const int device : devices) {
      void* handle = nullptr;
      unsigned long long millijoules = 0;
      if (handle_of_(static_cast<unsigned>(device), &handle) != kNvmlSuccess ||
          energy_of_(handle, &millijoules) != kNvmlSuccess) {
        return std::nullopt;
      }
      joules += static_cast<double>(millijoules) / kMillijoulesPerJoule;
    }
    return joules;
  }

 private:
  template <class Function>
  void find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library_, name));
  }

  void* library_ = nullptr;
  int (*count_)(unsigned*) = nullptr;
  int (*handle_of_)(unsigned, void**) = nullptr;
  int (*energy_of_)(void*, unsigned long long*) = nullptr;
  bool is_usable_ = false;
};

}  // namespace

EnergyReading nvml_energy() {
  struct Lazy {
    std::once_flag once;
    std::optional<Nvml> nvml;
  };
  return [lazy = std::make_shared<Lazy>()](const std::vector<int>& devices) {
    std::call_once(lazy->once, [&] { lazy->nvml.emplace(); });
    return lazy->nvml->joules(devices);
  };
}

}  // namespace epochd
