// Files of benchmark results.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace epochd::bench {

using Json = nlohmann::ordered_json;

/// Errors: std::runtime_error that names the file.
std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& text);
Json read_json(const std::string& path);
/// As read_json(); the object's "schema" must be this one.
Json read_json(const std::string& path, const std::string& schema);

}  // namespace epochd::bench
