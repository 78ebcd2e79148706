// Memory as the kernel and the allocator count it, and what the allocator can be asked for.
#pragma once

#include <optional>
#include <string>

#include "daemon/queue/file_system.hpp"

namespace epochd {

/// Of this process, now; 0 where /proc does not say.
u64 resident_bytes();

/// jemalloc's statistics of the same names, in bytes.
struct AllocatorStats {
  u64 allocated = 0;  ///< by the program
  u64 active = 0;     ///< pages of which some part is allocated
  u64 metadata = 0;   ///< the allocator's own
  u64 resident = 0;   ///< pages held in memory
  u64 mapped = 0;     ///< extents in use
  u64 retained = 0;   ///< address space kept, not memory
};
/// As of now; nothing where another allocator is in charge.
std::optional<AllocatorStats> allocator_stats();

/// Has jemalloc give freed memory back from threads of its own. False where it cannot.
bool start_background_purging();

/// Writes who holds how much to a file for jeprof. Returns why it could not be, or nothing.
std::optional<std::string> dump_heap_profile(const Path& path);

}  // namespace epochd
