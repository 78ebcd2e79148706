// A worker as a process: started from a command, one end of a channel in its hands. It lives until
// the channel closes or it is killed.
#pragma once

#include <sys/types.h>

#include <array>
#include <csignal>
#include <string>
#include <vector>

#include "daemon/queue/file_system.hpp"

namespace epochd {

/// The descriptor a worker finds its end of the channel at.
constexpr int kWorkerChannelFd = 3;

/// What reaches every process of a group or a service, and is for the daemon alone.
constexpr std::array<int, 4> kDaemonsSignals = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};

class WorkerProcess {
 public:
  /// Runs `command`, whose stdout becomes this process's stderr. Errors: IoError.
  static WorkerProcess start(const std::vector<std::string>& command);

  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&&) = delete;
  /// Kills what still runs, and reaps it.
  ~WorkerProcess();

  /// The daemon's end, once.
  FileHandle take_socket() { return std::move(socket_); }
  pid_t pid() const { return pid_; }
  /// Ends it at once; await_end() still has to reap it. Threads: any.
  void kill() const;
  /// Waits for its end, killing it after `seconds`, and says how it ended: "exited with 3",
  /// "was killed by signal 9 (Killed)".
  std::string await_end(double seconds);

 private:
  WorkerProcess(pid_t pid, FileHandle socket) : pid_(pid), socket_(std::move(socket)) {}

  pid_t pid_ = -1;  ///< -1: reaped
  FileHandle socket_;
};

}  // namespace epochd
