// Looks after the queue directory on a thread of its own: counts what is in it, and removes what
// has been kept long enough. Both may take a while on a large queue and must hold up nobody.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "daemon/queue/retention.hpp"
#include "daemon/service/board.hpp"
#include "daemon/service/daemon_metrics.hpp"
#include "daemon/service/live_config.hpp"

namespace epochd {

class Housekeeper {
 public:
  struct Ends {
    FileSystem& fs;
    Path root;
    const LiveConfig& config;
    Board& board;
    DaemonMetrics& metrics;
    const Clock& clock;
  };

  /// Begins at once. What `ends` refers to outlives this.
  explicit Housekeeper(const Ends& ends);
  /// Waits for a removal that is under way.
  ~Housekeeper();

  // What the thread does, for tests: one round of each.
  static void count(const Ends& ends);
  static void expire(const Ends& ends);

 private:
  void run();

  Ends ends_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace epochd
