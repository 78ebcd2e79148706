// A daemon with one of the faults built in, as a file system that keeps something from it.
#pragma once

#include "daemon/pipeline/checkpoint_files.hpp"
#include "tests/daemon/simulation/world.hpp"

namespace epochd::simulation {

class Mutant : public ProcessFileSystem {
 public:
  Mutant(Mutation mutation, Disk& disk, Process& process, const FaultRates& faults,
         DiskWatcher& watcher)
      : ProcessFileSystem(disk, process, faults, watcher), disk_(disk), mutation_(mutation) {}

  void sync_directory(const Path& path) override {
    if (mutation_ != Mutation::kSkipDirectorySync) ProcessFileSystem::sync_directory(path);
  }
  void sync_file(const FileHandle& file, const Path& path) override {
    const bool is_bundle = path.filename().native().starts_with(kBundleFile);
    const bool is_checkpoint = path.native().ends_with(".checkpoint.part");
    const bool is_skipped = mutation_ == Mutation::kSkipFileSync ||
                            (mutation_ == Mutation::kNameBeforeSync && is_checkpoint) ||
                            (mutation_ == Mutation::kPublishBeforeBundleIsDurable && is_bundle);
    if (is_skipped) return;
    try {
      ProcessFileSystem::sync_file(file, path);
    } catch (const IoError&) {
      if (mutation_ != Mutation::kRetrySync) throw;
      ProcessFileSystem::sync_file(file, path);
    }
  }
  std::optional<Entry> stat(const Path& path) override {
    return is_hidden(path) ? std::nullopt : ProcessFileSystem::stat(path);
  }
  void remove_file(const Path& path) override {
    const bool is_left =
        mutation_ == Mutation::kChargeFullDisk && disk_.is_full && path.filename() == kRunningFile;
    const bool is_kept =
        mutation_ == Mutation::kKeepCheckpoints && path.extension() == kCheckpointSuffix;
    if (!is_left && !is_kept) ProcessFileSystem::remove_file(path);
  }
  std::vector<Entry> list(const Path& path) override {
    std::vector<Entry> entries = ProcessFileSystem::list(path);
    if (mutation_ == Mutation::kAssumeEpochs) add_missing_epochs(entries);
    return entries;
  }

 private:
  bool is_hidden(const Path& path) const {
    switch (mutation_) {
      case Mutation::kForgetCrashes:
        return path.filename() == kRunningFile;
      case Mutation::kIgnoreCancel:
        return path.filename() == kCancelFile;
      case Mutation::kForgetEpochs:
        return path.extension() == ".epoch";
      case Mutation::kForgetEqualJobs:
        return path.filename() == kBundleFile &&
               path.parent_path().parent_path().filename() == "done";
      default:
        return false;
    }
  }

  /// As if every epoch before a checkpoint were there.
  static void add_missing_epochs(std::vector<Entry>& entries) {
    u64 last = 0;
    for (const Entry& entry : entries) {
      last = std::max(last, label_of_file(entry.name, kCheckpointSuffix).value_or(0));
    }
    for (u64 label = 1; label <= last; ++label) {
      entries.push_back({label_file_name(label, kEpochSuffix), Entry::Kind::kFile});
    }
  }

  const Disk& disk_;
  Mutation mutation_;
};

}  // namespace epochd::simulation
