// The energy that devices take, where their driver says so.
#pragma once

#include <functional>
#include <optional>
#include <vector>

namespace epochd {

/// Joules that the devices with these numbers have taken together since the driver was loaded, all
/// where the list is empty; nothing where nobody can say. Threads: any.
using EnergyReading = std::function<std::optional<double>(const std::vector<int>& devices)>;

/// Asks NVML, which is looked for at the first call. Without it, or on devices that do not count,
/// there is no reading.
EnergyReading nvml_energy();

}  // namespace epochd
