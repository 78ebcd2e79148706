// What a prover has done so far, for results and metrics.
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "prover/core/types.hpp"

namespace epochd {

struct ProverUsage {
  std::string backend;  ///< "cpu" or "cuda"
  u64 bytes_h2d = 0;
  u64 bytes_d2h = 0;
  u64 peak_device_bytes = 0;
  std::map<std::string, u64> counters;  ///< by path: lde, merkle, logup, ... (docs/operations.md)
  std::string fallback;  ///< why a device that was preferred did not prove all; empty: it did
};

/// Adds what one prover used to what others did. The peak is the larger of the two: provers of one
/// process have one peak.
inline void add_usage(ProverUsage& to, const ProverUsage& more) {
  if (to.backend.empty()) to.backend = more.backend;
  to.bytes_h2d += more.bytes_h2d;
  to.bytes_d2h += more.bytes_d2h;
  to.peak_device_bytes = std::max(to.peak_device_bytes, more.peak_device_bytes);
  for (const auto& [name, count] : more.counters) to.counters[name] += count;
  if (to.fallback.empty()) to.fallback = more.fallback;
}

/// What was used since `before`, of the same provers. The peak stays what it is.
inline ProverUsage usage_after(ProverUsage now, const ProverUsage& before) {
  now.bytes_h2d -= before.bytes_h2d;
  now.bytes_d2h -= before.bytes_d2h;
  for (const auto& [name, count] : before.counters) now.counters[name] -= count;
  return now;
}

}  // namespace epochd
