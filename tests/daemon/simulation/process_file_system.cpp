#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "daemon/queue/layout.hpp"
#include "tests/daemon/simulation/disk.hpp"

namespace epochd::simulation {
namespace {

constexpr double kStep_s = 50e-6;
constexpr double kSync_s = 2e-3;
constexpr double kSlow_s = 1;
constexpr u64 kShortOneIn = 8;
/// While the disk is full, a write finds a last bit of room now and then.
constexpr u64 kRoomOneIn = 4;

/// A descriptor of its own for every open file: FileHandle closes it.
int new_descriptor() {
  static const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  return ::fcntl(null, F_DUPFD_CLOEXEC, 0);
}

}  // namespace

ProcessFileSystem::ProcessFileSystem(Disk& disk, Process& process, const FaultRates& faults,
                                     DiskWatcher& watcher)
    : disk_(disk), process_(process), faults_(faults), watcher_(watcher) {}

void ProcessFileSystem::enter(const char* what, const Path& path) {
  Scheduler& scheduler = disk_.scheduler();
  scheduler.point();
  scheduler.spend(kStep_s);
  if (faults_.slow != 0 && scheduler.once_in(faults_.slow)) scheduler.sleep(kSlow_s);
  if (!process_.is_alive) throw Crashed();
  watcher_.step(process_, what, path);
  if (++process_.steps < process_.dies_at_step) return;
  process_.is_alive = false;
  watcher_.process_died(process_);
  throw Crashed();
}

void ProcessFileSystem::maybe_fail(u64 one_in, const char* operation, const Path& path) {
  if (one_in == 0 || !disk_.scheduler().once_in(one_in)) return;
  watcher_.fault_injected(process_, path, EIO);
  throw IoError(operation, path, EIO);
}

void ProcessFileSystem::require_room(const char* operation, const Path& path) {
  if (!disk_.is_full) return;
  watcher_.fault_injected(process_, path, ENOSPC);
  throw IoError(operation, path, ENOSPC);
}

Disk::Inode ProcessFileSystem::require(const char* operation, const Path& path) const {
  const auto inode = disk_.find(path);
  if (!inode) throw IoError(operation, path, ENOENT);
  return *inode;
}

FileHandle ProcessFileSystem::open(Disk::Inode inode, const Path& path) {
  FileHandle file(new_descriptor());
  open_[file.fd()] = {inode, 0, path};
  return file;
}

FileHandle ProcessFileSystem::create_file(const Path& path) {
  enter("create", path);
  require("create", path.parent_path());
  const auto there = disk_.find(path);
  if (!there) {
    require_room("create", path);
    return open(disk_.create(path, false), path);
  }
  Disk::Node& node = disk_.node(*there);
  node.bytes.clear();
  node.is_dirty = true;
  node.is_lost = false;
  node.is_unreadable = false;
  disk_.touch(*there);
  return open(*there, path);
}

ssize_t ProcessFileSystem::write_once(const FileHandle& file, std::span<const u8> bytes) {
  Open& open = open_.at(file.fd());
  enter("write", {});
  maybe_fail(faults_.write, "write", open.path);
  if (disk_.is_full && !disk_.scheduler().once_in(kRoomOneIn)) {
    watcher_.fault_injected(process_, open.path, ENOSPC);
    errno = ENOSPC;
    return -1;
  }
  size_t count = bytes.size();
  if (disk_.scheduler().once_in(kShortOneIn)) count = 1 + disk_.scheduler().pick(count);
  Disk::Node& node = disk_.node(open.inode);
  node.bytes.resize(std::max(node.bytes.size(), open.offset + count));
  std::copy_n(bytes.begin(), count, node.bytes.begin() + static_cast<ptrdiff_t>(open.offset));
  open.offset += count;
  node.is_dirty = true;
  disk_.touch(open.inode);
  return static_cast<ssize_t>(count);
}

ssize_t ProcessFileSystem::read_once(const FileHandle& file, std::span<u8> bytes) {
  Open& open = open_.at(file.fd());
  const Bytes& from = disk_.node(open.inode).bytes;
  size_t count = std::min(bytes.size(), from.size() - std::min(from.size(), open.offset));
  if (count > 1 && disk_.scheduler().once_in(kShortOneIn)) {
    count = 1 + disk_.scheduler().pick(count - 1);
  }
  std::copy_n(from.begin() + static_cast<ptrdiff_t>(open.offset), count, bytes.begin());
  open.offset += count;
  return static_cast<ssize_t>(count);
}

void ProcessFileSystem::sync_file(const FileHandle& file, const Path& path) {
  enter("fsync", path);
  disk_.scheduler().spend(kSync_s);
  const Disk::Inode inode = open_.at(file.fd()).inode;
  if (disk_.node(inode).is_lost) watcher_.synced_again(process_, path);
  try {
    maybe_fail(faults_.fsync, "make durable (fsync)", path);
  } catch (const IoError&) {
    disk_.node(inode).is_lost = true;
    throw;
  }
  disk_.sync_file(inode);
}

void ProcessFileSystem::sync_directory(const Path& path) {
  enter("fsync directory", path);
  disk_.scheduler().spend(kSync_s);
  const Disk::Inode inode = require("open", path);
  maybe_fail(faults_.fsync, "make durable (fsync)", path);
  disk_.sync_directory(inode);
}

void ProcessFileSystem::rename_replace(const Path& from, const Path& to) {
  enter("rename", to);
  maybe_fail(faults_.rename, "rename to", to);
  const Disk::Node& node = disk_.node(require("rename to", from));
  require("rename to", to.parent_path());
  watcher_.naming(process_, to, node.bytes == node.durable_bytes);
  disk_.rename(from, to);
}

FileSystem::Moved ProcessFileSystem::rename_no_replace(const Path& from, const Path& to) {
  enter("move", to);
  maybe_fail(faults_.rename, "rename to", to);
  if (!disk_.find(from) || !disk_.find(to.parent_path())) return Moved::kSourceGone;
  if (disk_.find(to)) return Moved::kTargetExists;
  disk_.rename(from, to);
  return Moved::kYes;
}

void ProcessFileSystem::link(const Path& from, const Path& to) {
  enter("link", to);
  require_room("link to", to);
  require("link to", from);
  require("link to", to.parent_path());
  if (disk_.find(to)) throw IoError("link to", to, EEXIST);
  disk_.link(from, to);
}

bool ProcessFileSystem::make_directory(const Path& path) {
  enter("mkdir", path);
  if (disk_.find(path)) return false;
  require("create the directory", path.parent_path());
  require_room("create the directory", path);
  disk_.create(path, true);
  return true;
}

void ProcessFileSystem::remove_file(const Path& path) {
  enter("unlink", path);
  maybe_fail(faults_.rename, "remove", path);
  if (disk_.find(path)) disk_.remove(path);
}

void ProcessFileSystem::remove_tree(const Path& path) {
  enter("remove", path);
  maybe_fail(faults_.rename, "remove", path);
  if (disk_.find(path)) remove_below(path);
}

void ProcessFileSystem::remove_below(const Path& path) {
  const auto entries = disk_.node(require("remove", path)).entries;
  for (const auto& [name, unused] : entries) remove_below(path / name);
  enter("remove", path);
  if (disk_.find(path)) disk_.remove(path);
}

FileHandle ProcessFileSystem::open_for_reading(const Path& path, Links) {
  enter("open", path);
  const Disk::Inode inode = require("open", path);
  Disk::Node& node = disk_.node(inode);
  if (node.is_directory) throw IoError("read", path, EISDIR);
  if (node.is_unreadable) throw IoError("read", path, EIO);
  try {
    maybe_fail(faults_.read, "read", path);
  } catch (const IoError&) {
    // What can be made again; without the others nothing can be done.
    const bool is_replaceable = path.parent_path().filename() == kEpochsName;
    node.is_unreadable = is_replaceable && disk_.scheduler().once_in(2);
    throw;
  }
  return open(inode, path);
}

u64 ProcessFileSystem::file_bytes(const FileHandle& file, const Path&) {
  return disk_.node(open_.at(file.fd()).inode).bytes.size();
}

Entry ProcessFileSystem::entry_of(const std::string& name, Disk::Inode inode) const {
  const Disk::Node& node = disk_.node(inode);
  const Entry::Kind kind = node.is_directory ? Entry::Kind::kDirectory : Entry::Kind::kFile;
  return {name, kind, inode, node.bytes.size(), node.mtime_ns};
}

std::vector<Entry> ProcessFileSystem::list(const Path& path) {
  enter("list", path);
  maybe_fail(faults_.read, "list", path);
  std::vector<Entry> entries;
  for (const auto& [name, inode] : disk_.node(require("list", path)).entries) {
    entries.push_back(entry_of(name, inode));
  }
  return entries;
}

std::optional<Entry> ProcessFileSystem::stat(const Path& path) {
  enter("stat", path);
  const auto inode = disk_.find(path);
  if (!inode) return std::nullopt;
  return entry_of(path.filename().string(), *inode);
}

bool ProcessFileSystem::is_being_written(const Path& path) {
  const auto inode = disk_.find(path);
  return inode && disk_.being_written.count(*inode) != 0;
}

}  // namespace epochd::simulation
