// Settings that change while the daemon runs. The worker's thread reads them between jobs and in
// the middle of one, so they change only where that thread says: between two jobs.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "daemon/queue/file_system.hpp"

namespace epochd {

class LiveConfig {
 public:
  explicit LiveConfig(Config config) : current_(std::move(config)), latest_(current_) {}

  /// Threads: the worker's, or before it starts.
  const Config& current() const { return current_; }
  /// Takes over what was offered last. Threads: the worker's.
  void take_over();

  /// Threads: any.
  void offer(Config config);
  /// What was offered last.
  Config latest() const;

 private:
  Config current_;
  mutable std::mutex mutex_;
  Config latest_;
  bool is_new_ = false;
};

/// A settings file read and checked, with the queue the command line names in place of its own.
/// Errors: what is wrong, with file and line, and what to do.
Result<Config, std::string> load_config(FileSystem& fs, const Path& file,
                                        const std::string& queue_flag);

/// Reads the file again and offers what can change. Returns the keys that cannot, or why the
/// settings stay as they are.
Result<std::vector<std::string>, std::string> reload_config(FileSystem& fs, const Path& file,
                                                            const std::string& queue_flag,
                                                            LiveConfig& live);

}  // namespace epochd
