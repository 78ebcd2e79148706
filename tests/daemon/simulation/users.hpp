// Who submits jobs and steers them, and whoever fills the disk.
#pragma once

#include <functional>

#include "tests/daemon/simulation/ledger.hpp"

namespace epochd::simulation {

class Users {
 public:
  /// `count` of them; `wake`: what inotify does.
  Users(u64 count, Disk& disk, Ledger& ledger, DiskWatcher& watcher, std::function<void()> wake)
      : count_(count), disk_(disk), ledger_(ledger), watcher_(watcher), wake_(std::move(wake)) {}

  /// What user `number` does, all along. On a thread of its own.
  void run(u64 number);
  /// Now and then there is no room. On a thread of its own.
  void fill_disk();
  /// Now and then the clock that counts from 1970 is set, hours back or forth. On a thread of its
  /// own.
  void turn_clock();
  bool have_ended() const { return ended_ == count_; }
  /// The power is cut: whatever they were at ends there.
  void die();
  void undo_drain();
  /// Finished jobs are removed from now on.
  void expect_removals();

 private:
  void act(u64 number);
  void do_something(FileSystem& fs, const std::string& new_tag);
  void submit(FileSystem& fs, const std::string& tag);
  void drop_lone_program(FileSystem& fs, const std::string& tag);
  void copy_slowly(FileSystem& fs, const std::string& tag);
  void drain_for_a_while(FileSystem& fs);
  void cancel(FileSystem& fs, const std::string& tag);
  void hold(FileSystem& fs, const std::string& tag);
  void release(FileSystem& fs, const std::string& tag);
  void retry(FileSystem& fs, const std::string& tag);

  Job& invent(const std::string& tag);
  JobSpec invent_spec(const std::string& tag, Job& job);
  std::string some_tag();
  Path upload(FileSystem& fs, const std::string& name, const std::string& text);

  u64 count_;
  Disk& disk_;
  Ledger& ledger_;
  DiskWatcher& watcher_;
  std::function<void()> wake_;
  u64 ended_ = 0;
  u64 submitted_ = 0;
  bool are_removed_ = false;
  std::vector<std::string> tags_;
  std::set<Process*> alive_;
};

}  // namespace epochd::simulation
