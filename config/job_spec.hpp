// What job.yaml says about one job. Everything is optional: an empty file is a valid job.
#pragma once

#include <optional>
#include <string>

#include "config/daemon_settings.hpp"
#include "config/protocol_settings.hpp"

namespace epochd {

constexpr i32 kPriorityMin = -1000;
constexpr i32 kPriorityMax = 1000;
constexpr size_t kJobNameBytesMax = 64;
constexpr u64 kCycleLimitMax = 1ull << 57;  ///< 2^31 epochs of 2^26 cycles

struct JobSpec {
  std::string name;
  i32 priority = 0;                  ///< higher first
  std::optional<i64> deadline_unix;  ///< seconds since 1970, UTC
  ProtocolOverrides protocol;
  std::optional<BackendPolicy> backend;
  std::optional<Residency> residency;
  std::optional<u64> cycle_limit;

  bool operator==(const JobSpec&) const = default;
};

}  // namespace epochd
