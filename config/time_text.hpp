// Times in files: UTC, to the second, as 2026-12-01T10:00:00Z.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "prover/core/types.hpp"

namespace epochd {

/// Seconds since 1970, or nothing if the text is not exactly such a time.
std::optional<i64> parse_utc_time(std::string_view text);
std::string format_utc_time(i64 seconds_since_1970);

}  // namespace epochd
