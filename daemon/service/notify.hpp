// Words to the service manager: the datagrams of sd_notify(3), which are lines of NAME=value sent
// to the socket that NOTIFY_SOCKET names. Without that variable there is nobody to tell.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "daemon/queue/file_system.hpp"

namespace epochd {

class ServiceManager {
 public:
  using Micros = std::chrono::microseconds;

  /// Nobody.
  ServiceManager() = default;
  /// `address`: an absolute path, or '@' and an abstract name. `watchdog`: how often the manager
  /// wants to hear of progress; 0: not at all. What cannot be reached is said in the log.
  ServiceManager(const std::string& address, Micros watchdog);
  /// Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and removes them, so that no child speaks
  /// in this process's name. Call before the first thread starts.
  static ServiceManager from_environment();

  bool is_present() const { return socket_.is_open(); }
  Micros watchdog() const { return is_present() ? watchdog_ : Micros(0); }

  // Threads: one at a time. What cannot be sent at once is dropped, said in the log the first time.
  void ready(std::string_view status);
  void status(std::string_view text);
  /// Followed by ready() when it is over.
  void reloading();
  void stopping(std::string_view status);
  void alive();
  /// Asks to be ended and started again, as if the watchdog had run out.
  void failed(std::string_view status);

 private:
  void send(const std::string& lines);

  FileHandle socket_;
  std::string address_;
  Micros watchdog_{0};
  bool has_failed_ = false;
};

/// The watchdog period that is meant for this process, from the text of WATCHDOG_USEC and
/// WATCHDOG_PID (null: unset). 0: none.
ServiceManager::Micros watchdog_period(const char* usec, const char* pid);

}  // namespace epochd
