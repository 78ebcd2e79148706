#include "daemon/service/control.hpp"

#include <sys/inotify.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstring>

#include "daemon/log/log.hpp"

namespace epochd {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

sigset_t handled_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

/// -1 when the system has no watch to give.
int watch_directory(const Path& directory) {
  const int fd = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (fd < 0) return -1;
  if (::inotify_add_watch(fd, directory.c_str(), IN_MOVED_TO | IN_CLOSE_WRITE) >= 0) return fd;
  ::close(fd);
  return -1;
}

}  // namespace

struct Control::Impl {
  explicit Impl(Handlers given) : handlers(std::move(given)), signals(io), watch(io) {}

  void await_signal() {
    signals.async_wait([this](const error_code& error, int number) {
      if (error) return;
      log::info("asked to stop; finishing the running epoch", {{"signal", number}});
      signals.clear();  // the default action is back: a second signal ends the process
      handlers.stop();
    });
  }

  void await_change() {
    watch.async_read_some(asio::buffer(events), [this](const error_code& error, size_t) {
      if (error) return;
      // What changed does not matter, nor whether events were lost: the listing is the truth.
      handlers.queue_changed();
      await_change();
    });
  }

  Handlers handlers;
  asio::io_context io{1};
  asio::signal_set signals;
  asio::posix::stream_descriptor watch;
  std::array<char, 4096> events{};
};

Control::Control(const Path& incoming, Handlers handlers)
    : impl_(std::make_unique<Impl>(std::move(handlers))) {
  impl_->signals.add(SIGTERM);
  impl_->signals.add(SIGINT);
  impl_->await_signal();
  const int fd = watch_directory(incoming);
  if (fd < 0) {
    log::warn("the queue cannot be watched; new jobs are found by looking now and then",
              {{"directory", incoming.string()}, {"why", std::strerror(errno)}});
    return;
  }
  impl_->watch.assign(fd);
  impl_->await_change();
}

Control::~Control() = default;

void Control::run() {
  const sigset_t signals = handled_signals();
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  const auto until_finish = asio::make_work_guard(impl_->io);
  impl_->io.run();
}

void Control::finish() {
  asio::post(impl_->io, [this] { impl_->io.stop(); });
}

void Control::block_signals() {
  const sigset_t signals = handled_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

}  // namespace epochd
