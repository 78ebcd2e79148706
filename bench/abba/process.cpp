#include "bench/abba/process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

extern char** environ;

namespace epochd::abba {
namespace {

/// A file without a name, for a child's output: a pipe would have to be drained while it runs.
class OutputFile {
 public:
  OutputFile() {
    char path[] = "/tmp/epoch-abba-XXXXXX";
    descriptor_ = ::mkostemp(path, O_CLOEXEC);
    if (descriptor_ < 0) throw std::runtime_error(std::string("mkostemp: ") + std::strerror(errno));
    ::unlink(path);
  }
  ~OutputFile() { ::close(descriptor_); }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  int descriptor() const { return descriptor_; }
  std::string text() const {
    std::string text;
    char buffer[1 << 16];
    for (off_t at = 0;;) {
      const ssize_t got = ::pread(descriptor_, buffer, sizeof buffer, at);
      if (got <= 0) return text;
      text.append(buffer, static_cast<size_t>(got));
      at += got;
    }
  }

 private:
  int descriptor_ = -1;
};

pid_t start(const std::string& command, const OutputFile& out, const OutputFile& err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.descriptor(), STDERR_FILENO);
  std::string shell = "sh", flag = "-c", line = command;
  char* arguments[] = {shell.data(), flag.data(), line.data(), nullptr};
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, "/bin/sh", &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error(std::string("/bin/sh: ") + std::strerror(error));
  return pid;
}

}  // namespace

ProcessResult run_shell(const std::string& command) {
  const OutputFile out;
  const OutputFile err;
  const auto before = std::chrono::steady_clock::now();
  const pid_t pid = start(command, out, err);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) throw std::runtime_error(std::string("waitpid: ") + std::strerror(errno));
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - before;
  const int code = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  return {code, wall.count(), out.text(), err.text()};
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace epochd::abba
