// The control thread: signals and the notification that the queue changed, on one single-threaded
// io_context. It never works and never waits for work; everything crosses to it by post.
#pragma once

#include <functional>
#include <memory>

#include "daemon/queue/file_system.hpp"

namespace epochd {

class Control {
 public:
  struct Handlers {
    std::function<void()> queue_changed;
    std::function<void()>
        stop;  ///< SIGTERM or SIGINT; called once. A second signal ends the process.
  };

  /// Watches `incoming`. Without notification (limits, network file systems) the worker's own
  /// rescan is what notices new jobs. Pre: the signals are blocked in every thread, by
  /// block_signals().
  Control(const Path& incoming, Handlers handlers);
  ~Control();

  /// Handles events until finish(). Unblocks the signals in the calling thread.
  void run();
  /// Threads: any.
  void finish();

  /// Call before the first thread starts.
  static void block_signals();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace epochd
