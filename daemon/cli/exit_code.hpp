// Exit codes are a contract with scripts (docs/operations.md section 1).
#pragma once

#include <stdexcept>

namespace epochd {

enum class ExitCode : int {
  kOk = 0,
  kNo = 1,     ///< the answer is no: invalid proof, guest fault, failed job
  kUsage = 2,  ///< wrong usage, configuration, or a file that cannot be what it was given for
  kIo = 3,     ///< I/O or device failure
};

/// Ends a command with kUsage.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Ends a command with kNo.
class NegativeAnswer : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace epochd
