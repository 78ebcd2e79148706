#include "bench/abba/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

extern char** environ;

namespace epochd::abba {
namespace {

std::runtime_error failure(const std::string& what) {
  return std::runtime_error(what + ": " + std::strerror(errno));
}

/// The group that runs now, 0: none. A child in a group of its own does not hear the terminal.
std::atomic<pid_t> running_group{0};
static_assert(std::atomic<pid_t>::is_always_lock_free);

void end_group_and_self(int signal_number) {
  const pid_t group = running_group.load();
  if (group > 0) ::kill(-group, SIGTERM);
  ::signal(signal_number, SIG_DFL);
  ::raise(signal_number);
}

/// While it lives, a signal that ends this process ends the group as well.
class GroupScope {
 public:
  explicit GroupScope(pid_t group) {
    running_group = group;
    struct sigaction action {};
    action.sa_handler = end_group_and_self;
    ::sigaction(SIGINT, &action, &old_int_);
    ::sigaction(SIGTERM, &action, &old_term_);
  }
  ~GroupScope() {
    ::sigaction(SIGINT, &old_int_, nullptr);
    ::sigaction(SIGTERM, &old_term_, nullptr);
    running_group = 0;
  }
  GroupScope(const GroupScope&) = delete;
  GroupScope& operator=(const GroupScope&) = delete;

 private:
  struct sigaction old_int_ {};
  struct sigaction old_term_ {};
};

int collect(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) throw failure("waitpid");
  }
  return status;
}

}  // namespace

OutputFile::OutputFile() {
  char path[] = "/tmp/epoch-abba-XXXXXX";
  descriptor_ = ::mkostemp(path, O_CLOEXEC);
  if (descriptor_ < 0) throw failure("mkostemp");
  ::unlink(path);
}

OutputFile::~OutputFile() {
  ::close(descriptor_);
}

std::string OutputFile::text() const {
  std::string text;
  char buffer[1 << 16];
  for (off_t at = 0;;) {
    const ssize_t got = ::pread(descriptor_, buffer, sizeof buffer, at);
    if (got <= 0) return text;
    text.append(buffer, static_cast<size_t>(got));
    at += got;
  }
}

pid_t start_shell(const std::string& command, int in, int out, int err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  std::string shell = "sh", flag = "-c", line = command;
  char* arguments[] = {shell.data(), flag.data(), line.data(), nullptr};
  pid_t pid = -1;
  errno = ::posix_spawn(&pid, "/bin/sh", &actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (errno != 0) throw failure("/bin/sh");
  return pid;
}

int wait_for_child(pid_t pid, double timeout_seconds) {
  if (timeout_seconds > 0) {
    // glibc 2.36's header declares pidfd_open for C alone.
    const int descriptor = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
    if (descriptor < 0) throw failure("pidfd_open");
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_seconds);
    int ready = 0;
    do {
      const std::chrono::duration<double, std::milli> left = end - std::chrono::steady_clock::now();
      pollfd waited{descriptor, POLLIN, 0};
      ready = ::poll(&waited, 1, left.count() > 0 ? static_cast<int>(left.count()) + 1 : 0);
    } while (ready < 0 && errno == EINTR);
    ::close(descriptor);
    if (ready == 0) return -1;
  }
  return collect(pid);
}

void kill_group(pid_t pid) {
  ::kill(-pid, SIGKILL);
  collect(pid);
}

int exit_code_of_status(int status) {
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

ProcessResult run_shell(const std::string& command, double timeout_seconds) {
  const OutputFile out;
  const OutputFile err;
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0) throw failure("/dev/null");
  const auto before = std::chrono::steady_clock::now();
  const pid_t pid = start_shell(command, nothing, out.descriptor(), err.descriptor());
  ::close(nothing);
  const GroupScope scope(pid);
  const int status = wait_for_child(pid, timeout_seconds);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - before;
  if (status == -1) kill_group(pid);
  const int code = status == -1 ? kTimedOut : exit_code_of_status(status);
  return {code, wall.count(), out.text(), err.text()};
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace epochd::abba
