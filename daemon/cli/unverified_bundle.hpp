// A bundle that is not the answer yet.
#pragma once

#include "daemon/cli/remove_on_signal.hpp"
#include "daemon/queue/durable.hpp"

namespace epochd {

/// The bundle under another name until it is verified; removed if it never is. Pre: as
/// RemoveOnSignal.
class UnverifiedBundle {
 public:
  UnverifiedBundle(FileSystem& fs, const Path& output)
      : fs_(fs),
        output_(output),
        path_(output.string() + ".unverified"),
        unfinished_(path_.string() + std::string(kTemporarySuffix)),
        on_signal_({unfinished_, path_}) {}
  ~UnverifiedBundle() {
    std::error_code ignored;
    if (!is_kept_) std::filesystem::remove(path_, ignored);
  }
  UnverifiedBundle(const UnverifiedBundle&) = delete;
  UnverifiedBundle& operator=(const UnverifiedBundle&) = delete;

  const Path& path() const { return path_; }
  void keep() {
    fs_.rename_replace(path_, output_);
    is_kept_ = true;
    fs_.sync_directory(output_.parent_path());
  }

 private:
  FileSystem& fs_;
  Path output_;
  Path path_;
  Path unfinished_;  ///< while it is being written
  RemoveOnSignal on_signal_;
  bool is_kept_ = false;
};

}  // namespace epochd
