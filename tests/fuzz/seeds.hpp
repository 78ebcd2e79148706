// Inputs to start from: small honest ones of every format, made by the code that makes them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/fuzz/targets.hpp"

namespace epochd::fuzz {

/// By target. The first seed of "key" and of "proof" belong together. `written`: the folder of the
/// seeds that are files, a folder for each target.
std::map<std::string, std::vector<Bytes>> make_seeds(const std::string& written);

}  // namespace epochd::fuzz
