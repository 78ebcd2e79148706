#include "daemon/host/host_info.hpp"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>

#include <fstream>
#include <string_view>

// Weak: sanitizer builds link without jemalloc.
extern "C" __attribute__((weak)) int mallctl(const char* name, void* old_value, size_t* old_bytes,
                                             void* new_value, size_t new_bytes);

namespace epochd {
namespace {

constexpr u64 kKibibyte = 1024;

/// "Key:   123 kB" in a file of such lines.
std::optional<u64> kilobyte_line(const char* file, std::string_view key) {
  std::ifstream lines(file);
  std::string word;
  u64 value = 0;
  while (lines >> word) {
    if (word == key && lines >> value) return value * kKibibyte;
    lines.ignore(1 << 20, '\n');
  }
  return std::nullopt;
}

}  // namespace

u64 peak_rss_bytes() {
  ::rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<u64>(usage.ru_maxrss) * kKibibyte;
}

std::optional<u64> available_memory_bytes() {
  return kilobyte_line("/proc/meminfo", "MemAvailable:");
}

std::optional<u64> total_memory_bytes() {
  return kilobyte_line("/proc/meminfo", "MemTotal:");
}

std::optional<u64> free_disk_bytes(const std::filesystem::path& path) {
  struct ::statvfs status {};
  if (::statvfs(path.c_str(), &status) != 0) return std::nullopt;
  return u64{status.f_bavail} * status.f_frsize;
}

std::string cpu_model() {
  std::ifstream lines("/proc/cpuinfo");
  std::string line;
  while (std::getline(lines, line)) {
    const size_t colon = line.find(':');
    const bool is_model = line.compare(0, 10, "model name") == 0;
    if (is_model && colon != std::string::npos && colon + 2 <= line.size()) {
      return line.substr(colon + 2);
    }
  }
  return "unknown processor";
}

std::string kernel_release() {
  ::utsname name{};
  return ::uname(&name) == 0 ? name.release : "unknown";
}

void release_free_memory() {
  // 4096 is MALLCTL_ARENAS_ALL.
  if (mallctl != nullptr) mallctl("arena.4096.purge", nullptr, nullptr, nullptr, 0);
}

std::optional<std::string> jemalloc_version() {
  const char* version = nullptr;
  size_t bytes = sizeof(version);
  if (mallctl == nullptr || mallctl("version", &version, &bytes, nullptr, 0) != 0) {
    return std::nullopt;
  }
  return version;
}

}  // namespace epochd
