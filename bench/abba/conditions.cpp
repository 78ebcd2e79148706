#include "bench/abba/conditions.hpp"

#include <unistd.h>

#include <filesystem>
#include <sstream>

#include "bench/abba/process.hpp"

namespace epochd::abba {
namespace {

namespace fs = std::filesystem;

/// Clock event reasons of NVML that slow a kernel down: hardware slowdown, software thermal,
/// hardware thermal, power brake. The software power cap is the normal state of a busy GPU.
constexpr uint64_t kSlowdownReasons = 0x8 | 0x20 | 0x40 | 0x80;

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

bool has_nvidia_smi() {
  static const bool found = run_shell("command -v nvidia-smi").exit_code == 0;
  return found;
}

uint64_t gpu_slowdowns() {
  const auto result = run_shell(
      "nvidia-smi --query-gpu=clocks_event_reasons.active --format=csv,noheader 2>/dev/null ||"
      " nvidia-smi --query-gpu=clocks_throttle_reasons.active --format=csv,noheader");
  uint64_t bits = 0;
  std::istringstream lines(result.exit_code == 0 ? result.out : "");
  for (std::string line; std::getline(lines, line);) {
    try {
      bits |= std::stoull(line, nullptr, 16);
    } catch (const std::exception&) {
      continue;  // "[N/A]": this GPU does not tell
    }
  }
  return bits & kSlowdownReasons;
}

std::vector<std::string> gpu_processes() {
  const auto result =
      run_shell("nvidia-smi --query-compute-apps=pid,process_name --format=csv,noheader");
  std::vector<std::string> processes;
  std::istringstream lines(result.exit_code == 0 ? result.out : "");
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) processes.push_back(line);
  }
  return processes;
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
  if (has_nvidia_smi()) {
    now.gpu_slowdowns = gpu_slowdowns();
    now.gpu_processes = gpu_processes();
  }
  return now;
}

std::vector<std::string> broken_rules(const Conditions& before, const Conditions& after) {
  std::vector<std::string> broken;
  const auto count = [&](uint64_t from, uint64_t to, const char* what) {
    if (to > from) broken.push_back(std::to_string(to - from) + " " + what);
  };
  count(before.swapped_pages, after.swapped_pages, "pages swapped");
  count(before.cpu_throttles, after.cpu_throttles, "thermal throttling events");
  count(before.quota_throttles, after.quota_throttles, "periods without CPU quota");
  if ((before.gpu_slowdowns | after.gpu_slowdowns) != 0) broken.push_back("the GPU throttled");
  for (const Conditions* moment : {&before, &after}) {
    if (moment->gpu_processes.empty()) continue;
    broken.push_back("another GPU process: " + moment->gpu_processes.front());
    break;
  }
  return broken;
}

}  // namespace epochd::abba
