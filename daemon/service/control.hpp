// The control thread: signals, time, and the notification that the queue changed, on one
// single-threaded io_context. It never works and never waits for work; everything crosses to it by
// post.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "daemon/queue/file_system.hpp"

namespace boost::asio {
class io_context;
}  // namespace boost::asio

namespace epochd {

class Control {
 public:
  struct Handlers {
    std::function<void()> queue_changed;
    std::function<void()> stop;          ///< the first SIGTERM or SIGINT
    std::function<void()> stop_at_once;  ///< the second; afterwards the process ends
    std::function<void()> reload;        ///< SIGHUP
    std::function<void()> dump_heap;     ///< SIGUSR1
    std::function<void()> tick;          ///< now and then
  };

  /// Watches `incoming`. Without notification (limits, network file systems) the worker's own
  /// rescan is what notices new jobs. Pre: the signals are blocked in every thread, by
  /// block_signals().
  Control(const Path& incoming, Handlers handlers, std::chrono::microseconds tick_period);
  ~Control();

  /// Handles events until finish(). Unblocks the signals in the calling thread.
  void run();
  /// Threads: any.
  void finish();
  /// Runs `work` on the control thread. Threads: any.
  void post(std::function<void()> work);

  boost::asio::io_context& io();

  /// Call before the first thread starts.
  static void block_signals();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace epochd
