#include "bench/abba/gpu_conditions.hpp"

#include <dlfcn.h>

namespace epochd::abba {
namespace {

/// Clock event reasons of NVML that slow a kernel down: hardware slowdown, software thermal,
/// hardware thermal, power brake. The software power cap is the normal state of a busy GPU.
constexpr uint64_t kSlowdownReasons = 0x8 | 0x20 | 0x40 | 0x80;
// Of nvmlReturn_t. The second answers a question for a number of processes, when it is not 0.
constexpr int kSuccess = 0;
constexpr int kInsufficientSize = 7;

using Device = void*;

/// NVML's functions, by its manual's names; null where the library or a function is not there.
class Nvml {
 public:
  Nvml() : library_(::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) return;
    int (*init)() = nullptr;
    find(init, "nvmlInit_v2");
    find(count_, "nvmlDeviceGetCount_v2");
    find(by_index_, "nvmlDeviceGetHandleByIndex_v2");
    find(name_, "nvmlDeviceGetName");
    find(reasons_, "nvmlDeviceGetCurrentClocksEventReasons");
    if (reasons_ == nullptr) find(reasons_, "nvmlDeviceGetCurrentClocksThrottleReasons");
    find(processes_, "nvmlDeviceGetComputeRunningProcesses_v3");
    works_ = init != nullptr && count_ != nullptr && by_index_ != nullptr && init() == kSuccess;
  }

  GpuConditions read() const {
    GpuConditions now;
    for (const Device device : devices()) {
      unsigned long long reasons = 0;
      if (reasons_ != nullptr && reasons_(device, &reasons) == kSuccess) now.slowdowns |= reasons;
      unsigned count = 0;
      if (processes_ != nullptr && processes_(device, &count, nullptr) == kInsufficientSize) {
        now.processes += count;
      }
    }
    now.slowdowns &= kSlowdownReasons;
    return now;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Device device : devices()) {
      char name[kNameBytes] = {};
      if (name_ != nullptr && name_(device, name, kNameBytes) == kSuccess) names.emplace_back(name);
    }
    return names;
  }

 private:
  static constexpr unsigned kNameBytes = 96;

  std::vector<Device> devices() const {
    std::vector<Device> found;
    unsigned count = 0;
    if (!works_ || count_(&count) != kSuccess) return found;
    for (unsigned i = 0; i < count; ++i) {
      Device device = nullptr;
      if (by_index_(i, &device) == kSuccess) found.push_back(device);
    }
    return found;
  }
  template <class Function>
  void find(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(::dlsym(library_, name));
  }

  void* library_;
  bool works_ = false;
  int (*count_)(unsigned*) = nullptr;
  int (*by_index_)(unsigned, Device*) = nullptr;
  int (*name_)(Device, char*, unsigned) = nullptr;
  int (*reasons_)(Device, unsigned long long*) = nullptr;
  int (*processes_)(Device, unsigned*, void*) = nullptr;
};

const Nvml& nvml() {
  static const Nvml library;
  return library;
}

}  // namespace

GpuConditions read_gpu_conditions() {
  return nvml().read();
}

std::vector<std::string> gpu_names() {
  return nvml().names();
}

}  // namespace epochd::abba
