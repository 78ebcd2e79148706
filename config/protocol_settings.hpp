// Protocol parameters: the settings that change the bytes of a proof. They are part of the
// statement, so they are kept apart from daemon settings, which never may change a byte.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "epoch/machine.hpp"

namespace epochd {

/// The compiled-in parameter sets of docs/protocol.md section 8, by name.
enum class SecurityPreset : u8 { kProven100, kProven128, kProven128Fast, kTest };
constexpr std::array<std::string_view, 4> kSecurityPresetNames = {"proven100", "proven128",
                                                                  "proven128-fast", "test"};

struct ProtocolSettings {
  u32 epoch_size_log2 = kEpochSizeLog2Default;
  bool continuations = true;  ///< false: the whole run is one epoch
  SecurityPreset security = SecurityPreset::kProven100;

  bool operator==(const ProtocolSettings&) const = default;
};

/// One layer (flag, job file, environment, config file) of protocol settings: only what it says.
struct ProtocolOverrides {
  std::optional<u32> epoch_size_log2;
  std::optional<bool> continuations;
  std::optional<SecurityPreset> security;

  bool operator==(const ProtocolOverrides&) const = default;

  /// Applies this layer on top of a weaker one.
  void apply_to(ProtocolSettings& weaker) const {
    if (epoch_size_log2) weaker.epoch_size_log2 = *epoch_size_log2;
    if (continuations) weaker.continuations = *continuations;
    if (security) weaker.security = *security;
  }
};

}  // namespace epochd
