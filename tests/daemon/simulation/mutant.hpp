// A daemon with one of the faults built in, as a file system that keeps something from it.
#pragma once

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
    const bool is_skipped = mutation_ == Mutation::kSkipFileSync ||
                            (mutation_ == Mutation::kPublishBeforeBundleIsDurable && is_bundle);
    if (!is_skipped) ProcessFileSystem::sync_file(file, path);
  }
  std::optional<Entry> stat(const Path& path) override {
    return is_hidden(path) ? std::nullopt : ProcessFileSystem::stat(path);
  }
  void remove_file(const Path& path) override {
    const bool is_left = mutation_ == Mutation::kChargeFullDisk && disk_.is_full;
    if (!is_left || path.filename() != kRunningFile) ProcessFileSystem::remove_file(path);
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

  const Disk& disk_;
  Mutation mutation_;
};

}  // namespace epochd::simulation
