// What a prover has done so far, for results and metrics.
#pragma once

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

}  // namespace epochd
