// Commands that stay: started once, they answer a line for every run. For programs whose start
// costs more than what is measured, such as taking a device and page-locking host memory.
#pragma once

#include <sys/types.h>

#include <string>

#include "bench/abba/process.hpp"

namespace epochd::abba {

/// The protocol: for each line on its standard input the command does one run and prints one line,
/// a JSON object. It ends when its input does.
class ServedCommand {
 public:
  /// Starts it with /bin/sh. Errors: std::runtime_error.
  explicit ServedCommand(const std::string& command);
  /// Closes its input, waits a moment, then kills its process group.
  ~ServedCommand();
  ServedCommand(const ServedCommand&) = delete;
  ServedCommand& operator=(const ServedCommand&) = delete;

  /// One run, timed from the line in to the line out. Its result is as run_shell()'s: when the
  /// command has ended, its exit code (1 if that was 0: it was asked for more) and what it wrote to
  /// standard error; kTimedOut after `timeout_seconds` (0: never). Nothing runs after either.
  ProcessResult run(double timeout_seconds);

 private:
  bool ask();
  bool read_line(double timeout_seconds, std::string& line, bool& timed_out);
  ProcessResult ended(bool timed_out, double wall_seconds);

  OutputFile err_;
  pid_t pid_ = -1;  ///< -1 once it has ended
  int to_ = -1;
  int from_ = -1;
  std::string unread_;
};

}  // namespace epochd::abba
