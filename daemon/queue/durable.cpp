#include "daemon/queue/durable.hpp"

#include "prover/core/assert.hpp"

namespace epochd {
namespace {

Path temporary_of(const Path& path) {
  return path.string() + std::string(kTemporarySuffix);
}

}  // namespace

DurableFile::DurableFile(FileSystem& fs, Path path)
    : fs_(fs),
      path_(std::move(path)),
      temporary_(temporary_of(path_)),
      file_(fs.create_file(temporary_)) {}

DurableFile::~DurableFile() {
  if (!is_committed_) remove_quietly(fs_, temporary_);
}

void DurableFile::append(std::span<const u8> bytes) {
  EPOCHD_ASSERT(!is_committed_);
  fs_.write(file_, temporary_, bytes);
}

void DurableFile::commit() {
  EPOCHD_ASSERT(!is_committed_);
  fs_.sync_file(file_, temporary_);
  fs_.rename_replace(temporary_, path_);
  is_committed_ = true;
  fs_.sync_directory(path_.parent_path());
}

void replace_file(FileSystem& fs, const Path& path, std::span<const u8> bytes) {
  DurableFile file(fs, path);
  file.append(bytes);
  file.commit();
}

void replace_file_in_haste(FileSystem& fs, const Path& path, std::span<const u8> bytes) {
  const Path temporary = temporary_of(path);
  fs.write(fs.create_file(temporary), temporary, bytes);
  fs.rename_replace(temporary, path);
}

void copy_file(FileSystem& fs, const FileHandle& source, const Path& from, const Path& to) {
  constexpr size_t kPieceBytes = 1 << 20;
  DurableFile target(fs, to);
  Bytes piece(kPieceBytes);
  while (const size_t count = fs.read_some(source, from, piece)) {
    target.append(std::span<const u8>(piece).first(count));
  }
  target.commit();
}

void remove_quietly(FileSystem& fs, const Path& path) noexcept {
  try {
    fs.remove_file(path);
  } catch (...) {
  }
}

void remove_durably(FileSystem& fs, const Path& path) {
  fs.remove_file(path);
  fs.sync_directory(path.parent_path());
}

FileSystem::Moved move_no_replace(FileSystem& fs, const Path& from, const Path& to) {
  const FileSystem::Moved moved = fs.rename_no_replace(from, to);
  if (moved != FileSystem::Moved::kYes) return moved;
  // The target first: a cut between the two shows the entry twice or once, never not at all.
  fs.sync_directory(to.parent_path());
  if (from.parent_path() != to.parent_path()) fs.sync_directory(from.parent_path());
  return moved;
}

}  // namespace epochd
