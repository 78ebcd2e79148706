// Where a device's traces and low-degree extensions live. No mode changes a byte of a proof.
#pragma once

#include <array>
#include <string_view>

#include "prover/core/types.hpp"

namespace epochd {

enum class Residency : u8 {
  kDeviceOnly,  ///< in device memory alone
  kHostMirror,  ///< copied to the host too, and what the device opens compared with the copy
};
constexpr std::array<std::string_view, 2> kResidencyNames = {"device-only", "host-mirror"};

}  // namespace epochd
