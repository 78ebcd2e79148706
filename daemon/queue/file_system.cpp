#include "daemon/queue/file_system.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <utility>

namespace epochd {
namespace {

constexpr int kFileMode = 0600;
constexpr int kDirectoryMode = 0700;

[[noreturn]] void fail(const char* operation, const Path& path, int code = errno) {
  throw IoError(operation, path, code);
}

Entry to_entry(std::string name, const struct ::stat& status) {
  Entry entry;
  entry.name = std::move(name);
  if (S_ISREG(status.st_mode)) entry.kind = Entry::Kind::kFile;
  if (S_ISDIR(status.st_mode)) entry.kind = Entry::Kind::kDirectory;
  entry.inode = status.st_ino;
  entry.bytes = static_cast<u64>(status.st_size);
  entry.mtime_ns = i64{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  return entry;
}

}  // namespace

FileHandle& FileHandle::operator=(FileHandle&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = other.release();
  }
  return *this;
}

FileHandle::~FileHandle() {
  if (fd_ >= 0) ::close(fd_);
}

int FileHandle::release() {
  return std::exchange(fd_, -1);
}

void FileSystem::before(Step, const Path&) {}

ssize_t FileSystem::read_once(const FileHandle& file, std::span<u8> bytes) {
  return ::read(file.fd(), bytes.data(), bytes.size());
}

ssize_t FileSystem::write_once(const FileHandle& file, std::span<const u8> bytes) {
  return ::write(file.fd(), bytes.data(), bytes.size());
}

FileHandle FileSystem::create_file(const Path& path) {
  before(Step::kCreateFile, path);
  const int flags = O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
  FileHandle file(::open(path.c_str(), flags, kFileMode));
  if (!file.is_open()) fail("create", path);
  return file;
}

void FileSystem::write(const FileHandle& file, const Path& path, std::span<const u8> bytes) {
  before(Step::kWrite, path);
  while (!bytes.empty()) {
    const ssize_t count = write_once(file, bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("write", path);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
}

void FileSystem::sync_file(const FileHandle& file, const Path& path) {
  before(Step::kSyncFile, path);
  // After a failed fsync the pages may be gone although a second call would succeed: never
  // repeated.
  if (::fsync(file.fd()) != 0) fail("make durable (fsync)", path);
}

void FileSystem::sync_directory(const Path& path) {
  before(Step::kSyncDirectory, path);
  const FileHandle directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.is_open()) fail("open", path);
  if (::fsync(directory.fd()) != 0) fail("make durable (fsync)", path);
}

void FileSystem::rename_replace(const Path& from, const Path& to) {
  before(Step::kRename, to);
  if (::rename(from.c_str(), to.c_str()) != 0) fail("rename to", to);
}

FileSystem::Moved FileSystem::rename_no_replace(const Path& from, const Path& to) {
  before(Step::kRename, to);
  const long result =
      ::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE);
  if (result == 0) return Moved::kYes;
  if (errno == EEXIST) return Moved::kTargetExists;
  if (errno == ENOENT) return Moved::kSourceGone;
  fail("rename to", to);
}

void FileSystem::link(const Path& from, const Path& to) {
  before(Step::kLink, to);
  if (::link(from.c_str(), to.c_str()) != 0) fail("link to", to);
}

bool FileSystem::make_directory(const Path& path) {
  before(Step::kMakeDirectory, path);
  if (::mkdir(path.c_str(), kDirectoryMode) == 0) return true;
  if (errno != EEXIST) fail("create the directory", path);
  const auto there = stat(path);
  if (!there || there->kind != Entry::Kind::kDirectory) {
    fail("create the directory", path, ENOTDIR);
  }
  return false;
}

void FileSystem::remove_file(const Path& path) {
  before(Step::kRemove, path);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail("remove", path);
}

void FileSystem::remove_tree(const Path& path) {
  before(Step::kRemove, path);
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) fail("remove", path, error.value());
}

FileHandle FileSystem::open_for_reading(const Path& path, Links links) {
  // O_NONBLOCK: a FIFO put in place of a file must not hang the daemon.
  const int follow = links == Links::kFollow ? 0 : O_NOFOLLOW;
  const int flags = O_RDONLY | follow | O_CLOEXEC | O_NONBLOCK;
  FileHandle file(::open(path.c_str(), flags));
  if (!file.is_open()) fail("open", path);
  struct ::stat status {};
  if (::fstat(file.fd(), &status) != 0) fail("look at", path);
  if (S_ISDIR(status.st_mode)) fail("read", path, EISDIR);
  if (!S_ISREG(status.st_mode)) fail("read, as it is not a regular file,", path, EINVAL);
  return file;
}

size_t FileSystem::read_some(const FileHandle& file, const Path& path, std::span<u8> bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = read_once(file, bytes.subspan(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("read", path);
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  return done;
}

u64 FileSystem::file_bytes(const FileHandle& file, const Path& path) {
  struct ::stat status {};
  if (::fstat(file.fd(), &status) != 0) fail("look at", path);
  return static_cast<u64>(status.st_size);
}

Bytes FileSystem::read_file(const Path& path, u64 bytes_max, Links links) {
  const FileHandle file = open_for_reading(path, links);
  const u64 count = file_bytes(file, path);
  if (count > bytes_max) fail("read", path, EFBIG);
  Bytes bytes(static_cast<size_t>(count));
  bytes.resize(read_some(file, path, bytes));
  return bytes;
}

Bytes FileSystem::read_prefix(const Path& path, u64 bytes_max, Links links) {
  const FileHandle file = open_for_reading(path, links);
  Bytes bytes(static_cast<size_t>(std::min(file_bytes(file, path), bytes_max)));
  bytes.resize(read_some(file, path, bytes));
  return bytes;
}

std::string FileSystem::read_text(const Path& path, u64 bytes_max, Links links) {
  const Bytes bytes = read_file(path, bytes_max, links);
  return {bytes.begin(), bytes.end()};
}

std::vector<Entry> FileSystem::list(const Path& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), ::closedir);
  if (!directory) fail("list", path);
  std::vector<Entry> entries;
  errno = 0;
  while (const dirent* item = ::readdir(directory.get())) {
    const std::string name = item->d_name;
    struct ::stat status {};
    const bool is_self = name == "." || name == "..";
    if (!is_self &&
        ::fstatat(::dirfd(directory.get()), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
      entries.push_back(to_entry(name, status));
    }
    errno = 0;  // an entry that vanished meanwhile is no error
  }
  if (errno != 0) fail("list", path);
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

std::optional<Entry> FileSystem::stat(const Path& path) {
  struct ::stat status {};
  if (::lstat(path.c_str(), &status) == 0) return to_entry(path.filename().string(), status);
  if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
  fail("look at", path);
}

bool FileSystem::is_denied(const Path& directory) {
  constexpr int kWanted = R_OK | W_OK | X_OK;
  constexpr int kFlags = AT_EACCESS | AT_SYMLINK_NOFOLLOW;
  return ::faccessat(AT_FDCWD, directory.c_str(), kWanted, kFlags) != 0 && errno == EACCES;
}

bool FileSystem::is_being_written(const Path& path) {
  const FileHandle file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return false;
  // A read lease is refused while anyone has the file open for writing. Should somebody open it
  // just then, the kernel signals us: SIGURG, which is ignored by default.
  ::fcntl(file.fd(), F_SETSIG, SIGURG);
  if (::fcntl(file.fd(), F_SETLEASE, F_RDLCK) == 0) {
    ::fcntl(file.fd(), F_SETLEASE, F_UNLCK);
    return false;
  }
  return errno == EAGAIN;
}

}  // namespace epochd
