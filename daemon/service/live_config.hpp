// Settings that change while the daemon runs. A job has those that were there when it began.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "daemon/queue/file_system.hpp"

namespace epochd {

/// Threads: any.
class LiveConfig {
 public:
  explicit LiveConfig(Config config) : latest_(std::move(config)) {}

  void offer(Config config);
  /// What was offered last.
  Config latest() const;

 private:
  mutable std::mutex mutex_;
  Config latest_;
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
