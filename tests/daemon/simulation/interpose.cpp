// The system's calls for threads and time, as a simulation's threads see them. The linker takes
// these for the whole program, the standard library's own calls included; threads outside of a
// simulation are handed on.
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

#include "tests/daemon/simulation/scheduler.hpp"

namespace epochd::simulation {
namespace {

/// What the simulated monotonic clock shows at the start.
constexpr i64 kSecond_ns = 1'000'000'000;
constexpr i64 kMonotonicStart_ns = 1000 * kSecond_ns;

template <class Function>
Function next_of(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

i64 now_by(clockid_t clock) {
  const bool is_wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  const Scheduler& scheduler = *Scheduler::current();
  return is_wall ? scheduler.unix_ns() : scheduler.now_ns() + kMonotonicStart_ns;
}

i64 to_ns(const timespec& time) {
  return i64{time.tv_sec} * kSecond_ns + time.tv_nsec;
}

/// The scheduler's time when that clock will show `until`, if nobody turns it.
i64 deadline_of(clockid_t clock, const timespec* until) {
  return to_ns(*until) - now_by(clock) + Scheduler::current()->now_ns();
}

int timed_wait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
               const timespec* until) {
  const i64 deadline_ns = deadline_of(clock, until);
  return Scheduler::current()->wait(condition, mutex, &deadline_ns) ? 0 : ETIMEDOUT;
}

/// The futexes that the standard library calls by itself: of futures, and of static variables.
long futex(int* address, int operation, int value, const timespec* time) {
  Scheduler& scheduler = *Scheduler::current();
  const clockid_t clock =
      (operation & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
  const int command = operation & FUTEX_CMD_MASK;
  if (command == FUTEX_WAKE) {
    scheduler.wake(address, value > 1);
    return 1;
  }
  if (__atomic_load_n(address, __ATOMIC_SEQ_CST) != value) {
    errno = EAGAIN;
    return -1;
  }
  i64 deadline_ns = 0;
  if (time != nullptr) {
    const bool is_absolute = command == FUTEX_WAIT_BITSET;
    deadline_ns = is_absolute ? deadline_of(clock, time) : scheduler.now_ns() + to_ns(*time);
  }
  if (scheduler.wait_at(address, time != nullptr ? &deadline_ns : nullptr)) return 0;
  errno = ETIMEDOUT;
  return -1;
}

}  // namespace

const System& System::get() {
  static const System system = {
      next_of<decltype(System::create)>("pthread_create"),
      next_of<decltype(System::join)>("pthread_join"),
  };
  return system;
}

}  // namespace epochd::simulation

using epochd::i64;
using epochd::simulation::Scheduler;
using epochd::simulation::System;
namespace simulation = epochd::simulation;

#define EPOCHD_NEXT(name) static const auto next = simulation::next_of<decltype(&name)>(#name)

extern "C" {

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  EPOCHD_NEXT(pthread_mutex_lock);
  if (Scheduler::current() == nullptr) return next(mutex);
  Scheduler::current()->lock(mutex);
  return 0;
}

int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  EPOCHD_NEXT(pthread_mutex_trylock);
  if (Scheduler::current() == nullptr) return next(mutex);
  return Scheduler::current()->try_lock(mutex) ? 0 : EBUSY;
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  EPOCHD_NEXT(pthread_mutex_unlock);
  if (Scheduler::current() == nullptr) return next(mutex);
  Scheduler::current()->unlock(mutex);
  return 0;
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  EPOCHD_NEXT(pthread_cond_wait);
  if (Scheduler::current() == nullptr) return next(condition, mutex);
  Scheduler::current()->wait(condition, mutex, nullptr);
  return 0;
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                           const timespec* until) {
  EPOCHD_NEXT(pthread_cond_timedwait);
  if (Scheduler::current() == nullptr) return next(condition, mutex, until);
  return simulation::timed_wait(condition, mutex, CLOCK_REALTIME, until);
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* until) {
  EPOCHD_NEXT(pthread_cond_clockwait);
  if (Scheduler::current() == nullptr) return next(condition, mutex, clock, until);
  return simulation::timed_wait(condition, mutex, clock, until);
}

int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  EPOCHD_NEXT(pthread_cond_signal);
  if (Scheduler::current() == nullptr) return next(condition);
  Scheduler::current()->wake(condition, false);
  return 0;
}

int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  EPOCHD_NEXT(pthread_cond_broadcast);
  if (Scheduler::current() == nullptr) return next(condition);
  Scheduler::current()->wake(condition, true);
  return 0;
}

int pthread_create(pthread_t* id, const pthread_attr_t* attributes, void* (*function)(void*),
                   void* argument) noexcept {
  if (Scheduler::current() == nullptr) {
    return System::get().create(id, attributes, function, argument);
  }
  return Scheduler::current()->create(id, function, argument);
}

int pthread_join(pthread_t id, void** result) {
  if (Scheduler::current() == nullptr) return System::get().join(id, result);
  return Scheduler::current()->join(id, result);
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  EPOCHD_NEXT(clock_gettime);
  if (Scheduler::current() == nullptr) return next(clock, time);
  const i64 now_ns = simulation::now_by(clock);
  time->tv_sec = now_ns / simulation::kSecond_ns;
  time->tv_nsec = now_ns % simulation::kSecond_ns;
  return 0;
}

int nanosleep(const timespec* time, timespec* left) {
  EPOCHD_NEXT(nanosleep);
  if (Scheduler::current() == nullptr) return next(time, left);
  Scheduler::current()->sleep(static_cast<double>(simulation::to_ns(*time)) * 1e-9);
  return 0;
}

long syscall(long number, ...) noexcept {
  EPOCHD_NEXT(syscall);
  va_list list;
  va_start(list, number);
  long a[6];
  for (long& argument : a) argument = va_arg(list, long);
  va_end(list);
  if (Scheduler::current() == nullptr || number != SYS_futex) {
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  }
  return simulation::futex(reinterpret_cast<int*>(a[0]), static_cast<int>(a[1]),
                           static_cast<int>(a[2]), reinterpret_cast<const timespec*>(a[3]));
}

/// How much memory the test takes is no part of a schedule.
int getrusage(__rusage_who_t who, rusage* usage) noexcept {
  EPOCHD_NEXT(getrusage);
  if (Scheduler::current() == nullptr) return next(who, usage);
  *usage = {};
  usage->ru_maxrss = 1 << 20;
  return 0;
}

}  // extern "C"
