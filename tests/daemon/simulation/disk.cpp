#include "tests/daemon/simulation/disk.hpp"

#include <algorithm>

namespace epochd::simulation {

/// Names and inodes that changes have to do with.
class Disk::Keys {
 public:
  void add(const Change& change) {
    inodes_.insert(change.inode);
    if (change.from) slots_.insert(*change.from);
    if (change.to) slots_.insert(*change.to);
  }
  bool meets(const Change& change) const {
    return inodes_.count(change.inode) != 0 || (change.from && slots_.count(*change.from) != 0) ||
           (change.to && slots_.count(*change.to) != 0);
  }

 private:
  std::set<Inode> inodes_;
  std::set<Slot> slots_;
};

Disk::Disk(Path root, Scheduler& scheduler)
    : root_(std::move(root)), prefix_(root_.string()), scheduler_(scheduler) {
  nodes_.push_back(std::make_unique<Node>());
  nodes_[0]->is_directory = true;
}

i64 Disk::next_time() {
  // Never twice the same, so that what came first is known.
  return scheduler_.unix_ns() + ++touches_;
}

std::optional<Disk::Inode> Disk::find_in(const Path& path, Entries Node::*picture) const {
  const std::string& text = path.native();
  Inode inode = 0;
  for (size_t at = prefix_.size(); at < text.size();) {
    const size_t end = std::min(text.find('/', at + 1), text.size());
    const Entries& entries = *nodes_[inode].*picture;
    const auto found = entries.find(text.substr(at + 1, end - at - 1));
    if (found == entries.end()) return std::nullopt;
    inode = found->second;
    at = end;
  }
  return inode;
}

bool Disk::may_be_there(const Path& path) const {
  if (find(path) || find_durable(path)) return true;
  if (!find(path.parent_path())) return false;
  const Slot slot = slot_of(path);
  return std::any_of(pending_.begin(), pending_.end(),
                     [&](const Change& change) { return change.to == slot; });
}

Disk::Slot Disk::slot_of(const Path& path) const {
  return {find(path.parent_path()).value(), path.filename().string()};
}

void Disk::record(Change change) {
  if (change.from) touch(change.from->directory);
  if (change.to) touch(change.to->directory);
  pending_.push_back(std::move(change));
}

Disk::Inode Disk::create(const Path& path, bool is_directory) {
  const Slot slot = slot_of(path);
  const Inode inode = static_cast<Inode>(nodes_.size());
  nodes_.push_back(std::make_unique<Node>());
  nodes_[inode]->is_directory = is_directory;
  touch(inode);
  nodes_[slot.directory]->entries[slot.name] = inode;
  record({inode, std::nullopt, slot});
  return inode;
}

void Disk::remove(const Path& path) {
  const Slot slot = slot_of(path);
  const Inode inode = nodes_[slot.directory]->entries.at(slot.name);
  nodes_[slot.directory]->entries.erase(slot.name);
  record({inode, slot, std::nullopt});
}

void Disk::rename(const Path& from, const Path& to) {
  const Slot source = slot_of(from), target = slot_of(to);
  const Inode inode = nodes_[source.directory]->entries.at(source.name);
  nodes_[source.directory]->entries.erase(source.name);
  nodes_[target.directory]->entries[target.name] = inode;
  record({inode, source, target});
}

void Disk::link(const Path& from, const Path& to) {
  const Slot slot = slot_of(to);
  const Inode inode = find(from).value();
  nodes_[slot.directory]->entries[slot.name] = inode;
  record({inode, std::nullopt, slot});
}

void Disk::sync_file(Inode inode) {
  Node& file = *nodes_[inode];
  if (file.is_dirty && !file.is_lost) file.durable_bytes = file.bytes;
  file.is_dirty = false;
}

void Disk::apply(const Change& change) {
  if (change.from) {
    auto& entries = nodes_[change.from->directory]->durable_entries;
    const auto found = entries.find(change.from->name);
    if (found != entries.end() && found->second == change.inode) entries.erase(found);
  }
  if (change.to) nodes_[change.to->directory]->durable_entries[change.to->name] = change.inode;
}

/// Makes the chosen changes durable, in order, and forgets them.
void Disk::settle(const std::vector<bool>& is_chosen) {
  std::vector<Change> left;
  for (size_t i = 0; i < pending_.size(); ++i) {
    if (is_chosen[i]) {
      apply(pending_[i]);
    } else {
      left.push_back(std::move(pending_[i]));
    }
  }
  pending_ = std::move(left);
}

void Disk::sync_directory(Inode directory) {
  // What is asked for, and what that rests on.
  std::vector<bool> is_chosen(pending_.size(), false);
  Keys keys;
  for (size_t i = pending_.size(); i-- > 0;) {
    const Change& change = pending_[i];
    const bool is_in = (change.from && change.from->directory == directory) ||
                       (change.to && change.to->directory == directory);
    if (!is_in && !keys.meets(change)) continue;
    keys.add(change);
    is_chosen[i] = true;
  }
  settle(is_chosen);
}

void Disk::power_cut() {
  enum : u64 { kNothing, kWhatCameFirst, kAnyPart, kKinds };
  const u64 kind = scheduler_.pick(kKinds);
  const size_t prefix = scheduler_.pick(pending_.size() + 1);
  std::vector<bool> is_kept(pending_.size(), false);
  Keys lost;
  for (size_t i = 0; i < pending_.size(); ++i) {
    if (kind == kWhatCameFirst) is_kept[i] = i < prefix;
    if (kind == kAnyPart) is_kept[i] = !lost.meets(pending_[i]) && scheduler_.once_in(2);
    if (!is_kept[i]) lost.add(pending_[i]);
  }
  settle(is_kept);
  pending_.clear();
  for (const auto& node : nodes_) {
    node->entries = node->durable_entries;
    if (node->bytes != node->durable_bytes) tear(*node);
    node->bytes = node->durable_bytes;
    node->is_dirty = false;
    node->is_lost = false;
  }
  being_written.clear();
}

/// What is left of bytes that were not made durable.
void Disk::tear(Node& node) {
  enum : u64 { kNew, kSomeNew, kZeros, kOld, kKinds };
  const u64 kind = scheduler_.pick(kKinds);
  if (kind == kOld) return;
  node.durable_bytes = node.bytes;
  if (kind == kSomeNew) node.durable_bytes.resize(scheduler_.pick(node.bytes.size() + 1));
  if (kind == kZeros) node.durable_bytes.assign(node.bytes.size(), 0);
}

}  // namespace epochd::simulation
