#include "tests/daemon/simulation/world.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>

#include "daemon/pipeline/worker.hpp"
#include "daemon/queue/drain.hpp"
#include "daemon/queue/retention.hpp"
#include "prover/core/parallel.hpp"
#include "tests/daemon/simulation/daemon_prover.hpp"
#include "tests/daemon/simulation/mutant.hpp"
#include "tests/daemon/simulation/users.hpp"

namespace epochd::simulation {
namespace {

constexpr u64 kUsersMax = 2;
constexpr u64 kLivesMax = 12;
constexpr u64 kLastLivesMax = 40;
constexpr u64 kHashPrime = 0x100000001b3;
/// So little that some finished jobs are removed.
constexpr RetentionLimits kRetention{0, 1500};
/// Of the checkpoints that a power cut leaves.
constexpr u64 kDamageOneIn = 6;
constexpr const char* kDaemon = "epochd";

/// What was proved and not saved is lost.
void forget_unsaved(Job& job) {
  std::erase_if(job.proved, [](const auto& proved) { return !proved.second.is_saved; });
}

/// One seed's world.
class World : public DiskWatcher, public WorkerObserver, public ProverWatcher {
 public:
  World(u64 seed, const Path& root, Mutation mutation, bool wants_log)
      : seed_(seed),
        mutation_(mutation),
        wants_log_(wants_log),
        scheduler_(seed, [this](const std::string& why) { hang(why); }),
        disk_(root, scheduler_),
        ledger_(disk_, config_) {
    if (wants_log) scheduler_.on_log = [this](const std::string& text) { note("log", text); };
  }

  ScheduleResult run() {
    scheduler_.run([this] { live(); });
    result_.violations = ledger_.violations();
    result_.steps = scheduler_.points();
    return std::move(result_);
  }

  // DiskWatcher
  void fault_injected(const Process& process, const Path& path, int code) override;
  void process_died(const Process& process) override;
  void step(const Process& process, const char* what, const Path& path) override;
  void naming(const Process& process, const Path& path, bool is_durable) override;
  void synced_again(const Process& process, const Path& path) override;

  // WorkerObserver
  void between_jobs() override {}
  void resting(bool) override {}
  void started(const std::string& id) override;
  void ended(const std::string& id, Outcome outcome) override;

  // ProverWatcher
  void begins(Lane lane, const JobKey& key, BackendPolicy policy) override;
  void pools_change(Lane lane, Unit unit, int change) override;
  void proving(Lane lane, Unit unit, u64 label) override;
  void proved(Lane lane, Unit unit, u64 label) override;
  void saved(Lane lane, u64 label, bool was_stored) override;
  void resumed(Lane lane, u64 label) override;
  void failed(Lane lane, bool is_internal) override;
  void leaves(Lane lane) override { running_.at(lane).is_certain = false; }

 private:
  struct Running {
    std::string id, tag;
    bool was_cancelled = false;  ///< before it began
    bool is_certain = false;     ///< a crash now must be charged
    u32 faults = 0;              ///< that this attempt may be charged with
    bool has_failed = false;     ///< its prover did
    bool is_distrusted = false;  ///< so that nothing it proved is kept
    JobKey key{};
    u64 proofs_of_cpu = 0;        ///< begun
    bool has_proved_all = false;  ///< and came to the global proof
    int pools = 0;                ///< that are open
  };

  void live();
  void draw_settings();
  void draw_units();
  void turn_settings();
  void life(bool is_last);
  void serve(const Process& process, ProcessFileSystem& fs, bool is_last);
  void tick(ProcessFileSystem& fs, Worker& worker, const bool& has_ended, bool is_last);
  void expire(ProcessFileSystem& fs);
  void end_life(const Process& process, bool may_cut);
  void damage_checkpoints();
  void charge_crash();
  void hang(const std::string& why);
  void note(const std::string& what, const std::string& detail);
  bool is_idle();
  Path active(const std::string& id) const { return place_path(disk_.root(), Place::kActive) / id; }

  u64 seed_;
  Mutation mutation_;
  bool wants_log_;
  Scheduler scheduler_;
  Config config_;
  Disk disk_;
  Ledger ledger_;
  FaultRates faults_;
  ScheduleResult result_;
  std::map<Lane, Running> running_;
  Units units_;
  std::unique_ptr<Users> users_;
  Worker* worker_ = nullptr;
  u64 death_within_ = 0;  ///< steps
  bool has_retention_ = false;
  bool is_dead_ = false;  ///< the daemon, in this life
  double death_s_ = 0;
  Clock clock_;
  std::atomic<bool> stop_ = false;
};

void World::note(const std::string& what, const std::string& detail) {
  if (!wants_log_) return;
  char time[32];
  std::snprintf(time, sizeof(time), "%10.4f  ", scheduler_.now_s());
  result_.log += time + what + "  " + detail + "\n";
}

void World::step(const Process& process, const char* what, const Path& path) {
  const std::string& text = path.native();
  const std::string shown = text.substr(std::min(text.size(), disk_.root().native().size()));
  for (const std::string& part : {process.name, std::string(what), shown}) {
    for (const char c : part) {
      result_.trace_hash = (result_.trace_hash ^ static_cast<u8>(c)) * kHashPrime;
    }
  }
  if (wants_log_) note(process.name, what + (" " + shown));
}

void World::fault_injected(const Process& process, const Path& path, int code) {
  ++result_.faults;
  note("fault", process.name + " " + std::strerror(code) + " " + path.string());
  ledger_.last_fault_s = scheduler_.now_s();
  if (process.name != kDaemon) return;
  if (faults_.fsync != 0) ledger_.is_sync_certain = false;
  // What is kept for a later attempt can be lost; that is nobody's failure.
  const std::string name = path.filename();
  if (name.find(kCheckpointSuffix) != name.npos || name.starts_with(kFactsFile)) return;
  for (auto& [lane, running] : running_) {
    running.is_certain = false;  // it may be on its way out
    if (code == ENOSPC) continue;
    ++running.faults;
    ++ledger_.job(running.tag).failures_max;
  }
}

void World::process_died(const Process& process) {
  note("dies", process.name);
  if (process.name != kDaemon) return;
  is_dead_ = true;
  death_s_ = scheduler_.now_s();
  charge_crash();
}

void World::charge_crash() {
  for (const auto& [thread, running] : running_) {
    Job& job = ledger_.job(running.tag);
    ++job.crashes_max;
    // Asked to stop, it may have been on its way out.
    const bool may_time_out = config_.daemon.timeouts.prove_s > 0 || job.has_deadline;
    const bool may_have_left = stop_ || job.was_cancelled || may_time_out || !running.is_certain;
    if (!may_have_left) ++job.crashes_min;
  }
}

void World::hang(const std::string& why) {
  std::fprintf(stderr, "%s%s\n%s\n", result_.log.c_str(), why.c_str(), reproduction(seed_).c_str());
}

void World::naming(const Process& process, const Path& path, bool is_durable) {
  if (process.name != kDaemon) return;
  ledger_.check_naming(path);
  if (is_durable || path.filename() == kStateFile) return;  // that one is for who looks
  ledger_.violate(path.string() + " gets its name before its bytes are durable");
}

void World::synced_again(const Process& process, const Path& path) {
  ledger_.violate(process.name + " syncs again what failed: " + path.string());
}

void World::started(const std::string& id) {
  note("begins", id);
  Running running;
  running.id = id;
  running.tag = ledger_.tag_of(active(id));
  running.was_cancelled = ledger_.job(running.tag).is_cancel_due;
  running_[std::this_thread::get_id()] = running;
}

void World::ended(const std::string& id, Outcome outcome) {
  static const char* const kNames[] = {"done",    "failed", "cancelled", "retry",
                                       "stopped", "full",   "yielded",   "twin"};
  note("ends", id + " " + kNames[static_cast<size_t>(outcome)]);
  const Running ended = running_.at(std::this_thread::get_id());
  running_.erase(std::this_thread::get_id());
  Job& job = ledger_.job(ended.tag);
  if (outcome == Outcome::kDone) job.was_done = true;
  if (is_dead_) {
    if (ended.is_distrusted) ledger_.last_fault_s = scheduler_.now_s();
    return forget_unsaved(job);
  }
  if (outcome == Outcome::kDone && ended.has_proved_all) {
    result_.proved_instead += job.policy == BackendPolicy::kCpu ? 0 : ended.proofs_of_cpu;
    ledger_.check_usage(ended.tag, ended.proofs_of_cpu);
  }
  if (ended.is_distrusted) ledger_.last_fault_s = scheduler_.now_s();
  // A job that is asked to leave keeps all that was being proved.
  const bool was_asked = outcome == Outcome::kStopped || outcome == Outcome::kYielded;
  if (!was_asked) forget_unsaved(job);
  // Taking the attempt back may fail as well, or not outlive a power cut; then it looks like a
  // crash.
  if (ended.faults > 0 && disk_.may_be_there(active(id) / kRunningFile)) ++job.crashes_max;
  if (outcome == Outcome::kRetry && ended.has_failed && ended.faults == 0) ++job.failures_min;
}

void World::begins(Lane lane, const JobKey& key, BackendPolicy policy) {
  Running& running = running_.at(lane);
  running.is_certain = true;
  running.key = key;
  ledger_.keys[running.tag] = key;
  ledger_.job(running.tag).policy = policy;
  if (running.was_cancelled) {
    ledger_.violate(running.tag + " is begun again though it was cancelled");
  }
}

void World::pools_change(Lane lane, Unit unit, int change) {
  const char* const what = change > 0 ? "takes" : "lets go of";
  note(what, running_.at(lane).id + (unit == Unit::kCpu ? " the CPU" : " a device"));
  running_.at(lane).pools += change;
  const auto proves = [](const auto& running) { return running.second.pools > 0; };
  if (std::count_if(running_.begin(), running_.end(), proves) > 1) {
    ledger_.violate("two jobs prove at once, one of them " + running_.at(lane).tag);
  }
}

void World::proving(Lane lane, Unit unit, u64 label) {
  Running& running = running_.at(lane);
  const bool is_cpu = unit == Unit::kCpu;
  note("proves", running.id + " " + std::to_string(label) + (is_cpu ? " cpu" : " device"));
  if (is_dead_) return;
  running.proofs_of_cpu += is_cpu;
  const BackendPolicy policy = ledger_.job(running.tag).policy;
  if (is_cpu && policy == BackendPolicy::kCudaRequired) {
    ledger_.violate(running.tag + " requires a device and is proved on the CPU");
  }
  if (label == kGlobalLabel) {
    running.has_proved_all = true;
    return;
  }
  ledger_.check_proving(running.tag, active(running.id), running.key, label);
}

void World::proved(Lane lane, Unit, u64 label) {
  if (is_dead_) return;
  ledger_.job(running_.at(lane).tag).proved[label] = {ledger_.life, scheduler_.now_s(), false};
}

void World::saved(Lane lane, u64 label, bool was_stored) {
  if (is_dead_) return;
  result_.resumed += was_stored;
  ledger_.job(running_.at(lane).tag).proved[label] = {ledger_.life, scheduler_.now_s(), true};
}

void World::resumed(Lane lane, u64 label) {
  ++result_.checkpoints;
  result_.resumed += label;
  const Running& running = running_.at(lane);
  note("goes on after", running.id + " " + std::to_string(label));
  ledger_.check_resumed(running.tag, active(running.id), label);
}

void World::failed(Lane lane, bool is_internal) {
  Running& running = running_.at(lane);
  note("fails", running.id);
  if (is_dead_) return;
  ++result_.units_failed;
  running.has_failed = true;
  running.is_certain = false;
  ++ledger_.job(running.tag).failures_max;
  running.is_distrusted = running.is_distrusted || is_internal;
}

void World::draw_settings() {
  Scheduler& s = scheduler_;
  config_.protocol.epoch_size_log2 = 6;
  config_.daemon.threads = 1;
  config_.daemon.rescan_s = 5;
  const auto budget = [&](u64 count) { return static_cast<u32>(s.pick(count)); };
  config_.daemon.retries.failures = budget(3);
  config_.daemon.retries.crashes = budget(5);
  config_.daemon.retries.delay_s = budget(3);
  // Half of the schedules have a disk that never fails, so that nothing excuses lost work.
  if (s.once_in(2)) {
    ledger_.has_faults = true;
    const u64 rate = 100 + s.pick(900);
    for (u64* kind : {&faults_.fsync, &faults_.write, &faults_.read, &faults_.rename}) {
      if (s.once_in(2)) *kind = rate;
    }
    if (s.once_in(2)) faults_.slow = rate;
  }
  death_within_ = 20 + s.pick(600);
  has_retention_ = s.once_in(4);
  const double paces_s[] = {0.001, 0.05, 0.4};
  draw_units();
  units_.pace_s = paces_s[s.pick(3)];
  config_.daemon.jobs_at_once = static_cast<u32>(1 + s.pick(3));
  config_.daemon.pipeline_depth = static_cast<u32>(1 + s.pick(3));
  if (s.once_in(6)) config_.daemon.timeouts.prove_s = 2;
}

void World::draw_units() {
  Scheduler& s = scheduler_;
  units_.mutation = mutation_;
  units_.has_device = !s.once_in(4);
  if (units_.has_device) {
    config_.daemon.backend = static_cast<BackendPolicy>(s.pick(kBackendPolicyNames.size()));
  }
  // Two pools at once are more than the workers promise to stand.
  units_.has_workers = s.once_in(2) && mutation_ != Mutation::kForgetTurn;
  units_.checkpoints = {s.pick(2) * 64, s.once_in(3) ? 0.1 : 0, static_cast<double>(s.pick(2))};
  // A third of the schedules have nothing fail but the disk.
  if (s.once_in(3)) return;
  units_.surprise = 60;
  units_.refusal = 20;
  units_.cpu = {200, 200, 200, 0, 40};
  const u64 rate = 5 + s.pick(60);
  for (u64* kind : {&units_.device.error, &units_.device.flip, &units_.device.loss}) {
    if (s.once_in(2)) *kind = rate;
  }
  units_.device.memory = 200;
  units_.device.slow = 40;
  if (s.once_in(2)) units_.device.death = rate / 2;
  if (s.once_in(4)) units_.device.hang = 4 * rate;
}

/// The operator writes other settings, and reloads them.
void World::turn_settings() {
  Scheduler& s = scheduler_;
  const std::array<u32, 3> ageing_s = {1, 5, 60};
  config_.daemon.ageing_s = ageing_s[s.pick(ageing_s.size())];
  config_.daemon.jobs_at_once = static_cast<u32>(1 + s.pick(3));  // from the next life on
  config_.daemon.pipeline_depth = static_cast<u32>(1 + s.pick(3));
  config_.daemon.rescan_s = static_cast<u32>(1 + s.pick(5));
}

bool World::is_idle() {
  for (const Place place : {Place::kIncoming, Place::kActive}) {
    const auto inode = disk_.find(place_path(disk_.root(), place));
    if (!inode || !disk_.node(*inode).entries.empty()) return false;
  }
  return true;
}

void World::live() {
  draw_settings();
  const u64 count = 1 + scheduler_.pick(kUsersMax);
  users_ = std::make_unique<Users>(count, disk_, ledger_, *this, [this] {
    if (worker_ != nullptr) worker_->wake();
  });
  std::vector<std::thread> threads;
  for (u64 i = 0; i < count; ++i) threads.emplace_back([this, i] { users_->run(i); });
  threads.emplace_back([this] { users_->fill_disk(); });
  threads.emplace_back([this] { users_->turn_clock(); });
  while (result_.lives < kLivesMax && !(users_->have_ended() && is_idle())) life(false);
  for (std::thread& thread : threads) thread.join();
  // The disk is mended, there is room, nobody drains: now everything comes to its end.
  faults_ = {};
  units_.cpu = units_.device = {};
  units_.surprise = units_.refusal = 0;
  units_.has_device = true;
  disk_.is_full = false;
  users_->undo_drain();
  for (u64 i = 0; i < kLastLivesMax && !is_idle(); ++i) life(true);
  life(true);
  ledger_.check_end();
  for (const auto& [tag, job] : ledger_.jobs()) result_.done += job.was_done;
  result_.submitted = ledger_.jobs().size();
}

void World::life(bool is_last) {
  ledger_.life = ++result_.lives;
  Process process;
  process.name = kDaemon;
  if (!is_last && !scheduler_.once_in(4)) process.dies_at_step = 1 + scheduler_.pick(death_within_);
  note("life", std::to_string(ledger_.life));
  stop_ = false;
  is_dead_ = false;
  Mutant fs(mutation_, disk_, process, faults_, *this);
  try {
    serve(process, fs, is_last);
  } catch (const Crashed&) {
  } catch (const IoError& error) {
    note("exits", error.what());
    scheduler_.sleep(1);  // until it is started again
  }
  end_life(process, !is_last);
}

void World::serve(const Process& process, ProcessFileSystem& fs, bool is_last) {
  Queue queue(fs, disk_.root());
  if (!is_last && is_drained(fs, disk_.root())) return scheduler_.sleep(1);
  DaemonProvers provers(scheduler_, fs, *this, units_, ledger_.expected);
  JobHandler handler(fs, queue, config_, {}, provers.factory(), clock_, stop_);
  Worker worker(fs, queue, handler, config_.daemon, stop_, this);
  worker_ = &worker;
  bool has_ended = false;
  std::thread ticker([&] {
    try {
      tick(fs, worker, has_ended, is_last);
    } catch (const Crashed&) {
      worker.stop();
    }
  });
  std::exception_ptr error;
  try {
    worker.run(is_last);
  } catch (...) {
    error = std::current_exception();
  }
  has_ended = true;
  worker_ = nullptr;
  ticker.join();
  if (error) std::rethrow_exception(error);
  if (!process.is_alive) throw Crashed();
}

/// What the control thread and the housekeeper do.
void World::tick(ProcessFileSystem& fs, Worker& worker, const bool& has_ended, bool is_last) {
  const double stop_s = scheduler_.now_s() + 1 + static_cast<double>(scheduler_.pick(60));
  while (!has_ended) {
    scheduler_.sleep(0.5);
    if (has_ended || is_last) continue;
    try {
      const bool is_over = users_->have_ended() && is_idle();
      if (is_over || scheduler_.now_s() > stop_s || is_drained(fs, disk_.root())) worker.stop();
      if (has_retention_ && scheduler_.once_in(4)) expire(fs);
      if (scheduler_.once_in(16)) turn_settings();
    } catch (const IoError&) {
    }
  }
}

void World::expire(ProcessFileSystem& fs) {
  users_->expect_removals();
  finish_interrupted_removals(fs, disk_.root());
  apply_retention(fs, disk_.root(), Place::kDone, kRetention, clock_.unix_seconds());
  apply_retention(fs, disk_.root(), Place::kFailed, kRetention, clock_.unix_seconds());
}

void World::end_life(const Process& process, bool may_cut) {
  const bool is_crash = !process.is_alive;
  ledger_.ends.push_back({ledger_.life, is_crash, is_crash ? death_s_ : scheduler_.now_s()});
  for (const auto& [lane, running] : running_) forget_unsaved(ledger_.job(running.tag));
  running_.clear();
  result_.deaths += is_crash;
  if (is_crash && may_cut && scheduler_.once_in(2)) {
    ++result_.power_cuts;
    note("power cut", "");
    users_->die();
    disk_.power_cut();
    damage_checkpoints();
  }
  ledger_.check_places(false);
}

/// A disk may keep another half of what was written, or another file's, than any promise says.
void World::damage_checkpoints() {
  std::vector<Disk::Node*> found;
  const auto active = disk_.find(place_path(disk_.root(), Place::kActive));
  if (!active) return;
  for (const auto& [id, job] : disk_.node(*active).entries) {
    const auto epochs = disk_.find(this->active(id) / kEpochsName);
    if (!epochs) continue;
    for (const auto& [name, inode] : disk_.node(*epochs).entries) {
      if (name.ends_with(kCheckpointSuffix)) found.push_back(&disk_.node(inode));
    }
  }
  for (Disk::Node* node : found) {
    if (!scheduler_.once_in(kDamageOneIn)) continue;
    ledger_.last_fault_s = scheduler_.now_s();  // the program is run again, and epochs with it
    enum : u64 { kCut, kFlipped, kForeign, kKinds };
    const u64 kind = scheduler_.pick(kKinds);
    Bytes& bytes = node->bytes;
    if (kind == kCut) bytes.resize(scheduler_.pick(bytes.size() + 1));
    if (kind == kFlipped && !bytes.empty()) bytes[scheduler_.pick(bytes.size())] ^= 1;
    if (kind == kForeign) bytes = found[scheduler_.pick(found.size())]->bytes;
    node->durable_bytes = bytes;
  }
}

}  // namespace

std::string reproduction(u64 seed) {
  return "EPOCHD_SIMULATION_SEED=" + std::to_string(seed) +
         " EPOCHD_SIMULATION_SCHEDULES=1 EPOCHD_SIMULATION_LOG=1 daemon_simulation_test "
         "--gtest_filter=*Schedules.KeepEveryPromise*";
}

ScheduleResult run_schedule(u64 seed, const Path& root, Mutation mutation, bool wants_log) {
  for (const std::string_view name : kPlaceNames) std::filesystem::create_directories(root / name);
  std::filesystem::create_directories(root / kTmpName);
  // What the library of the loops does once, it does before the first schedule.
  Parallel(1).for_ranges(2, 1, [](size_t, size_t) {});
  World world(seed, root, mutation, wants_log);
  return world.run();
}

}  // namespace epochd::simulation
