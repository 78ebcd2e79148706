#include "daemon/pipeline/epoch_store.hpp"

#include <unistd.h>

#include <utility>

#include "daemon/log/log.hpp"
#include "daemon/queue/durable.hpp"
#include "prover/core/assert.hpp"

namespace epochd {
namespace {

constexpr u64 kEpochFileBytesMax = u64{1} << 32;

/// The directory must be there before its files are looked for.
const Path& make_durable_directory(FileSystem& fs, const Path& directory) {
  const bool is_new = fs.make_directory(directory);
  // Also when it was there: an attempt that died may have made it and no more.
  fs.sync_directory(directory.parent_path());
  // Nor may what it had just named in there be gone after the next power cut: work goes on from it.
  if (!is_new) fs.sync_directory(directory);
  return directory;
}

}  // namespace

DirectoryEpochStore::DirectoryEpochStore(FileSystem& fs, Path directory, const JobKey& key)
    : fs_(fs),
      directory_(std::move(directory)),
      key_(key),
      checkpoints_(fs_, make_durable_directory(fs_, directory_), key),
      commit_(std::in_place, fs_, directory_) {}

DirectoryEpochStore::~DirectoryEpochStore() {
  commit_.reset();  // makes the rest durable
  try {
    throw_error();
  } catch (const std::exception& error) {
    log::warn("an epoch's proof could not be kept", {{"why", error.what()}});
  }
}

Path DirectoryEpochStore::path_of(u64 label) const {
  return directory_ / label_file_name(label, kEpochSuffix);
}

std::optional<Bytes> DirectoryEpochStore::load(u64 label) {
  const Path path = path_of(label);
  std::string why;
  try {
    if (!fs_.exists(path)) return std::nullopt;
    Bytes file = fs_.read_file(path, kEpochFileBytesMax);
    const auto sealed = open_sealed(SealKind::kEpoch, file);
    if (sealed && sealed->key == key_ && sealed->label == label) {
      file.erase(file.begin(), file.begin() + kSealHeaderBytes);
      return file;
    }
    why = !sealed ? sealed.error() : sealed->key != key_ ? "of another job" : "of another epoch";
  } catch (const IoError& error) {  // every attempt would find it so
    why = error.what();
  }
  log::warn("epoch file cannot be used; the epoch is proved again",
            {{"file", path.string()}, {"why", why}});
  return std::nullopt;
}

void DirectoryEpochStore::save(u64 label, std::span<const u8> bytes) {
  commit_->wait_for_room();
  throw_error();
  GroupCommit::File file = commit_->create(path_of(label));
  try {
    fs_.write(file.file, file.temporary, seal_header(SealKind::kEpoch, label, key_, bytes));
    fs_.write(file.file, file.temporary, bytes);
  } catch (...) {
    remove_quietly(fs_, file.temporary);
    throw;
  }
  file.done = [this, label](const std::exception_ptr& error) {
    if (error) {
      note_error(error);
    } else {
      checkpoints_.epoch_is_durable(label);
    }
  };
  commit_->add(std::move(file));
}

void DirectoryEpochStore::flush() {
  commit_->flush();
  throw_error();
}

void DirectoryEpochStore::note_error(const std::exception_ptr& error) {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = error;
}

void DirectoryEpochStore::throw_error() {
  const std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

SpoolEpochStore::SpoolEpochStore(FileSystem& fs, const Path& directory)
    : fs_(fs), path_(directory / (".epoch-spool-" + std::to_string(::getpid()))) {
  file_ = fs_.create_file(path_);
  fs_.remove_file(path_);
}

std::optional<Bytes> SpoolEpochStore::load(u64 label) {
  Extent extent;
  {
    const std::lock_guard lock(mutex_);
    const auto found = extents_.find(label);
    if (found == extents_.end()) return std::nullopt;
    extent = found->second;
  }
  Bytes bytes(extent.bytes);
  u64 done = 0;
  while (done < extent.bytes) {
    const ssize_t count = ::pread(file_.fd(), bytes.data() + done, extent.bytes - done,
                                  static_cast<off_t>(extent.offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw IoError("read", path_, count == 0 ? EIO : errno);
    done += static_cast<u64>(count);
  }
  return bytes;
}

void SpoolEpochStore::save(u64 label, std::span<const u8> bytes) {
  fs_.write(file_, path_, bytes);
  const std::lock_guard lock(mutex_);
  const bool is_new = extents_.emplace(label, Extent{end_, bytes.size()}).second;
  EPOCHD_ASSERT(is_new);
  end_ += bytes.size();
}

}  // namespace epochd
