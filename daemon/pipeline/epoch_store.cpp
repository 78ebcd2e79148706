#include "daemon/pipeline/epoch_store.hpp"

#include <unistd.h>

#include <cstring>
#include <utility>

#include "daemon/log/log.hpp"
#include "daemon/queue/durable.hpp"
#include "prover/core/assert.hpp"
#include "prover/hash/blake3.hpp"

namespace epochd {
namespace {

constexpr u64 kEpochFileBytesMax = u64{1} << 32;
constexpr std::chrono::milliseconds kGroupTime(250);
/// Files written and not durable; each holds a descriptor.
constexpr size_t kGroupMax = 128;

struct Header {
  char magic[8];
  u64 label;
  u64 payload_bytes;
  u8 key[32];
  u8 checksum[32];  ///< of everything above and of the payload
};
static_assert(sizeof(Header) == 88);
constexpr char kMagic[8] = {'e', 'p', 'o', 'c', 'h', 'd', 'E', '1'};

prover::Digest checksum_of(const Header& header, std::span<const u8> payload) {
  prover::Blake3 hasher;
  hasher.update(&header, offsetof(Header, checksum));
  hasher.update(payload.data(), payload.size());
  return hasher.digest();
}

Header make_header(u64 label, const JobKey& key, std::span<const u8> payload) {
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.label = label;
  header.payload_bytes = payload.size();
  std::memcpy(header.key, key.data(), key.size());
  const prover::Digest checksum = checksum_of(header, payload);
  std::memcpy(header.checksum, &checksum, sizeof(header.checksum));
  return header;
}

/// Why the file cannot be used; nothing if it can.
const char* find_damage(std::span<const u8> file, u64 label, const JobKey& key) {
  if (file.size() < sizeof(Header)) return "too short";
  Header header;
  std::memcpy(&header, file.data(), sizeof(header));
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0) return "of another kind or version";
  const Header expected = make_header(label, key, file.subspan(sizeof(Header)));
  if (header.payload_bytes != expected.payload_bytes) return "cut short or too long";
  if (std::memcmp(header.key, expected.key, sizeof(header.key)) != 0) return "of another job";
  if (header.label != label) return "of another epoch";
  if (std::memcmp(&header, &expected, sizeof(header)) != 0) return "damaged";
  return nullptr;
}

/// What stays behind has the suffix that nobody reads.
void remove_quietly(const Path& path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

}  // namespace

DirectoryEpochStore::DirectoryEpochStore(FileSystem& fs, Path directory, const JobKey& key)
    : fs_(fs), directory_(std::move(directory)), key_(key) {
  if (fs_.make_directory(directory_)) fs_.sync_directory(directory_.parent_path());
  thread_ = std::thread([this] { run(); });
}

DirectoryEpochStore::~DirectoryEpochStore() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
  try {
    throw_error();
  } catch (const std::exception& error) {
    log::warn("an epoch's proof could not be kept", {{"why", error.what()}});
  }
}

Path DirectoryEpochStore::path_of(u64 label) const {
  char name[32];
  std::snprintf(name, sizeof(name), "%08llu.epoch", static_cast<unsigned long long>(label));
  return directory_ / name;
}

std::optional<Bytes> DirectoryEpochStore::load(u64 label) {
  const Path path = path_of(label);
  if (!fs_.exists(path)) return std::nullopt;
  Bytes file = fs_.read_file(path, kEpochFileBytesMax);
  if (const char* damage = find_damage(file, label, key_)) {
    log::warn("epoch file cannot be used; the epoch is proved again",
              {{"file", path.string()}, {"why", damage}});
    return std::nullopt;
  }
  file.erase(file.begin(), file.begin() + sizeof(Header));
  return file;
}

void DirectoryEpochStore::save(u64 label, std::span<const u8> bytes) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return pending_.size() < kGroupMax; });
  }
  throw_error();
  const Header header = make_header(label, key_, bytes);
  Pending file{path_of(label), path_of(label).string() + std::string(kTemporarySuffix), {}};
  try {
    file.file = fs_.create_file(file.temporary);
    fs_.write(file.file, file.temporary, {reinterpret_cast<const u8*>(&header), sizeof(header)});
    fs_.write(file.file, file.temporary, bytes);
  } catch (...) {
    remove_quietly(file.temporary);
    throw;
  }
  const std::lock_guard lock(mutex_);
  if (pending_.empty()) first_saved_ = std::chrono::steady_clock::now();
  pending_.push_back(std::move(file));
  changed_.notify_all();
}

void DirectoryEpochStore::flush() {
  {
    std::unique_lock lock(mutex_);
    is_flushing_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return pending_.empty() && !is_committing_; });
    is_flushing_ = false;
  }
  throw_error();
}

void DirectoryEpochStore::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return is_ending_ || !pending_.empty(); });
    if (pending_.empty()) return;
    changed_.wait_until(lock, first_saved_ + kGroupTime,
                        [&] { return is_ending_ || is_flushing_ || pending_.size() >= kGroupMax; });
    std::vector<Pending> group = std::exchange(pending_, {});
    is_committing_ = true;
    lock.unlock();
    commit(std::move(group));
    lock.lock();
    is_committing_ = false;
    changed_.notify_all();
  }
}

void DirectoryEpochStore::commit(std::vector<Pending> group) {
  // One that fails takes no other with it.
  for (Pending& file : group) {
    try {
      fs_.sync_file(file.file, file.temporary);
      file.file = FileHandle();
      fs_.rename_replace(file.temporary, file.path);
    } catch (...) {
      note_error();
      remove_quietly(file.temporary);
    }
  }
  try {
    fs_.sync_directory(directory_);
  } catch (...) {
    note_error();
  }
}

void DirectoryEpochStore::note_error() {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::current_exception();
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
