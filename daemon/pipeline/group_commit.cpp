#include "daemon/pipeline/group_commit.hpp"

#include <utility>

#include "daemon/queue/durable.hpp"

namespace epochd {
namespace {

constexpr std::chrono::milliseconds kGroupTime(250);
/// Files written and not durable; each holds a descriptor.
constexpr size_t kGroupMax = 128;

}  // namespace

GroupCommit::GroupCommit(FileSystem& fs, Path directory)
    : fs_(fs), directory_(std::move(directory)), thread_([this] { run(); }) {}

GroupCommit::~GroupCommit() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

GroupCommit::File GroupCommit::create(const Path& path) const {
  File file{path, path.string() + std::string(kTemporarySuffix), {}, {}};
  file.file = fs_.create_file(file.temporary);
  return file;
}

void GroupCommit::add(File file) {
  const std::lock_guard lock(mutex_);
  if (pending_.empty()) first_added_ = std::chrono::steady_clock::now();
  pending_.push_back(std::move(file));
  changed_.notify_all();
}

void GroupCommit::wait_for_room() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return pending_.size() < kGroupMax; });
}

void GroupCommit::flush() {
  std::unique_lock lock(mutex_);
  is_flushing_ = true;
  changed_.notify_all();
  changed_.wait(lock, [&] { return pending_.empty() && !is_committing_; });
  is_flushing_ = false;
}

void GroupCommit::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return is_ending_ || !pending_.empty(); });
    if (pending_.empty()) return;
    changed_.wait_until(lock, first_added_ + kGroupTime,
                        [&] { return is_ending_ || is_flushing_ || pending_.size() >= kGroupMax; });
    std::vector<File> group = std::exchange(pending_, {});
    is_committing_ = true;
    lock.unlock();
    commit(std::move(group));
    lock.lock();
    is_committing_ = false;
    changed_.notify_all();
  }
}

void GroupCommit::commit(std::vector<File> group) {
  std::vector<std::exception_ptr> errors(group.size());
  // One that fails takes no other with it.
  for (size_t i = 0; i < group.size(); ++i) {
    File& file = group[i];
    try {
      fs_.sync_file(file.file, file.temporary);
      file.file = FileHandle();
      fs_.rename_replace(file.temporary, file.path);
    } catch (...) {
      errors[i] = std::current_exception();
      remove_quietly(fs_, file.temporary);
    }
  }
  try {
    fs_.sync_directory(directory_);
  } catch (...) {
    for (std::exception_ptr& error : errors) {
      if (!error) error = std::current_exception();
    }
  }
  for (size_t i = 0; i < group.size(); ++i) group[i].done(errors[i]);
}

}  // namespace epochd
