// Where proved epochs wait for the global proof: durable files in a job's directory, or a nameless
// spool.
#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "daemon/pipeline/checkpoint_files.hpp"
#include "daemon/queue/file_system.hpp"

namespace epochd {

class EpochStore {
 public:
  virtual ~EpochStore() = default;
  /// The bytes saved for the label; nothing if there are none, or they are damaged or cannot be
  /// read (then the log says so). Pre: it is not being saved; what was saved here was flushed.
  /// Threads: any.
  virtual std::optional<Bytes> load(u64 label) = 0;
  /// Threads: one at a time.
  virtual void save(u64 label, std::span<const u8> bytes) = 0;
  /// When it returns, all that was saved is as durable as this store makes it.
  virtual void flush() = 0;
  /// Null: nothing is kept for a later attempt.
  virtual ResumeStore* resume_store() { return nullptr; }
};

/// epochs/00000001.epoch, ... Each file carries its label, the job's key and a checksum: a file cut
/// short, damaged, or of another job or version is not taken for a proof. They become durable in
/// groups: what kill -9 or a power cut takes is the group under way.
class DirectoryEpochStore : public EpochStore {
 public:
  DirectoryEpochStore(FileSystem& fs, Path directory, const JobKey& key);
  /// Makes durable what was saved; what cannot be, the log says.
  ~DirectoryEpochStore() override;

  std::optional<Bytes> load(u64 label) override;
  /// Errors: IoError, also of earlier files of which only a thread knew. Waits when the disk is
  /// far behind.
  void save(u64 label, std::span<const u8> bytes) override;
  /// Errors: as save().
  void flush() override;
  /// Beside the epochs.
  ResumeStore* resume_store() override { return &checkpoints_; }
  Path path_of(u64 label) const;

 private:
  void note_error(const std::exception_ptr& error);
  void throw_error();

  FileSystem& fs_;
  Path directory_;
  JobKey key_;
  std::mutex mutex_;
  std::exception_ptr error_;
  CheckpointFiles checkpoints_;
  std::optional<GroupCommit> commit_;
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
