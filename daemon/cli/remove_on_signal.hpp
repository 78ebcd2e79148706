// Files that must not stay behind when the user presses Ctrl-C.
#pragma once

#include <csignal>
#include <thread>
#include <vector>

#include "daemon/queue/file_system.hpp"

namespace epochd {

/// While it lives, SIGINT, SIGTERM and SIGHUP remove the files and then end the process as they
/// would have. A thread of its own waits for them, because nothing is safe in a handler. Pre: the
/// process has no other threads yet: those started later leave these signals alone, as does every
/// process they start, which therefore has to end when its channel does.
class RemoveOnSignal {
 public:
  explicit RemoveOnSignal(std::vector<Path> files);
  ~RemoveOnSignal();
  RemoveOnSignal(const RemoveOnSignal&) = delete;
  RemoveOnSignal& operator=(const RemoveOnSignal&) = delete;

 private:
  void run(const sigset_t& handled);

  std::vector<Path> files_;
  sigset_t before_{};
  FileHandle signals_;
  FileHandle over_;  ///< readable when the destructor wants the thread to end
  std::thread thread_;
};

}  // namespace epochd
