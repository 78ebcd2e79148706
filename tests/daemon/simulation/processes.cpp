// The system's calls for processes and sockets, as a simulation's threads see them: what arrives
// goes through the system's own sockets, waiting for it through the scheduler.
#include "tests/daemon/simulation/processes.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace epochd::simulation {
namespace {

template <class Function>
Function next_of(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

/// Whoever waits for a socket waits here.
const char sockets = 0;

constexpr double kReap_s = 0.005;

}  // namespace

void wake_sockets(Scheduler& scheduler) {
  scheduler.wake(&sockets, true);
}

WorkerProcesses::WorkerProcesses(Scheduler& scheduler, Body body)
    : scheduler_(scheduler), body_(std::move(body)) {
  scheduler_.processes = this;
}

WorkerProcesses::~WorkerProcesses() {
  for (std::thread& thread : threads_) thread.join();
  scheduler_.processes = nullptr;
}

pid_t WorkerProcesses::spawn() {
  workers_.push_back(std::make_unique<Worker>());
  Worker* const worker = workers_.back().get();
  worker->channel = ::fcntl(channel_, F_DUPFD_CLOEXEC, 0);
  const pid_t pid = kFirstPid + static_cast<pid_t>(workers_.size() - 1);
  std::thread thread([this, worker] {
    body_(*worker);
    worker->has_ended = true;
  });
  threads_.push_back(std::move(thread));  // not there at once: others go on while one is started
  return pid;
}

pid_t WorkerProcesses::wait(pid_t pid, int* status, bool returns_at_once) {
  const Worker& ending = worker(pid);
  while (ending.is_alive() && !ending.has_ended) {
    if (returns_at_once) return 0;
    scheduler_.sleep(kReap_s);
  }
  if (status != nullptr) *status = ending.signal;
  return pid;
}

void WorkerProcesses::kill(Worker& worker, int signal) {
  if (worker.has_ended || !worker.is_alive()) return;
  worker.signal = signal;
  ::shutdown(worker.channel, SHUT_RDWR);
}

}  // namespace epochd::simulation

using epochd::i64;
using epochd::simulation::Scheduler;
using epochd::simulation::WorkerProcesses;
namespace simulation = epochd::simulation;

#define EPOCHD_NEXT(name) static const auto next = simulation::next_of<decltype(&name)>(#name)

namespace {

WorkerProcesses* processes() {
  return Scheduler::current() != nullptr ? Scheduler::current()->processes : nullptr;
}

}  // namespace

extern "C" {

int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t* actions, int fd, int as) noexcept {
  EPOCHD_NEXT(posix_spawn_file_actions_adddup2);
  if (processes() != nullptr && as != STDOUT_FILENO) processes()->note_channel(fd);
  return next(actions, fd, as);
}

int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const arguments[],
                char* const environment[]) {
  EPOCHD_NEXT(posix_spawn);
  if (processes() == nullptr) return next(pid, path, actions, attributes, arguments, environment);
  *pid = processes()->spawn();
  return 0;
}

pid_t waitpid(pid_t pid, int* status, int options) {
  EPOCHD_NEXT(waitpid);
  if (processes() == nullptr) return next(pid, status, options);
  return processes()->wait(pid, status, (options & WNOHANG) != 0);
}

int kill(pid_t pid, int signal) noexcept {
  EPOCHD_NEXT(kill);
  if (processes() == nullptr) return next(pid, signal);
  processes()->kill(pid, signal);
  return 0;
}

int poll(pollfd* watched, nfds_t count, int milliseconds) {
  EPOCHD_NEXT(poll);
  if (processes() == nullptr) return next(watched, count, milliseconds);
  Scheduler& scheduler = *Scheduler::current();
  const i64 deadline_ns = scheduler.now_ns() + i64{milliseconds} * 1'000'000;
  for (;;) {
    const int ready = next(watched, count, 0);
    if (ready != 0 || !scheduler.wait_at(&simulation::sockets, &deadline_ns)) return ready;
  }
}

ssize_t recv(int fd, void* to, size_t bytes, int flags) {
  EPOCHD_NEXT(recv);
  if (processes() == nullptr) return next(fd, to, bytes, flags);
  for (;;) {
    const ssize_t got = next(fd, to, bytes, flags | MSG_DONTWAIT);
    if (got >= 0 || errno != EAGAIN) {
      simulation::wake_sockets(*Scheduler::current());  // there is room again
      return got;
    }
    Scheduler::current()->wait_at(&simulation::sockets, nullptr);
  }
}

ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  EPOCHD_NEXT(sendmsg);
  const ssize_t sent = next(fd, message, flags);
  if (processes() != nullptr) {
    const int error = errno;
    simulation::wake_sockets(*Scheduler::current());
    errno = error;
  }
  return sent;
}

int shutdown(int fd, int how) noexcept {
  EPOCHD_NEXT(shutdown);
  const int result = next(fd, how);
  if (processes() != nullptr) simulation::wake_sockets(*Scheduler::current());
  return result;
}

int close(int fd) {
  EPOCHD_NEXT(close);
  const int result = next(fd);
  if (processes() != nullptr) simulation::wake_sockets(*Scheduler::current());
  return result;
}

}  // extern "C"
