#include "daemon/queue/owner.hpp"

#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "prover/core/assert.hpp"

namespace epochd {

AsQueueOwner::AsQueueOwner(const Path& root) : group_(::getegid()) {
  struct ::stat status {};
  if (::geteuid() != 0 || ::stat(root.c_str(), &status) != 0 || status.st_uid == 0) return;
  const int count = ::getgroups(0, nullptr);
  if (count < 0) throw IoError("act as the owner of", root, errno);
  std::vector<::gid_t> groups(static_cast<size_t>(count));
  if (::getgroups(count, groups.data()) < 0) throw IoError("act as the owner of", root, errno);
  // The user last: it takes the right to change the others away.
  if (::setgroups(1, &status.st_gid) != 0) throw IoError("act as the owner of", root, errno);
  groups_ = std::move(groups);
  if (::setegid(status.st_gid) != 0 || ::seteuid(status.st_uid) != 0) {
    throw IoError("act as the owner of", root, errno);
  }
}

AsQueueOwner::~AsQueueOwner() {
  if (!groups_) return;
  // Whoever was root may be root again; anything else would go on with the wrong rights.
  EPOCHD_ASSERT(::seteuid(0) == 0);
  EPOCHD_ASSERT(::setegid(group_) == 0);
  EPOCHD_ASSERT(::setgroups(groups_->size(), groups_->data()) == 0);
}

}  // namespace epochd
