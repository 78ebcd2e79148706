// One daemon per queue: an exclusive flock, released by the kernel however the process ends.
#pragma once

#include <optional>
#include <stdexcept>

#include "daemon/queue/file_system.hpp"

namespace epochd {

class QueueBusy : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class QueueLock {
 public:
  /// Errors: QueueBusy when another process holds it (after a short wait, for `is_held` takes it
  /// for an instant); IoError.
  explicit QueueLock(const Path& root);

 private:
  FileHandle file_;
};

/// Is a daemon serving this queue now?
bool is_queue_served(const Path& root);

}  // namespace epochd
