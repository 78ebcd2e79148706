// What makes a block worthless, decided by rules fixed beforehand and never by its result: the
// machine swapped, throttled its processor or GPU, or had somebody else's work on the GPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace epochd::abba {

/// Counters that only grow, and what was there at one moment. 0 where the machine does not tell.
struct Conditions {
  uint64_t swapped_pages = 0;    ///< in and out, since boot
  uint64_t cpu_throttles = 0;    ///< thermal events of all cores
  uint64_t quota_throttles = 0;  ///< periods in which the control group ran out of its quota
  uint64_t gpu_slowdowns = 0;    ///< reasons active now, as bits: thermal, power brake, hardware
  uint64_t gpu_processes = 0;    ///< on all GPUs, at a moment between runs
};

/// Reads them from /proc, /sys and, where there is a GPU, its driver's management library.
Conditions read_conditions();

/// The rules that a block broke, in words; empty: the block is valid. `own_gpu_processes`: those
/// that commands which stay may have between runs.
std::vector<std::string> broken_rules(const Conditions& before, const Conditions& after,
                                      uint64_t own_gpu_processes = 0);

/// Sum of the values of these keys in lines of "key value".
uint64_t sum_of_keys(const std::string& text, const std::vector<std::string>& keys);

}  // namespace epochd::abba
