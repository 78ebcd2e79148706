// Where proved epochs wait for the global proof: durable files in a job's directory, or a nameless
// spool.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "daemon/queue/file_system.hpp"

namespace epochd {

/// Identifies what is proved: program, input and protocol parameters.
using JobKey = std::array<u8, 32>;

class EpochStore {
 public:
  virtual ~EpochStore() = default;
  /// The bytes saved for the label; nothing if there are none, or they are damaged (then the log
  /// says so).
  virtual std::optional<Bytes> load(u64 label) = 0;
  virtual void save(u64 label, std::span<const u8> bytes) = 0;
};

/// epochs/00000001.epoch, ... Each file is durable when save() returns, and carries its label, the
/// job's key and a checksum: a file cut short, damaged, or of another job or version is not taken
/// for a proof.
class DirectoryEpochStore : public EpochStore {
 public:
  DirectoryEpochStore(FileSystem& fs, Path directory, const JobKey& key);
  std::optional<Bytes> load(u64 label) override;
  void save(u64 label, std::span<const u8> bytes) override;
  Path path_of(u64 label) const;

 private:
  FileSystem& fs_;
  Path directory_;
  JobKey key_;
};

/// One file without a name, gone with the process: for `epoch prove`, whose memory must stay flat
/// as well.
class SpoolEpochStore : public EpochStore {
 public:
  /// The spool is made in `directory`.
  SpoolEpochStore(FileSystem& fs, const Path& directory);
  std::optional<Bytes> load(u64 label) override;
  void save(u64 label, std::span<const u8> bytes) override;

 private:
  struct Extent {
    u64 offset = 0;
    u64 bytes = 0;
  };
  FileSystem& fs_;
  Path path_;
  FileHandle file_;
  std::vector<Extent> extents_;
  u64 end_ = 0;
};

}  // namespace epochd
