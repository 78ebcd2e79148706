#include "tests/daemon/simulation/users.hpp"

#include "daemon/queue/drain.hpp"
#include "daemon/queue/durable.hpp"
#include "daemon/queue/queue.hpp"
#include "daemon/queue/steer.hpp"

namespace epochd::simulation {
namespace {

using SteerOutcome = Steered::Outcome;

constexpr u64 kActsMax = 12;
constexpr double kPause_s = 1.5;
constexpr u64 kEpochsMax = 10;
constexpr u64 kDeadlineMax_s = 60;
constexpr double kHour_s = 3600;
constexpr FaultRates kNoFaults;

}  // namespace

void Users::run(u64 number) {
  Scheduler& s = disk_.scheduler();
  const u64 acts = 2 + s.pick(kActsMax);
  for (u64 i = 0; i < acts; ++i) {
    s.sleep(kPause_s * static_cast<double>(s.pick(100)) / 100);
    act(number);
    if (!s.once_in(4)) wake_();
  }
  ++ended_;
}

void Users::act(u64 number) {
  Scheduler& s = disk_.scheduler();
  Process process;
  process.name = "user";
  if (s.once_in(8)) process.dies_at_step = 1 + s.pick(60);
  alive_.insert(&process);
  ProcessFileSystem fs(disk_, process, kNoFaults, watcher_);
  try {
    do_something(fs, "u" + std::to_string(number) + "-" + std::to_string(submitted_));
  } catch (const Crashed&) {
  } catch (const IoError&) {  // told that it did not work
  }
  alive_.erase(&process);
}

void Users::do_something(FileSystem& fs, const std::string& new_tag) {
  switch (disk_.scheduler().pick(16)) {
    case 0:
      return drain_for_a_while(fs);
    case 1:
      return copy_slowly(fs, new_tag);
    case 2:
    case 3:
      return drop_lone_program(fs, new_tag);
    case 4:
    case 5:
      return cancel(fs, some_tag());
    case 6:
      return hold(fs, some_tag());
    case 7:
    case 8:
      return release(fs, some_tag());
    case 9:
      return retry(fs, some_tag());
    default:
      return submit(fs, new_tag);
  }
}

void Users::die() {
  for (Process* process : alive_) process->is_alive = false;
}

void Users::fill_disk() {
  Scheduler& s = disk_.scheduler();
  if (s.once_in(2)) return;
  ledger_.has_faults = ledger_.has_faults || s.once_in(2);
  while (!have_ended()) {
    s.sleep(static_cast<double>(1 + s.pick(8)));
    disk_.is_full = true;
    s.sleep(static_cast<double>(1 + s.pick(60)) / 10);
    disk_.is_full = false;
  }
}

void Users::turn_clock() {
  Scheduler& s = disk_.scheduler();
  if (!s.once_in(4)) return;
  while (!have_ended()) {
    s.sleep(static_cast<double>(1 + s.pick(10)));
    s.turn_clock(kHour_s * (static_cast<double>(s.pick(9)) - 5));
  }
}

void Users::expect_removals() {
  are_removed_ = true;
  for (const std::string& tag : tags_) ledger_.job(tag).may_be_removed = true;
}

void Users::undo_drain() {
  Process process;
  ProcessFileSystem fs(disk_, process, kNoFaults, watcher_);
  withdraw_drain(fs, disk_.root());
}

Job& Users::invent(const std::string& tag) {
  Scheduler& s = disk_.scheduler();
  Job& job = ledger_.job(tag);
  ++submitted_;
  tags_.push_back(tag);
  job.may_be_removed = are_removed_;
  if (tags_.size() > 1 && s.once_in(4)) {  // the same as an earlier one
    const Job& other = ledger_.job(tags_[s.pick(tags_.size() - 1)]);
    job.elf = other.elf;
    job.input = other.input;
    job.has_guest_fault = other.has_guest_fault;
    return job;
  }
  job.has_guest_fault = s.once_in(10);
  job.elf = make_program({1 + s.pick(kEpochsMax), submitted_, job.has_guest_fault});
  if (s.once_in(2)) job.input = "input of " + tag;
  return job;
}

JobSpec Users::invent_spec(const std::string& tag, Job& job) {
  Scheduler& s = disk_.scheduler();
  JobSpec spec;
  spec.name = tag;
  spec.priority = static_cast<i32>(s.pick(3));
  if (s.once_in(2)) spec.backend = static_cast<BackendPolicy>(s.pick(kBackendPolicyNames.size()));
  job.policy = spec.backend.value_or(BackendPolicy::kCpu);
  if (s.once_in(16)) {
    const i64 now_s = s.unix_ns() / 1'000'000'000;
    spec.deadline_unix = now_s + 1 + static_cast<i64>(s.pick(kDeadlineMax_s));
    job.has_deadline = true;
  }
  return spec;
}

std::string Users::some_tag() {
  if (tags_.empty()) return "nobody";
  return tags_[disk_.scheduler().pick(tags_.size())];
}

Path Users::upload(FileSystem& fs, const std::string& name, const std::string& text) {
  complete_queue_directories(fs, disk_.root());
  const Path path = disk_.root() / kTmpName / ("upload-" + name);
  const FileHandle file = fs.create_file(path);
  fs.write(file, path, as_bytes(text));
  fs.sync_file(file, path);
  return path;
}

void Users::submit(FileSystem& fs, const std::string& tag) {
  Job& job = invent(tag);
  SubmitRequest request;
  request.id = tag;
  request.spec = invent_spec(tag, job);
  request.program = upload(fs, tag + ".elf", job.elf);
  if (!job.input.empty()) request.input = upload(fs, tag + ".input", job.input);
  submit_job(fs, disk_.root(), request);
  job.is_certain = true;
}

void Users::drop_lone_program(FileSystem& fs, const std::string& tag) {
  Job& job = invent(tag);
  const Path incoming = place_path(disk_.root(), Place::kIncoming);
  if (!job.input.empty()) {
    fs.rename_no_replace(upload(fs, tag + ".input", job.input), incoming / (tag + ".input"));
    fs.sync_directory(incoming);
  }
  fs.rename_no_replace(upload(fs, tag + ".elf", job.elf), incoming / (tag + ".elf"));
  fs.sync_directory(incoming);
  job.is_certain = true;
}

/// Renamed in while its program is still being written.
void Users::copy_slowly(FileSystem& fs, const std::string& tag) {
  Job& job = invent(tag);
  complete_queue_directories(fs, disk_.root());
  const Path built = disk_.root() / kTmpName / tag;
  fs.make_directory(built);
  JobSpec spec;
  spec.name = tag;
  replace_file(fs, built / kJobFile, as_bytes(job_yaml(spec)));
  if (!job.input.empty()) replace_file(fs, built / kInputFile, as_bytes(job.input));
  const Path program = built / kProgramFile;
  const FileHandle file = fs.create_file(program);
  const Disk::Inode inode = *disk_.find(program);
  disk_.being_written.insert(inode);
  job.may_be_half = true;
  const size_t half = job.elf.size() / 2;
  try {
    fs.write(file, program, as_bytes(job.elf.substr(0, half)));
    fs.sync_directory(built);
    move_no_replace(fs, built, place_path(disk_.root(), Place::kIncoming) / tag);
    disk_.scheduler().sleep(2);
    fs.write(file, program, as_bytes(job.elf.substr(half)));
    fs.sync_file(file, program);
  } catch (...) {
    disk_.being_written.erase(inode);
    throw;
  }
  disk_.being_written.erase(inode);
  job.may_be_half = false;
  job.is_certain = true;
}

void Users::drain_for_a_while(FileSystem& fs) {
  complete_queue_directories(fs, disk_.root());
  request_drain(fs, disk_.root());
  disk_.scheduler().sleep(2);
  withdraw_drain(fs, disk_.root());
}

void Users::cancel(FileSystem& fs, const std::string& tag) {
  Job& job = ledger_.job(tag);
  job.was_cancelled = true;
  job.must_be_held = false;
  const Steered steered = cancel_job(fs, disk_.root(), tag);
  if (steered.outcome == SteerOutcome::kDone) job.must_be_cancelled = true;
  if (steered.outcome == SteerOutcome::kRequested) job.is_cancel_due = true;
}

void Users::hold(FileSystem& fs, const std::string& tag) {
  Job& job = ledger_.job(tag);
  job.was_held = true;
  const Steered steered = hold_job(fs, disk_.root(), tag);
  if (steered.outcome == SteerOutcome::kDone) job.must_be_held = true;
}

void Users::release(FileSystem& fs, const std::string& tag) {
  ledger_.job(tag).must_be_held = false;
  release_job(fs, disk_.root(), tag);
}

void Users::retry(FileSystem& fs, const std::string& tag) {
  Job& job = ledger_.job(tag);
  job.was_retried = true;
  job.crashes_min = 0;
  job.failures_min = 0;
  job.is_cancel_due = false;
  job.must_be_cancelled = false;
  retry_job(fs, disk_.root(), tag);
}

}  // namespace epochd::simulation
