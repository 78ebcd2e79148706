// Every file operation of the queue, one thin call each. Tests derive from it and let a chosen step
// fail or stop the world, or put another disk in its place; the product uses it as it is.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/queue/io_error.hpp"
#include "prover/core/types.hpp"

namespace epochd {

using Path = std::filesystem::path;
using Bytes = std::vector<u8>;

/// An owned file descriptor.
class FileHandle {
 public:
  FileHandle() = default;
  explicit FileHandle(int fd) : fd_(fd) {}
  FileHandle(FileHandle&& other) noexcept : fd_(other.release()) {}
  FileHandle& operator=(FileHandle&& other) noexcept;
  ~FileHandle();

  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  int release();

 private:
  int fd_ = -1;
};

struct Entry {
  enum class Kind : u8 { kFile, kDirectory, kOther };
  std::string name;
  Kind kind = Kind::kOther;
  u64 inode = 0;
  u64 bytes = 0;
  i64 mtime_ns = 0;
};

/// Whether a symbolic link is followed: in a path a user gave, yes; in a job somebody dropped,
/// never.
enum class Links : u8 { kRefuse, kFollow };

class FileSystem {
 public:
  /// What changes something on disk. before() is called ahead of each.
  enum class Step : u8 {
    kCreateFile,
    kWrite,
    kSyncFile,
    kRename,
    kLink,
    kSyncDirectory,
    kMakeDirectory,
    kRemove,
  };

  virtual ~FileSystem() = default;

  // All throw IoError. Symbolic links are not followed at the last component unless asked for.

  /// Creates (or empties) a file of mode 0600.
  virtual FileHandle create_file(const Path& path);
  void write(const FileHandle& file, const Path& path, std::span<const u8> bytes);
  virtual void sync_file(const FileHandle& file, const Path& path);
  virtual void sync_directory(const Path& path);
  /// Replaces `to`.
  virtual void rename_replace(const Path& from, const Path& to);
  enum class Moved : u8 { kYes, kTargetExists, kSourceGone };
  /// Never replaces `to`: of several that race, one wins.
  virtual Moved rename_no_replace(const Path& from, const Path& to);
  virtual void link(const Path& from, const Path& to);
  /// Creates a directory of mode 0700; false when it is already there.
  virtual bool make_directory(const Path& path);
  /// A file that is not there is no error.
  virtual void remove_file(const Path& path);
  virtual void remove_tree(const Path& path);

  virtual FileHandle open_for_reading(const Path& path, Links links = Links::kRefuse);
  virtual u64 file_bytes(const FileHandle& file, const Path& path);
  /// Reads up to `bytes.size()` bytes; returns how many.
  size_t read_some(const FileHandle& file, const Path& path, std::span<u8> bytes);
  /// Errors: EFBIG when the file is longer than bytes_max.
  Bytes read_file(const Path& path, u64 bytes_max, Links links = Links::kRefuse);
  /// At most the first bytes_max bytes.
  Bytes read_prefix(const Path& path, u64 bytes_max, Links links = Links::kRefuse);
  std::string read_text(const Path& path, u64 bytes_max, Links links = Links::kRefuse);
  /// Entries but "." and "..", sorted by name.
  virtual std::vector<Entry> list(const Path& path);
  virtual std::optional<Entry> stat(const Path& path);
  bool exists(const Path& path) { return stat(path).has_value(); }
  /// True when another user's directory may not be read, changed and moved by this one.
  virtual bool is_denied(const Path& directory);
  /// True while some process has the file open for writing. False where the system cannot tell.
  virtual bool is_being_written(const Path& path);

 protected:
  virtual void before(Step step, const Path& path);
  /// As read(2) and write(2): some of the bytes, or -1 and errno.
  virtual ssize_t read_once(const FileHandle& file, std::span<u8> bytes);
  virtual ssize_t write_once(const FileHandle& file, std::span<const u8> bytes);
};

inline std::span<const u8> as_bytes(const std::string& text) {
  return {reinterpret_cast<const u8*>(text.data()), text.size()};
}

}  // namespace epochd
