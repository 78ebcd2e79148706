#include "daemon/cli/remove_on_signal.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

namespace epochd {

RemoveOnSignal::RemoveOnSignal(std::vector<Path> files) : files_(std::move(files)) {
  sigset_t handled;
  sigemptyset(&handled);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct ::sigaction action {};
    ::sigaction(signal, nullptr, &action);
    const bool is_ignored = action.sa_handler == SIG_IGN;  // by nohup, for one
    if (!is_ignored) sigaddset(&handled, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &handled, &before_);
  signals_ = FileHandle(::signalfd(-1, &handled, SFD_CLOEXEC));
  over_ = FileHandle(::eventfd(0, EFD_CLOEXEC));
  if (!signals_.is_open() || !over_.is_open()) {
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    throw IoError("wait for signals for", files_.front(), errno);
  }
  thread_ = std::thread([this, handled] { run(handled); });
}

RemoveOnSignal::~RemoveOnSignal() {
  const u64 one = 1;
  while (::write(over_.fd(), &one, sizeof(one)) < 0 && errno == EINTR) {
  }
  thread_.join();
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void RemoveOnSignal::run(const sigset_t& handled) {
  ::pollfd waited[] = {{signals_.fd(), POLLIN, 0}, {over_.fd(), POLLIN, 0}};
  while (::poll(waited, 2, -1) < 0 && errno == EINTR) {
  }
  ::signalfd_siginfo info{};
  if ((waited[0].revents & POLLIN) == 0 ||
      ::read(signals_.fd(), &info, sizeof(info)) != sizeof(info)) {
    return;
  }
  std::error_code ignored;
  for (const Path& file : files_) std::filesystem::remove(file, ignored);
  // Its default action ends the process, and tells the parent why.
  const int signal = static_cast<int>(info.ssi_signo);
  ::signal(signal, SIG_DFL);
  ::pthread_sigmask(SIG_UNBLOCK, &handled, nullptr);
  ::kill(::getpid(), signal);
}

}  // namespace epochd
