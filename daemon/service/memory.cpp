#include "daemon/service/memory.hpp"

#include <unistd.h>

#include <cstring>
#include <fstream>

// Weak: sanitizer builds link without jemalloc.
extern "C" __attribute__((weak)) int mallctl(const char* name, void* old_value, size_t* old_bytes,
                                             void* new_value, size_t new_bytes);

namespace epochd {
namespace {

template <class T>
std::optional<T> read_value(const char* name) {
  T value{};
  size_t bytes = sizeof(value);
  if (mallctl == nullptr || mallctl(name, &value, &bytes, nullptr, 0) != 0) return std::nullopt;
  return value;
}

template <class T>
int write_value(const char* name, T value) {
  return mallctl == nullptr ? ENOTSUP : mallctl(name, nullptr, nullptr, &value, sizeof(value));
}

}  // namespace

u64 resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  u64 total_pages = 0, resident_pages = 0;
  if (!(statm >> total_pages >> resident_pages)) return 0;
  return resident_pages * static_cast<u64>(::sysconf(_SC_PAGESIZE));
}

std::optional<AllocatorStats> allocator_stats() {
  // The statistics stand still between advances of this number.
  if (write_value<u64>("epoch", 1) != 0) return std::nullopt;
  AllocatorStats stats;
  stats.allocated = read_value<size_t>("stats.allocated").value_or(0);
  stats.active = read_value<size_t>("stats.active").value_or(0);
  stats.metadata = read_value<size_t>("stats.metadata").value_or(0);
  stats.resident = read_value<size_t>("stats.resident").value_or(0);
  stats.mapped = read_value<size_t>("stats.mapped").value_or(0);
  stats.retained = read_value<size_t>("stats.retained").value_or(0);
  return stats;
}

bool start_background_purging() {
  return write_value<bool>("background_thread", true) == 0;
}

std::optional<std::string> dump_heap_profile(const Path& path) {
  if (mallctl == nullptr) return "the allocator is not jemalloc";
  if (!read_value<bool>("config.prof").value_or(false)) {
    return "this jemalloc was built without profiling";
  }
  if (!read_value<bool>("opt.prof").value_or(false)) {
    return "profiling is off; start with MALLOC_CONF=prof:true";
  }
  const int code = write_value<const char*>("prof.dump", path.c_str());
  if (code != 0) return std::string("jemalloc answers: ") + std::strerror(code);
  return std::nullopt;
}

}  // namespace epochd
