// What a report says about where and when it was made.
#pragma once

#include <string>

namespace epochd::abba {

/// Processor, NVIDIA devices, hardware threads, kernel.
std::string describe_machine();
/// Now, UTC, ISO 8601.
std::string utc_now();

}  // namespace epochd::abba
