#include "daemon/service/control.hpp"

#include <sys/inotify.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <cstring>

#include "daemon/log/log.hpp"

namespace epochd {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr int kSignals[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1};

sigset_t handled_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : kSignals) sigaddset(&signals, number);
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
  Impl(Handlers given, std::chrono::microseconds period)
      : handlers(std::move(given)), tick_period(period), signals(io), watch(io), timer(io) {}

  void await_signal() {
    signals.async_wait([this](const error_code& error, int number) {
      if (error) return;
      on_signal(number);
      await_signal();
    });
  }

  void on_signal(int number) {
    if (number == SIGHUP) return handlers.reload();
    if (number == SIGUSR1) return handlers.dump_heap();
    if (!is_stopping) {
      is_stopping = true;
      log::info("asked to stop; finishing the running epoch", {{"signal", number}});
      return handlers.stop();
    }
    log::warn("asked to stop again; ending at once", {{"signal", number}});
    handlers.stop_at_once();
    signals.clear();  // the default action is back
    ::raise(number);
  }

  void await_change() {
    watch.async_read_some(asio::buffer(events), [this](const error_code& error, size_t) {
      if (error) return;
      // What changed does not matter, nor whether events were lost: the listing is the truth.
      handlers.queue_changed();
      await_change();
    });
  }

  void await_tick() {
    timer.expires_after(tick_period);
    timer.async_wait([this](const error_code& error) {
      if (error) return;
      handlers.tick();
      await_tick();
    });
  }

  Handlers handlers;
  std::chrono::microseconds tick_period;
  asio::io_context io{1};
  asio::signal_set signals;
  asio::posix::stream_descriptor watch;
  asio::steady_timer timer;
  std::array<char, 4096> events{};
  bool is_stopping = false;
};

Control::Control(const Path& incoming, Handlers handlers, std::chrono::microseconds tick_period)
    : impl_(std::make_unique<Impl>(std::move(handlers), tick_period)) {
  for (const int number : kSignals) impl_->signals.add(number);
  impl_->await_signal();
  impl_->await_tick();
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

void Control::post(std::function<void()> work) {
  asio::post(impl_->io, std::move(work));
}

asio::io_context& Control::io() {
  return impl_->io;
}

void Control::block_signals() {
  const sigset_t signals = handled_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

}  // namespace epochd
