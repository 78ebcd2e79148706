// Threads in an order the seed chooses, and time that only passes when it says so.
//
// Inside run() the threads of the program, unchanged, take turns: one has the baton and runs, and
// at each lock, wait, sleep or point() the seed decides who goes on. Time stands still while
// anybody works, but for what spend() adds; when everybody waits it jumps to the first deadline.
// When everybody waits and nobody has one, the program hangs: that is told, and ends the process.
//
// For that the test program defines the pthread calls of mutexes, condition variables and threads,
// the clocks, sleeping and futexes (interpose.cpp); outside of run() they are the system's.
#pragma once

#include <pthread.h>
#include <semaphore.h>

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "prover/core/types.hpp"

namespace epochd::simulation {

class WorkerProcesses;

class Scheduler {
 public:
  /// `on_hang` is told what everybody waits for; the process ends when it returns.
  Scheduler(u64 seed, std::function<void(const std::string&)> on_hang);
  ~Scheduler();

  /// Runs `body`, and the threads it starts, to their end. It must have joined them.
  void run(const std::function<void()>& body);

  /// The scheduler the calling thread belongs to; null outside of run().
  static Scheduler* current();

  /// Somebody else may go on here.
  void point();
  void sleep(double seconds);
  /// What the caller does takes so long.
  void spend(double seconds) { now_ns_ += to_ns(seconds); }
  i64 now_ns() const { return now_ns_; }
  double now_s() const { return static_cast<double>(now_ns_) * 1e-9; }
  u64 points() const { return points_; }
  /// A number below `count`, from the seed.
  u64 pick(u64 count) { return count < 2 ? 0 : random_() % count; }
  /// True once in `times` calls.
  bool once_in(u64 times) { return pick(times) == 0; }
  /// Nanoseconds since 1970, as the system's clock shows it: somebody may turn it.
  i64 unix_ns() const { return kUnixStart_ns + turned_ns_ + now_ns_; }
  void turn_clock(double seconds) { turned_ns_ += to_ns(seconds); }
  /// Where processes are started; null: they are the system's.
  WorkerProcesses* processes = nullptr;
  /// Takes what the daemon logs; may be empty.
  std::function<void(const std::string&)> on_log;

  // What the program calls, by way of interpose.cpp:
  void lock(const void* mutex);
  bool try_lock(const void* mutex);
  void unlock(const void* mutex);
  /// False when the time was up.
  bool wait(const void* condition, const void* mutex, const i64* deadline_ns);
  void wake(const void* condition, bool everybody);
  /// wait() without a mutex.
  bool wait_at(const void* address, const i64* deadline_ns);
  int create(pthread_t* id, void* (*function)(void*), void* argument);
  int join(pthread_t id, void** result);

 private:
  struct Thread;
  static constexpr i64 kUnixStart_ns = 1'800'000'000'000'000'000;
  static i64 to_ns(double seconds) { return static_cast<i64>(seconds * 1e9); }
  void block(const char* why, const i64* deadline_ns);
  void make_ready(Thread* thread);
  void wake_sleepers();
  Thread* choose();
  void switch_to(Thread* next);
  void finish(Thread* self);
  std::string describe() const;
  static void* enter(void* thread);

  std::mt19937_64 random_;
  std::function<void(const std::string&)> on_hang_;
  i64 now_ns_ = 0;
  i64 turned_ns_ = 0;
  u64 points_ = 0;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<Thread*> ready_;
  std::vector<Thread*> timed_;  ///< those that wait with a deadline
  std::unordered_map<const void*, Thread*> owners_;
  std::unordered_map<const void*, std::vector<Thread*>> waiting_;  ///< by what they wait for
};

/// The system's own calls, which interpose.cpp hides.
struct System {
  int (*create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  int (*join)(pthread_t, void**);
  static const System& get();
};

}  // namespace epochd::simulation
