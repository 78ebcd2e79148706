// A disk in memory that knows what a power cut would leave of it.
//
// There are two pictures of it: what programs see, and what is durable. fsync of a file makes its
// bytes durable, fsync of a directory the names in it; a rename moves a name as a whole (as every
// journaling file system has it), and nothing else is promised. A power cut leaves, of what was not
// made durable: nothing, or what came first, or any part that could have been written without the
// rest; and of a file's bytes the old ones, the new ones, some of the new ones or zeros.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "daemon/queue/file_system.hpp"
#include "tests/daemon/simulation/scheduler.hpp"

namespace epochd::simulation {

class Disk {
 public:
  using Inode = u32;
  struct Node {
    bool is_directory = false;
    std::map<std::string, Inode> entries;
    std::map<std::string, Inode> durable_entries;
    Bytes bytes;
    Bytes durable_bytes;
    bool is_dirty = false;
    /// An fsync of it failed: the system thinks its pages clean, and they never reach the disk.
    bool is_lost = false;
    /// A bad sector: nobody can read it before it is written again.
    bool is_unreadable = false;
    i64 mtime_ns = 0;
  };

  /// What is below `root` is on this disk; the directory itself, and its lock, are real.
  Disk(Path root, Scheduler& scheduler);

  Scheduler& scheduler() { return scheduler_; }
  const Path& root() const { return root_; }

  /// Nothing when there is none.
  std::optional<Inode> find(const Path& path) const { return find_in(path, &Node::entries); }
  /// In what a power cut would leave for certain.
  std::optional<Inode> find_durable(const Path& path) const {
    return find_in(path, &Node::durable_entries);
  }
  /// Now, or after a power cut.
  bool may_be_there(const Path& path) const;
  Node& node(Inode inode) { return *nodes_[inode]; }
  const Node& node(Inode inode) const { return *nodes_[inode]; }

  // Pre: what they name is there, or is not, as the system's call would ask.
  Inode create(const Path& path, bool is_directory);
  void remove(const Path& path);
  void rename(const Path& from, const Path& to);
  void link(const Path& from, const Path& to);
  void touch(Inode inode) { nodes_[inode]->mtime_ns = next_time(); }

  void sync_file(Inode inode);
  void sync_directory(Inode directory);
  /// Afterwards programs see what was left, and that is durable.
  void power_cut();

  bool is_full = false;
  std::set<Inode> being_written;

 private:
  struct Slot {
    Inode directory = 0;
    std::string name;
    auto operator<=>(const Slot&) const = default;
  };
  /// A change of names that is not durable yet: `inode` leaves one slot, enters another, or both.
  struct Change {
    Inode inode = 0;
    std::optional<Slot> from, to;
  };
  class Keys;

  using Entries = std::map<std::string, Inode>;
  std::optional<Inode> find_in(const Path& path, Entries Node::*picture) const;
  Slot slot_of(const Path& path) const;
  void record(Change change);
  void apply(const Change& change);
  void settle(const std::vector<bool>& is_chosen);
  void tear(Node& node);
  i64 next_time();

  Path root_;
  std::string prefix_;
  Scheduler& scheduler_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<Change> pending_;
  i64 touches_ = 0;
};

/// What a process meets where it ends; afterwards it does nothing any more.
struct Crashed : std::exception {
  const char* what() const noexcept override { return "the simulated process ended here"; }
};

struct Process {
  std::string name;
  bool is_alive = true;
  u64 steps = 0;
  u64 dies_at_step = ~u64{0};
};

/// What goes wrong, and how often: one in so many steps; 0: never.
struct FaultRates {
  u64 fsync = 0;
  u64 write = 0;
  u64 read = 0;
  u64 rename = 0;
  u64 slow = 0;  ///< a step that takes a second
};

/// Told what happens on the disk.
class DiskWatcher {
 public:
  virtual ~DiskWatcher() = default;
  virtual void fault_injected(const Process& process, const Path& path, int code) = 0;
  virtual void process_died(const Process& process) = 0;
  virtual void step(const Process& process, const char* what, const Path& path) = 0;
  /// A file is about to be called `path`, in the place of what is there; `is_durable`: its bytes.
  virtual void naming(const Process& process, const Path& path, bool is_durable) = 0;
  /// fsync of a file of which one failed before.
  virtual void synced_again(const Process& process, const Path& path) = 0;
};

/// The disk as a process sees it.
class ProcessFileSystem : public FileSystem {
 public:
  ProcessFileSystem(Disk& disk, Process& process, const FaultRates& faults, DiskWatcher& watcher);

  FileHandle create_file(const Path& path) override;
  void sync_file(const FileHandle& file, const Path& path) override;
  void sync_directory(const Path& path) override;
  void rename_replace(const Path& from, const Path& to) override;
  Moved rename_no_replace(const Path& from, const Path& to) override;
  void link(const Path& from, const Path& to) override;
  bool make_directory(const Path& path) override;
  void remove_file(const Path& path) override;
  void remove_tree(const Path& path) override;
  FileHandle open_for_reading(const Path& path, Links links = Links::kRefuse) override;
  u64 file_bytes(const FileHandle& file, const Path& path) override;
  std::vector<Entry> list(const Path& path) override;
  std::optional<Entry> stat(const Path& path) override;
  bool is_being_written(const Path& path) override;

 protected:
  ssize_t read_once(const FileHandle& file, std::span<u8> bytes) override;
  ssize_t write_once(const FileHandle& file, std::span<const u8> bytes) override;

 private:
  struct Open {
    Disk::Inode inode = 0;
    size_t offset = 0;
    Path path;
  };
  /// Ahead of every call: others may go on, time passes, the process may end here.
  void enter(const char* what, const Path& path);
  void maybe_fail(u64 one_in, const char* operation, const Path& path);
  void require_room(const char* operation, const Path& path);
  Disk::Inode require(const char* operation, const Path& path) const;
  FileHandle open(Disk::Inode inode, const Path& path);
  Entry entry_of(const std::string& name, Disk::Inode inode) const;
  void remove_below(const Path& path);

  Disk& disk_;
  Process& process_;
  const FaultRates& faults_;
  DiskWatcher& watcher_;
  std::unordered_map<int, Open> open_;
};

}  // namespace epochd::simulation
