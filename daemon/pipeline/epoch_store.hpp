// Where proved epochs wait for the global proof: durable files in a job's directory, or a nameless
// spool.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "daemon/queue/file_system.hpp"

namespace epochd {

/// Identifies what is proved: program, input and protocol parameters.
using JobKey = std::array<u8, 32>;

class EpochStore {
 public:
  virtual ~EpochStore() = default;
  /// The bytes saved for the label; nothing if there are none, or they are damaged (then the log
  /// says so). Pre: it is not being saved; what was saved here was flushed. Threads: any.
  virtual std::optional<Bytes> load(u64 label) = 0;
  /// Threads: one at a time.
  virtual void save(u64 label, std::span<const u8> bytes) = 0;
  /// When it returns, all that was saved is as durable as this store makes it.
  virtual void flush() = 0;
};

/// epochs/00000001.epoch, ... Each file carries its label, the job's key and a checksum: a file cut
/// short, damaged, or of another job or version is not taken for a proof.
///
/// Making a file durable takes longer than proving a small epoch, and several take little longer
/// than one. So save() writes a file under a temporary name, and a quarter of a second after the
/// first of a group, or when asked to flush, a thread makes the group durable: fsync each, rename
/// each, fsync the directory once. What kill -9 or a power cut takes is the group under way.
class DirectoryEpochStore : public EpochStore {
 public:
  DirectoryEpochStore(FileSystem& fs, Path directory, const JobKey& key);
  /// Makes durable what was saved; what cannot be, the log says.
  ~DirectoryEpochStore() override;

  std::optional<Bytes> load(u64 label) override;
  /// Errors: IoError, also of earlier files of which only the thread knew. Waits when the disk is
  /// far behind.
  void save(u64 label, std::span<const u8> bytes) override;
  /// Errors: as save().
  void flush() override;
  Path path_of(u64 label) const;

 private:
  /// Written, and not durable yet.
  struct Pending {
    Path path;
    Path temporary;
    FileHandle file;
  };

  void run();
  void commit(std::vector<Pending> group);
  void note_error();
  void throw_error();

  FileSystem& fs_;
  Path directory_;
  JobKey key_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Pending> pending_;
  std::chrono::steady_clock::time_point first_saved_;  ///< of those pending
  bool is_committing_ = false;
  bool is_flushing_ = false;
  bool is_ending_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

/// One file without a name, gone with the process: for `epoch prove`, whose memory must stay flat
/// as well.
class SpoolEpochStore : public EpochStore {
 public:
  /// The spool is made in `directory`.
  SpoolEpochStore(FileSystem& fs, const Path& directory);
  std::optional<Bytes> load(u64 label) override;
  void save(u64 label, std::span<const u8> bytes) override;
  void flush() override {}

 private:
  struct Extent {
    u64 offset = 0;
    u64 bytes = 0;
  };
  FileSystem& fs_;
  Path path_;
  FileHandle file_;
  std::mutex mutex_;
  std::map<u64, Extent> extents_;
  u64 end_ = 0;
};

}  // namespace epochd
