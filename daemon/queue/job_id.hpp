// A job's id is the name of its directory.
#pragma once

#include <string>
#include <string_view>

#include "prover/core/types.hpp"

namespace epochd {

constexpr size_t kJobIdBytesMax = 120;

/// Letters, digits, '.', '_', '-'; not starting with '.'; at most kJobIdBytesMax long.
bool is_job_id(std::string_view text);
/// A valid id that looks like `text`: other characters become '_'.
std::string to_job_id(std::string_view text);
/// `id` with a suffix: to_alternative_id("fib", 2) = "fib-2", still a valid id.
std::string to_alternative_id(std::string_view id, u32 number);

}  // namespace epochd
