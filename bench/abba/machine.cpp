#include "bench/abba/machine.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <sstream>

#include "bench/abba/gpu_conditions.hpp"
#include "bench/abba/process.hpp"

namespace epochd::abba {

std::string describe_machine() {
  utsname system{};
  uname(&system);
  std::string processor = "unknown processor";
  std::istringstream lines(read_text("/proc/cpuinfo"));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("model name")) continue;
    processor = line.substr(line.find(':') + 2);
    break;
  }
  std::string gpus;
  for (const std::string& name : gpu_names()) gpus += ", " + name;
  return processor + gpus + ", " + std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) +
         " threads, Linux " + system.release;
}

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace epochd::abba
