// A job's epochs on their way from one machine to another: a directory with what proving them
// apart and joining them takes.
//
//   program.elf, capsules/00000001.capsule ..., epochs/run.facts, epochs/00000001.epoch ...
//
// Capsules are proved one by one, anywhere; their proofs are gathered in epochs/. A job's directory
// in the queue has the same files but the capsules.
#pragma once

#include <map>

#include "daemon/pipeline/capsule_file.hpp"
#include "daemon/pipeline/epoch_store.hpp"
#include "daemon/pipeline/guest.hpp"
#include "daemon/pipeline/run_facts.hpp"
#include "epoch/capsule/stitch.hpp"

namespace epochd {

constexpr std::string_view kCapsulesName = "capsules";
constexpr std::string_view kCapsuleSuffix = ".capsule";

/// Writes a folder, epoch by epoch, as a run goes on.
class CapsuleWriter {
 public:
  /// `request`: program, input and parameters; `program`: what its key calls it. All outlive this.
  /// Errors: JobError(kInput) when `folder` is there and not empty; IoError.
  CapsuleWriter(FileSystem& fs, const Path& folder, const ProofRequest& request,
                const RunParams& params, const prover::Digest& program);
  /// The next epoch. Errors: IoError.
  void add(const ScoutEpoch& epoch);
  /// The run ended well: now, and not before, it can be assembled. Errors: IoError.
  void finish(const RunFacts& facts);

  u64 bytes() const { return bytes_; }

 private:
  FileSystem& fs_;
  Path folder_;
  const ProofRequest& request_;
  RunParams params_;
  JobKey key_;
  Stitch stitch_;
  u64 bytes_ = 0;  ///< of all capsules
};

/// The proved epochs of a folder, whatever their files are called.
class GatheredEpochs : public EpochStore {
 public:
  /// Reads and checks every file. Errors: JobError(kInput), naming the file or the epoch, when one
  /// is missing, there twice, damaged, of another job, or of no epoch of the run; IoError.
  GatheredEpochs(FileSystem& fs, const Path& folder);

  const KeptFacts& facts() const { return facts_; }
  const Bytes& elf() const { return elf_; }
  std::string name_of(u64 label) const { return files_.at(label).string(); }

  std::optional<Bytes> load(u64 label) override;
  /// Never called.
  void save(u64 label, std::span<const u8> bytes) override;
  void flush() override {}

 private:
  void read_facts();
  void gather(const Path& file);
  void check_complete() const;

  FileSystem& fs_;
  Path folder_;
  Bytes elf_;
  JobKey key_{};
  KeptFacts facts_;
  std::map<u64, Path> files_;
};

/// A proved epoch as a file: what DirectoryEpochStore keeps, and GatheredEpochs takes.
void write_epoch_file(FileSystem& fs, const Path& path, u64 label, const JobKey& key,
                      std::span<const u8> payload);

}  // namespace epochd
