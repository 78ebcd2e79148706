// Worker processes of a simulation: threads, behind the system's calls for processes and sockets.
// A process that was killed says nothing any more; its thread ends when it finds out.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "daemon/queue/file_system.hpp"
#include "tests/daemon/simulation/scheduler.hpp"

namespace epochd::simulation {

class WorkerProcesses {
 public:
  struct Worker {
    int channel = -1;  ///< its end, until it has ended
    int signal = 0;    ///< that killed it
    bool has_ended = false;
    bool is_alive() const { return signal == 0; }
  };
  /// What a worker does with its end of the channel.
  using Body = std::function<void(Worker&)>;

  /// While this lives, what the scheduler's threads start as a process is such a thread.
  WorkerProcesses(Scheduler& scheduler, Body body);
  /// Waits for their ends. Pre: nobody holds their other ends.
  ~WorkerProcesses();
  WorkerProcesses(const WorkerProcesses&) = delete;
  WorkerProcesses& operator=(const WorkerProcesses&) = delete;

  /// Ends the worker as that signal does.
  void kill(Worker& worker, int signal);

  // What the program calls, by way of interpose_processes.cpp:
  void note_channel(int fd) { channel_ = fd; }
  pid_t spawn();
  pid_t wait(pid_t pid, int* status, bool returns_at_once);
  void kill(pid_t pid, int signal) { kill(worker(pid), signal); }

 private:
  Worker& worker(pid_t pid) { return *workers_.at(static_cast<size_t>(pid - kFirstPid)); }
  static constexpr pid_t kFirstPid = 1'000'000'000;

  Scheduler& scheduler_;
  Body body_;
  int channel_ = -1;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
};

/// Something happened to a socket: whoever waits for one looks again.
void wake_sockets(Scheduler& scheduler);

}  // namespace epochd::simulation
