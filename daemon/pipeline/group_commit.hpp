// Files made durable in groups. Making one durable takes longer than proving a small epoch, and
// several take little longer than one: so a quarter of a second after the first file of a group, or
// when asked to flush, a thread fsyncs each, renames each, and fsyncs the directory once.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "daemon/queue/file_system.hpp"

namespace epochd {

class GroupCommit {
 public:
  /// Written under its temporary name, and not durable yet.
  struct File {
    Path path;
    Path temporary;
    FileHandle file;
    /// Called on the thread, once: with null when it is durable, else with the IoError. It must not
    /// throw.
    std::function<void(std::exception_ptr)> done;
  };

  /// Pre: all files are in `directory`.
  GroupCommit(FileSystem& fs, Path directory);
  /// Makes durable what was added.
  ~GroupCommit();
  GroupCommit(const GroupCommit&) = delete;
  GroupCommit& operator=(const GroupCommit&) = delete;

  // Threads: any.
  /// Creates the file's temporary for the caller to write. Errors: IoError.
  File create(const Path& path) const;
  void add(File file);
  /// Waits while the disk is far behind.
  void wait_for_room();
  /// When it returns, every file added is durable, or its `done` has an error.
  void flush();

 private:
  void run();
  void commit(std::vector<File> group);

  FileSystem& fs_;
  Path directory_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<File> pending_;
  std::chrono::steady_clock::time_point first_added_;  ///< of those pending
  bool is_committing_ = false;
  bool is_flushing_ = false;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace epochd
