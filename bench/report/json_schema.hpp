// The part of JSON Schema (draft 2020-12) that this repository's schemas use: type, required,
// properties, additionalProperties, items, minItems, minimum, exclusiveMinimum, enum, const.
#pragma once

#include <string>
#include <vector>

#include "bench/report/json_file.hpp"

namespace epochd::bench {

/// What of `value` breaks `schema`, as "/path: why"; empty: nothing. A keyword that is none of the
/// above and no annotation is an error too, so that a schema never promises what nobody checks.
std::vector<std::string> schema_errors(const Json& schema, const Json& value);

}  // namespace epochd::bench
