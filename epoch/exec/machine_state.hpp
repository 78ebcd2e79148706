// The registers of the machine between two instructions.
#pragma once

#include <array>

#include "epoch/machine.hpp"

namespace epochd {

/// x0..x31, the output counter and the sink: key kRegBase + k holds register k.
constexpr u32 kRegisterKeyCount = 34;
constexpr u32 kOutputCounterRegister = kOutputCounterKey - kRegBase;
static_assert(kSinkKey == kRegBase + kRegisterKeyCount - 1);

struct MachineState {
  std::array<u64, kRegisterKeyCount> registers{};
  u32 pc = 0;
  bool operator==(const MachineState&) const = default;
};

}  // namespace epochd
