#include "daemon/worker/process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include "daemon/worker/channel.hpp"

extern char** environ;

namespace epochd {
namespace {

constexpr std::chrono::milliseconds kReapPause{5};

std::string describe_status(int status) {
  if (WIFEXITED(status)) return "exited with " + std::to_string(WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  return "was killed by signal " + std::to_string(number) + " (" + ::strsignal(number) + ")";
}

/// What a child process starts with: stderr twice, the channel, nothing else of this process's, and
/// only the daemon's signals blocked.
class SpawnSetup {
 public:
  explicit SpawnSetup(int channel) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawn_file_actions_adddup2(&actions_, channel, kWorkerChannelFd);
    ::posix_spawn_file_actions_adddup2(&actions_, STDERR_FILENO, STDOUT_FILENO);
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, kWorkerChannelFd + 1);
    sigset_t blocked;
    sigemptyset(&blocked);
    for (const int number : kDaemonsSignals) sigaddset(&blocked, number);
    ::posix_spawnattr_setsigmask(&attributes_, &blocked);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnSetup() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// dup2 of a descriptor onto itself would leave it close-on-exec.
FileHandle away_from_channel_fd(FileHandle end) {
  if (end.fd() != kWorkerChannelFd) return end;
  const int other = ::fcntl(end.fd(), F_DUPFD_CLOEXEC, kWorkerChannelFd + 1);
  if (other < 0) throw IoError("duplicate", "a worker's channel", errno);
  return FileHandle(other);
}

}  // namespace

WorkerProcess WorkerProcess::start(const std::vector<std::string>& command) {
  auto [ours, given] = make_socket_pair();
  const FileHandle theirs = away_from_channel_fd(std::move(given));
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const SpawnSetup setup(theirs.fd());
  pid_t pid = -1;
  const int code = ::posix_spawn(&pid, arguments[0], setup.actions(), setup.attributes(),
                                 arguments.data(), environ);
  if (code != 0) throw IoError("start the worker", command.front(), code);
  return {pid, std::move(ours)};
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), socket_(std::move(other.socket_)) {}

WorkerProcess::~WorkerProcess() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void WorkerProcess::kill() const {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

std::string WorkerProcess::await_end(double seconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(pid_, &status, WNOHANG)) == 0) {
    if (std::chrono::steady_clock::now() >= deadline) ::kill(pid_, SIGKILL);
    std::this_thread::sleep_for(kReapPause);
  }
  pid_ = -1;
  return ended < 0 ? "is gone" : describe_status(status);
}

}  // namespace epochd
