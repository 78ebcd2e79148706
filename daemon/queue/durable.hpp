// What survives a power cut: files that are there whole or not at all, and moves that are known to
// last.
#pragma once

#include "daemon/queue/file_system.hpp"

namespace epochd {

/// A file written piece by piece and put in place by commit(): temp, fsync, rename, fsync
/// directory. Without commit() nothing appears, and the temporary file is removed.
class DurableFile {
 public:
  DurableFile(FileSystem& fs, Path path);
  ~DurableFile();
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;

  void append(std::span<const u8> bytes);
  void commit();

 private:
  FileSystem& fs_;
  Path path_;
  Path temporary_;
  FileHandle file_;
  bool is_committed_ = false;
};

/// The suffix of files that were being written: never read, removed by whoever finds them.
constexpr std::string_view kTemporarySuffix = ".part";

void replace_file(FileSystem& fs, const Path& path, std::span<const u8> bytes);
/// Atomic, but not durable: for what is only looked at, such as progress.
void replace_file_in_haste(FileSystem& fs, const Path& path, std::span<const u8> bytes);
/// From an open file, which was at `from`.
void copy_file(FileSystem& fs, const FileHandle& source, const Path& from, const Path& to);
/// For what nobody would read: when it cannot be removed, it stays.
void remove_quietly(FileSystem& fs, const Path& path) noexcept;
/// Removes the file and makes that durable.
void remove_durably(FileSystem& fs, const Path& path);

/// Moves without replacing; when it is done, both directories are durable.
FileSystem::Moved move_no_replace(FileSystem& fs, const Path& from, const Path& to);

}  // namespace epochd
