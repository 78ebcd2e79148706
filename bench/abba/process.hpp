// Runs one command to its end.
#pragma once

#include <string>

namespace epochd::abba {

struct ProcessResult {
  int exit_code = 0;  ///< minus the signal where one ended it
  double wall_seconds = 0;
  std::string out;
  std::string err;
};

/// Runs `command` with /bin/sh. Throws std::runtime_error where it cannot be started.
ProcessResult run_shell(const std::string& command);

/// Whole file, empty where it cannot be read.
std::string read_text(const std::string& path);

}  // namespace epochd::abba
