// A system of its own to try the service in: this one's systemd as PID 1 of private namespaces,
// over a copy of the root file system that is only in memory.
#pragma once

#include <memory>

#include "tests/e2e/support.hpp"

namespace epochd::e2e {

class Machine {
 public:
  /// Boots. `directory` is the test's own; nothing of what happens there outlives this.
  explicit Machine(const Path& directory);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Why there can be none here; empty when it is up. A system that was begun and does not come up
  /// is a failure, which is told.
  const std::string& missing() const { return missing_; }

  /// Runs a command in it, as root.
  Outcome run(const Strings& command) const;
  /// The same through a shell; the output, without the newline at its end. Expects exit code 0.
  std::string shell(const std::string& command) const;
  /// Where a file of it is, seen from here.
  Path path(const std::string& file) const { return root_ / file.substr(1); }

 private:
  void boot();
  void leave_group() const;

  Path directory_, root_;
  std::string missing_;
  std::unique_ptr<Process> namespaces_;
  std::string pid_;  ///< of its PID 1
};

}  // namespace epochd::e2e
