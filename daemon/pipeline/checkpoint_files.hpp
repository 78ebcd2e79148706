// Checkpoints and facts as files beside a job's epochs: 00000012.checkpoint, and run.facts.
#pragma once

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/pipeline/group_commit.hpp"
#include "daemon/pipeline/resume_store.hpp"

namespace epochd {

/// The name a label's file has in a job's directory of epochs.
std::string label_file_name(u64 label, std::string_view suffix);
/// The label of such a name.
std::optional<u64> label_of_file(std::string_view name, std::string_view suffix);

constexpr std::string_view kEpochSuffix = ".epoch";
constexpr std::string_view kCheckpointSuffix = ".checkpoint";
constexpr std::string_view kFactsFile = "run.facts";

/// Which epochs are there, counted without a gap from the first.
class StoredLabels {
 public:
  void add(u64 label);
  /// Epochs 1 .. prefix() are there.
  u64 prefix() const { return prefix_; }

 private:
  u64 prefix_ = 0;
  std::set<u64> beyond_;
};

class CheckpointFiles : public ResumeStore {
 public:
  /// Pre: the directory is there.
  CheckpointFiles(FileSystem& fs, Path directory, const JobKey& key);

  const JobKey& key() const override { return key_; }
  std::vector<u64> checkpoints() override;
  std::unique_ptr<CheckpointSource> open_checkpoint(u64 label) override;
  void remove_checkpoint(u64 label) override;
  std::unique_ptr<CheckpointSink> write_checkpoint(u64 label) override;
  std::optional<Bytes> load_facts() override;
  void save_facts(std::span<const u8> bytes) override;

  /// The epoch's proof is durable. Threads: any.
  void epoch_is_durable(u64 label);
  /// Waits for what is being made durable.
  void flush() { commit_.flush(); }

 private:
  class Sink;
  Path path_of(u64 label) const;
  void checkpoint_is_written(u64 label, bool is_durable);
  // Pre: mutex_ is held.
  void remove(u64 label);
  /// Removes those before the newest that can be used.
  void prune();

  FileSystem& fs_;
  Path directory_;
  JobKey key_;
  std::mutex mutex_;
  StoredLabels stored_;
  std::set<u64> labels_;  ///< of the checkpoints that are there
  bool is_writing_ = false;
  GroupCommit commit_;  ///< last: its thread calls this
};

}  // namespace epochd
