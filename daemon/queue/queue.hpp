// The queue directory as the daemon sees it: what waits, what is claimed, what is finished.
//
//   tmp/ incoming/ hold/ active/ done/ failed/ quarantine/ cancelled/
//
// Every change of place is one rename that never replaces, followed by fsync of both directories;
// so a job is in exactly one place after a crash at any point, and the listing is the whole truth.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/job_spec.hpp"
#include "daemon/queue/layout.hpp"
#include "daemon/queue/lock.hpp"
#include "daemon/queue/reason.hpp"

namespace epochd {

/// A job that waits in incoming/, or was found in active/ at start.
struct WaitingJob {
  std::string id;
  i32 priority = 0;
  i64 mtime_ns = 0;  ///< its age
  Place place = Place::kIncoming;
};

/// Threads: publish() and paths: any; the rest: one at a time.
class Queue {
 public:
  /// Completes the directories, takes the lock and finishes what a crash left half done.
  /// Errors: QueueBusy; IoError, also when a sub-directory is on another file system.
  Queue(FileSystem& fs, Path root);

  const Path& root() const { return root_; }
  Path path_of(Place place, const std::string& id) const { return place_path(root_, place) / id; }
  Path active_path(const std::string& id) const { return path_of(Place::kActive, id); }

  /// Jobs in incoming/, the next one first: by priority, then age, then name. Lone NAME.elf files
  /// are turned into job directories on the way. Files still open for writing are left for the next
  /// look.
  std::vector<WaitingJob> waiting();
  /// Jobs in active/, in the same order: interrupted by a crash, or stopped. Their age is that of
  /// when they came.
  std::vector<WaitingJob> active();
  /// Moves the first job that can be claimed to active/ and returns its id.
  std::optional<std::string> claim();
  using Ids = std::set<std::string>;
  /// Moves this waiting job to active/ and returns its id there, if it can be claimed now. Not
  /// while its name is `at_work`: whoever puts that job away may not be through, and its owner have
  /// it queued again already.
  std::optional<std::string> claim(const WaitingJob& job, const Ids& at_work = {});
  /// No file of this waiting job is still being written; otherwise that is said, once.
  bool is_ready(const WaitingJob& job);

  /// Moves a finished job out of active/. Returns the id under which it is published, which differs
  /// when the place holds an older job of that name.
  std::string publish(const std::string& id, Place place);

 private:
  void complete_directories();
  void finish_interrupted_intakes();
  void take_in_lone_programs();
  bool take_in(const std::string& name);
  /// Moves the program and input of `name` into its intake directory and that into incoming/.
  void complete_intake(const std::string& name);
  std::string put_into_incoming(const Path& job, const std::string& wanted_id);
  void strip_reserved_files(const Path& job);
  std::vector<WaitingJob> list_jobs(Place place);
  bool is_known(const std::string& id);
  std::string free_id(const std::string& id, const Ids& at_work);
  void warn_once(const std::string& name, const char* message);

  FileSystem& fs_;
  Path root_;
  std::optional<QueueLock> lock_;
  std::set<std::string> warned_;
  /// What is read of a job once.
  struct KnownJob {
    u64 inode = 0;
    i32 priority = 0;
    i64 queued_ns = 0;  ///< of a job in active/; 0: not known yet
  };
  using KnownJobs = std::map<std::string, KnownJob>;
  void look_at(KnownJob& known, const Entry& entry, Place place);
  std::map<Place, KnownJobs> known_;  ///< those of the last listing
};

/// Creates the sub-directories that are missing.
void complete_queue_directories(FileSystem& fs, const Path& root);

}  // namespace epochd
