// Time, passed in, so that tests need not wait.
#pragma once

#include <chrono>

#include "prover/core/types.hpp"

namespace epochd {

class Clock {
 public:
  virtual ~Clock() = default;
  /// Monotonic.
  virtual double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  /// Nanoseconds since 1970, UTC.
  virtual i64 unix_ns() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
  /// Seconds since 1970, UTC.
  virtual i64 unix_seconds() const {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
};

}  // namespace epochd
