// Who a queue belongs to: the user whose daemon serves it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

#include "daemon/queue/file_system.hpp"

namespace epochd {

/// While it lives, a process of root acts as the owner of the queue's directory. What root puts
/// there is then the daemon's to read, move and remove, and a link that the owner laid leads root
/// nowhere the owner may not go. Nothing for other users, or where there is no directory.
/// Errors: IoError. Threads: for the whole process; open what only root may read before.
class AsQueueOwner {
 public:
  explicit AsQueueOwner(const Path& root);
  ~AsQueueOwner();
  AsQueueOwner(const AsQueueOwner&) = delete;
  AsQueueOwner& operator=(const AsQueueOwner&) = delete;

 private:
  std::optional<std::vector<::gid_t>> groups_;  ///< root's, where it acts as somebody else
  ::gid_t group_ = 0;
};

}  // namespace epochd
