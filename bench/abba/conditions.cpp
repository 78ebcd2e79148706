#include "bench/abba/conditions.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "bench/abba/gpu_conditions.hpp"
#include "bench/abba/process.hpp"

namespace epochd::abba {
namespace {

namespace fs = std::filesystem;

uint64_t cpu_throttles() {
  uint64_t sum = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/sys/devices/system/cpu", error)) {
    std::istringstream text(read_text(entry.path() / "thermal_throttle/core_throttle_count"));
    uint64_t count = 0;
    if (text >> count) sum += count;
  }
  return sum;
}

}  // namespace

uint64_t sum_of_keys(const std::string& text, const std::vector<std::string>& keys) {
  uint64_t sum = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    uint64_t value = 0;
    if (!(words >> key >> value)) continue;
    for (const std::string& wanted : keys) {
      if (key == wanted) sum += value;
    }
  }
  return sum;
}

Conditions read_conditions() {
  Conditions now;
  now.swapped_pages = sum_of_keys(read_text("/proc/vmstat"), {"pswpin", "pswpout"});
  now.cpu_throttles = cpu_throttles();
  now.quota_throttles = sum_of_keys(read_text("/sys/fs/cgroup/cpu.stat"), {"nr_throttled"});
  const GpuConditions gpu = read_gpu_conditions();
  now.gpu_slowdowns = gpu.slowdowns;
  now.gpu_processes = gpu.processes;
  return now;
}

std::vector<std::string> broken_rules(const Conditions& before, const Conditions& after,
                                      uint64_t own_gpu_processes) {
  std::vector<std::string> broken;
  const auto count = [&](uint64_t from, uint64_t to, const char* what) {
    if (to > from) broken.push_back(std::to_string(to - from) + " " + what);
  };
  count(before.swapped_pages, after.swapped_pages, "pages swapped");
  count(before.cpu_throttles, after.cpu_throttles, "thermal throttling events");
  count(before.quota_throttles, after.quota_throttles, "periods without CPU quota");
  if ((before.gpu_slowdowns | after.gpu_slowdowns) != 0) broken.push_back("the GPU throttled");
  const uint64_t processes = std::max(before.gpu_processes, after.gpu_processes);
  if (processes > own_gpu_processes) {
    broken.push_back(std::to_string(processes - own_gpu_processes) + " other GPU processes");
  }
  return broken;
}

}  // namespace epochd::abba
