// Tables of Markdown from results: one function a kind, the same for documents and terminals.
#pragma once

#include <string>
#include <vector>

#include "bench/report/json_file.hpp"

namespace epochd::bench {

/// The kinds that make_table knows: chips, intervals, kernels, rates, stages, suite.
std::vector<std::string> table_kinds();

/// Errors: std::runtime_error for an unknown kind or results of another schema.
std::string make_table(const std::string& kind, const Json& results);

/// Results of epoch-abba without their runs, and what was gathered before, in one object of schema
/// epoch-intervals/1 with the first one's machine and time. Errors: std::runtime_error.
Json gather_intervals(const std::vector<Json>& results);

}  // namespace epochd::bench
