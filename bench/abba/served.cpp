#include "bench/abba/served.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>

namespace epochd::abba {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kGoodbyeSeconds = 10;
constexpr std::string_view kRun = "run\n";

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

ServedCommand::ServedCommand(const std::string& command) {
  // A socket for its input: writing to one whose reader is gone can be asked not to signal.
  int in[2];
  int out[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) != 0 ||
      ::pipe2(out, O_CLOEXEC) != 0) {
    throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
  }
  pid_ = start_shell(command, in[1], out[1], err_.descriptor());
  ::close(in[1]);
  ::close(out[1]);
  to_ = in[0];
  from_ = out[0];
}

ServedCommand::~ServedCommand() {
  ::close(to_);
  ::close(from_);
  if (pid_ > 0 && wait_for_child(pid_, kGoodbyeSeconds) == -1) kill_group(pid_);
}

bool ServedCommand::ask() {
  return ::send(to_, kRun.data(), kRun.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(kRun.size());
}

bool ServedCommand::read_line(double timeout_seconds, std::string& line, bool& timed_out) {
  const Clock::time_point start = Clock::now();
  for (;;) {
    const size_t end = unread_.find('\n');
    if (end != std::string::npos) {
      line = unread_.substr(0, end + 1);
      unread_.erase(0, end + 1);
      return true;
    }
    int wait_ms = -1;
    if (timeout_seconds > 0) {
      const double left = timeout_seconds - since(start);
      timed_out = left <= 0;
      if (timed_out) return false;
      wait_ms = static_cast<int>(1e3 * left) + 1;
    }
    pollfd waited{from_, POLLIN, 0};
    const int ready = ::poll(&waited, 1, wait_ms);
    if (ready <= 0) continue;
    char buffer[1 << 14];
    const ssize_t got = ::read(from_, buffer, sizeof buffer);
    if (got <= 0) return false;
    unread_.append(buffer, static_cast<size_t>(got));
  }
}

ProcessResult ServedCommand::ended(bool timed_out, double wall_seconds) {
  int code = kTimedOut;
  if (timed_out) {
    kill_group(pid_);
  } else {
    const int status = wait_for_child(pid_, kGoodbyeSeconds);
    if (status == -1) kill_group(pid_);
    code = status == -1 ? 1 : exit_code_of_status(status);
    if (code == 0) code = 1;
  }
  pid_ = -1;
  return {code, wall_seconds, "", err_.text()};
}

ProcessResult ServedCommand::run(double timeout_seconds) {
  if (pid_ < 0) throw std::runtime_error("the served command has ended");
  const Clock::time_point start = Clock::now();
  bool timed_out = false;
  std::string line;
  if (!ask() || !read_line(timeout_seconds, line, timed_out)) {
    return ended(timed_out, since(start));
  }
  return {0, since(start), line, ""};
}

}  // namespace epochd::abba
