// A failed file operation: which, on what, and why.
#pragma once

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace epochd {

class IoError : public std::runtime_error {
 public:
  IoError(const std::string& operation, const std::filesystem::path& path, int code)
      : std::runtime_error("cannot " + operation + " '" + path.string() +
                           "': " + std::strerror(code)),
        code_(code) {}

  int code() const { return code_; }
  /// The disk or the user's share of it is full: nobody's fault, passes by itself.
  bool is_disk_full() const { return code_ == ENOSPC || code_ == EDQUOT; }

 private:
  int code_;
};

}  // namespace epochd
