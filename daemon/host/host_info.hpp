// What the process can know about the machine and about itself.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "prover/core/types.hpp"

namespace epochd {

/// The most memory this process has had resident.
u64 peak_rss_bytes();
/// Memory the system could give without swapping, as the kernel estimates it.
std::optional<u64> available_memory_bytes();
std::optional<u64> total_memory_bytes();
std::optional<u64> free_disk_bytes(const std::filesystem::path& path);
std::string cpu_model();
std::string kernel_release();
/// jemalloc's version, or nothing when another allocator is in charge (sanitizer builds).
std::optional<std::string> jemalloc_version();

/// Gives memory that was freed back to the system at once.
void release_free_memory();

}  // namespace epochd
