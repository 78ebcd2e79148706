// The checks behind `epoch doctor`.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"

namespace epochd {

enum class Verdict : u8 { kOk, kWarn, kFail };

struct Check {
  std::string name;
  Verdict verdict = Verdict::kOk;
  std::string finding;
  std::string remedy;  ///< empty when there is nothing to do
};

/// `config_file` may be empty: then the built-in defaults are checked, without the queue.
std::vector<Check> run_checks(const Environment& environment, const std::string& config_file);

}  // namespace epochd
