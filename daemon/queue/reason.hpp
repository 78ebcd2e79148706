// Why a job has no proof.
#pragma once

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

#include "prover/core/types.hpp"

namespace epochd {

enum class Reason : u8 {
  kInput,
  kGuestFault,
  kCycleLimit,
  kTimeout,
  kGpu,
  kMemory,
  kIo,
  kInternal,
};
constexpr std::array<std::string_view, 8> kReasonNames = {
    "input", "guest-fault", "cycle-limit", "timeout", "gpu", "memory", "io", "internal"};

inline std::string_view name_of(Reason reason) {
  return kReasonNames[static_cast<size_t>(reason)];
}

/// Reasons that may pass: the job is tried again within its budget. The others are final answers.
inline bool may_pass(Reason reason) {
  return reason == Reason::kGpu || reason == Reason::kMemory || reason == Reason::kIo ||
         reason == Reason::kInternal;
}

/// The end of a job, with a message for its owner. `phase` is set for a timeout.
class JobError : public std::runtime_error {
 public:
  JobError(Reason reason, const std::string& message, std::string phase = "")
      : std::runtime_error(message), reason_(reason), phase_(std::move(phase)) {}

  Reason reason() const { return reason_; }
  const std::string& phase() const { return phase_; }

 private:
  Reason reason_;
  std::string phase_;
};

}  // namespace epochd
