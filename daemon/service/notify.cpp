#include "daemon/service/notify.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "config/schema.hpp"
#include "daemon/log/log.hpp"

namespace epochd {
namespace {

struct Address {
  ::sockaddr_un name{};
  ::socklen_t bytes = 0;
};

std::optional<Address> parse_address(const std::string& text) {
  Address address;
  const bool is_known = text.size() > 1 && (text[0] == '/' || text[0] == '@');
  if (!is_known || text.size() >= sizeof(address.name.sun_path)) return std::nullopt;
  address.name.sun_family = AF_UNIX;
  std::memcpy(address.name.sun_path, text.data(), text.size());
  if (text[0] == '@') address.name.sun_path[0] = '\0';  // an abstract name has no file
  address.bytes = static_cast<::socklen_t>(offsetof(::sockaddr_un, sun_path) + text.size());
  return address;
}

/// One line, whatever is in it.
std::string status_line(std::string_view text) {
  std::string line = "STATUS=" + std::string(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

i64 monotonic_micros() {
  ::timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return i64{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

}  // namespace

ServiceManager::Micros watchdog_period(const char* usec, const char* pid) {
  if (usec == nullptr) return ServiceManager::Micros(0);
  if (pid != nullptr && parse_integer(pid) != i64{::getpid()}) return ServiceManager::Micros(0);
  const std::optional<i64> period = parse_integer(usec);
  return ServiceManager::Micros(period && *period > 0 ? *period : 0);
}

ServiceManager::ServiceManager(const std::string& address, Micros watchdog)
    : address_(address), watchdog_(watchdog) {
  const std::optional<Address> parsed = parse_address(address);
  if (!parsed) {
    log::warn("the service manager's socket cannot be used",
              {{"socket", address}, {"why", "neither an absolute path nor an abstract name"}});
    return;
  }
  FileHandle socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto* name = reinterpret_cast<const ::sockaddr*>(&parsed->name);
  if (!socket.is_open() || ::connect(socket.fd(), name, parsed->bytes) != 0) {
    log::warn("the service manager's socket cannot be used",
              {{"socket", address}, {"why", std::strerror(errno)}});
    return;
  }
  socket_ = std::move(socket);
}

ServiceManager ServiceManager::from_environment() {
  const char* address = std::getenv("NOTIFY_SOCKET");
  const Micros watchdog =
      watchdog_period(std::getenv("WATCHDOG_USEC"), std::getenv("WATCHDOG_PID"));
  ServiceManager manager;
  if (address != nullptr) manager = ServiceManager(address, watchdog);
  for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) ::unsetenv(name);
  return manager;
}

void ServiceManager::ready(std::string_view status) {
  send("READY=1\n" + status_line(status));
}

void ServiceManager::status(std::string_view text) {
  send(status_line(text));
}

void ServiceManager::reloading() {
  // The time tells the manager which of several reloads this belongs to.
  send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(monotonic_micros()) +
       "\nSTATUS=reading the settings again");
}

void ServiceManager::stopping(std::string_view status) {
  send("STOPPING=1\n" + status_line(status));
}

void ServiceManager::alive() {
  send("WATCHDOG=1");
}

void ServiceManager::failed(std::string_view status) {
  send("WATCHDOG=trigger\n" + status_line(status));
}

void ServiceManager::send(const std::string& lines) {
  if (!is_present()) return;
  const ssize_t sent =
      ::send(socket_.fd(), lines.data(), lines.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0 || has_failed_) return;
  has_failed_ = true;
  log::warn("the service manager cannot be told",
            {{"socket", address_}, {"why", std::strerror(errno)}});
}

}  // namespace epochd
