// Runs one command to its end.
#pragma once

#include <sys/types.h>

#include <string>

namespace epochd::abba {

/// The exit code of a command that was ended because it took too long.
inline constexpr int kTimedOut = -1000;

struct ProcessResult {
  int exit_code = 0;  ///< minus the signal where one ended it; kTimedOut
  double wall_seconds = 0;
  std::string out;
  std::string err;
};

/// Runs `command` with /bin/sh, in a process group of its own. After `timeout_seconds` (0: never)
/// the group is killed. A SIGINT or SIGTERM for this process ends the group first.
/// Errors: std::runtime_error where it cannot be started. Threads: one at a time.
ProcessResult run_shell(const std::string& command, double timeout_seconds = 0);

/// A file without a name, for a child's output: a pipe would have to be drained while it runs.
class OutputFile {
 public:
  OutputFile();
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  int descriptor() const { return descriptor_; }
  std::string text() const;

 private:
  int descriptor_ = -1;
};

/// Starts /bin/sh -c `command` as the leader of a new process group, with these as its standard
/// descriptors. Errors: std::runtime_error.
pid_t start_shell(const std::string& command, int in, int out, int err);
/// Waits at most `timeout_seconds` (0: for ever) for a child. -1: it is still running; otherwise
/// its status.
int wait_for_child(pid_t pid, double timeout_seconds);
/// The group's end, with its leader's status collected.
void kill_group(pid_t pid);
/// An exit code, or minus the signal.
int exit_code_of_status(int status);

/// Whole file, empty where it cannot be read.
std::string read_text(const std::string& path);

}  // namespace epochd::abba
