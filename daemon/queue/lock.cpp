#include "daemon/queue/lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "daemon/queue/layout.hpp"

namespace epochd {
namespace {

constexpr int kTries = 20;
constexpr std::chrono::milliseconds kPause{25};

bool try_lock(const FileHandle& file, int kind, const Path& path) {
  if (::flock(file.fd(), kind | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK) return false;
  throw IoError("lock", path, errno);
}

/// Who holds the lock, as written by the holder: for the message only, never for a decision.
std::string holder(const FileHandle& file) {
  char text[128];
  const ssize_t count = ::pread(file.fd(), text, sizeof(text) - 1, 0);
  return count > 0 ? std::string(text, static_cast<size_t>(count)) : "unknown process";
}

}  // namespace

QueueLock::QueueLock(const Path& root) {
  const Path path = root / kLockName;
  file_ = FileHandle(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file_.is_open()) throw IoError("open", path, errno);
  for (int i = 0; !try_lock(file_, LOCK_EX, path); ++i) {
    if (i == kTries) {
      throw QueueBusy("the queue '" + root.string() + "' is already served by another epochd (" +
                      holder(file_) + "); stop that one, or give this one another --queue");
    }
    std::this_thread::sleep_for(kPause);
  }
  const std::string self = "pid " + std::to_string(::getpid());
  // A full disk must not keep the daemon from starting: the lock holds without the name.
  if (::ftruncate(file_.fd(), 0) != 0) return;
  [[maybe_unused]] const ssize_t written = ::pwrite(file_.fd(), self.data(), self.size(), 0);
}

bool is_queue_served(const Path& root) {
  const Path path = root / kLockName;
  const FileHandle file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file.is_open()) return false;
  return !try_lock(file, LOCK_SH, path);
}

}  // namespace epochd
