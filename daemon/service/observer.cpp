#include "daemon/service/observer.hpp"

#include "daemon/host/host_info.hpp"
#include "daemon/log/log.hpp"

namespace epochd {
namespace {

/// Purging takes milliseconds: not after each of hundreds of jobs a second.
constexpr double kPurgePause_s = 1;
/// How often a running prover is asked what it has done.
constexpr double kLookPause_s = 0.25;

std::string phase_name(Phase phase) {
  return std::string(kPhaseNames[static_cast<size_t>(phase)]);
}

u64 count_of(const ProverUsage& usage, const char* counter) {
  const auto found = usage.counters.find(counter);
  return found == usage.counters.end() ? 0 : found->second;
}

}  // namespace

/// The given prover, and a word to the observer about all it does.
class ServiceObserver::Prover : public JobProver {
 public:
  Prover(ServiceObserver& observer, const ProvingTurn* turn, std::unique_ptr<JobProver> prover)
      : observer_(observer), attempt_(observer.attempt()), turn_(turn), prover_(std::move(prover)) {
    const ProverUsage usage = prover_->usage();
    board().set_backend(attempt_.id, usage.backend, usage.fallback);
  }
  ~Prover() override {
    note_waiting(false);
    look();
  }

  RunFacts prove_epochs(EpochExchange& exchange) override {
    enter(Phase::kExecuting);
    Exchange watched(*this, exchange);
    return watch([&] {
      const RunFacts facts = prover_->prove_epochs(watched);
      observer_.ends_.metrics.cycles.add(static_cast<double>(facts.cycles));
      return facts;
    });
  }

  void assemble(const EpochLoader& load, const ByteSink& bundle, const Checkpoint& check) override {
    enter(Phase::kAssembling);
    watch([&] {
      prover_->assemble(load, bundle, [&] {
        note_waiting(turn_ != nullptr && turn_->is_waiting());
        board().advance(attempt_.id);  // called between the parts of the work
        check();
      });
    });
  }

  void verify(const Path& bundle) override {
    verify_watched(bundle, [] {});
  }

  void verify_watched(const Path& bundle, const Checkpoint& check) override {
    enter(Phase::kVerifying);
    watch([&] {
      prover_->verify_watched(bundle, [&] {
        board().advance(attempt_.id);
        check();
      });
    });
  }

  ProverUsage usage() const override { return prover_->usage(); }
  std::map<std::string, double> stage_seconds() const override { return prover_->stage_seconds(); }

 private:
  /// The given exchange, and a word to the observer about what passes.
  class Exchange : public EpochExchange {
   public:
    Exchange(Prover& prover, EpochExchange& exchange) : prover_(prover), exchange_(exchange) {}

    std::optional<Bytes> load(u64 label) override { return exchange_.load(label); }
    ResumeStore* resume_store() override { return exchange_.resume_store(); }
    void resumed(u64 label) override {
      exchange_.resumed(label);
      prover_.observer_.ends_.metrics.epochs_resumed.add(static_cast<double>(label));
      prover_.board().set_epochs_done(prover_.attempt_.id, label);
      prover_.board().advance(prover_.attempt_.id);
    }
    void save(u64 label, std::span<const u8> bytes, bool was_stored) override {
      exchange_.save(label, bytes, was_stored);
      DaemonMetrics& metrics = prover_.observer_.ends_.metrics;
      (was_stored ? metrics.epochs_resumed : metrics.epochs_proved).add();
      prover_.board().set_epochs_done(prover_.attempt_.id, label);
      prover_.board().advance(prover_.attempt_.id);
    }
    void surveyed(const RunFacts& facts) override {
      exchange_.surveyed(facts);
      prover_.board().set_epochs(prover_.attempt_.id, facts.epochs);
      prover_.enter(Phase::kProving);
    }
    void check() override {
      prover_.look_now_and_then();
      exchange_.check();
    }
    void advanced() override {
      prover_.board().advance(prover_.attempt_.id);
      exchange_.advanced();
    }

   private:
    Prover& prover_;
    EpochExchange& exchange_;
  };

  Board& board() { return observer_.ends_.board; }

  void enter(Phase phase) {
    board().enter_phase(attempt_.id, phase_name(phase));
    board().advance(attempt_.id);
    log::set_stage(phase_name(phase));
  }

  /// What has been done since the last look.
  void look() {
    observer_.note_usage(attempt_, prover_->usage(), usage_);
    const auto totals = prover_->stage_seconds();
    if (totals != stages_) board().advance(attempt_.id);  // a stage ended somewhere
    observer_.note_stages(totals, stages_);
  }

  void look_now_and_then() {
    const double now_s = observer_.ends_.clock.seconds();
    if (now_s - looked_s_ < kLookPause_s) return;
    looked_s_ = now_s;
    note_waiting(turn_ != nullptr && turn_->is_waiting());
    look();
  }

  void note_waiting(bool is_waiting) {
    if (is_waiting == is_waiting_) return;
    is_waiting_ = is_waiting;
    board().set_waiting(attempt_.id, is_waiting);
    observer_.ends_.metrics.jobs_waiting.add(is_waiting ? 1 : -1);
  }

  template <class Work>
  auto watch(Work work) -> decltype(work()) {
    try {
      return work();
    } catch (const JobError& error) {
      look();  // what was used until then
      observer_.note_error(attempt_, error.reason());
      throw;
    } catch (const IoError&) {
      observer_.note_error(attempt_, Reason::kIo);
      throw;
    } catch (const std::bad_alloc&) {
      observer_.note_error(attempt_, Reason::kMemory);
      throw;
    }
  }

  ServiceObserver& observer_;
  Attempt& attempt_;
  const ProvingTurn* turn_;
  std::unique_ptr<JobProver> prover_;
  bool is_waiting_ = false;
  ProverUsage usage_;
  std::map<std::string, double> stages_;
  double looked_s_ = 0;
};

JobProverFactory ServiceObserver::observe(JobProverFactory make) {
  return [this, make = std::move(make)](const ProofRequest& request) -> std::unique_ptr<JobProver> {
    try {
      return std::make_unique<Prover>(*this, request.turn, make(request));
    } catch (const JobError& error) {
      note_error(attempt(), error.reason());
      throw;
    }
  };
}

ServiceObserver::Attempt& ServiceObserver::attempt() {
  const std::lock_guard lock(mutex_);
  return attempts_[std::this_thread::get_id()];
}

void ServiceObserver::between_jobs() {
  ends_.board.advance();
}

void ServiceObserver::resting(bool is_blocked) {
  purge(0);
  ends_.board.set_blocked(is_blocked);
  ends_.board.rest();
}

void ServiceObserver::started(const std::string& id) {
  log::set_job(id);
  attempt() = {id, ends_.clock.seconds()};
  ends_.board.begin_job(id);
  ends_.metrics.job_running.add(1);
}

void ServiceObserver::ended(const std::string& id, Outcome outcome) {
  log::set_job("");
  ends_.board.end_job(id, std::string(kOutcomeLabels[static_cast<size_t>(outcome)]));
  ends_.board.set_blocked(outcome == Outcome::kDiskFull);
  ends_.metrics.job_running.add(-1);
  ends_.metrics.count_outcome(outcome);
  const Attempt ended = attempt();
  ends_.metrics.job_seconds.observe(ends_.clock.seconds() - ended.start_s);
  if (ends_.config.latest().daemon.jemalloc.purge_after_job) {
    {
      const std::lock_guard lock(mutex_);
      is_purge_due_ = true;
    }
    purge(kPurgePause_s);
  }
  if (judge_device(ended)) ends_.device_lost();
}

bool ServiceObserver::judge_device(const Attempt& attempt) {
  const std::lock_guard lock(mutex_);
  // A lost context is mended by a new worker, without this. What new workers failed at as well may
  // take a new start of everything; but not a device that never worked, nor one that refused a job.
  const bool is_lost = attempt.device_failed && attempt.had_new_workers && has_device_proved_;
  has_device_proved_ = has_device_proved_ || (attempt.device_proved && !attempt.device_failed);
  if (!is_lost || said_device_lost_) return false;
  said_device_lost_ = true;
  return true;
}

void ServiceObserver::note_usage(Attempt& attempt, const ProverUsage& usage, ProverUsage& seen) {
  const auto add = [&](Metric& metric, const char* counter) {
    metric.add(static_cast<double>(count_of(usage, counter) - count_of(seen, counter)));
  };
  DaemonMetrics& metrics = ends_.metrics;
  add(metrics.fallbacks, "fallback");
  add(metrics.retries, "epoch_retry");
  add(metrics.refused_proofs, "self_verify_failed");
  add(metrics.worker_restarts, "worker_restart");
  metrics.bytes_to_device.add(static_cast<double>(usage.bytes_h2d - seen.bytes_h2d));
  metrics.bytes_from_device.add(static_cast<double>(usage.bytes_d2h - seen.bytes_d2h));
  if (usage.peak_device_bytes > 0) {
    metrics.device_bytes.set(static_cast<double>(usage.peak_device_bytes));
    ends_.board.set_device_bytes(usage.peak_device_bytes);
  }
  if (usage.fallback != seen.fallback || usage.backend != seen.backend) {
    ends_.board.set_backend(attempt.id, usage.backend, usage.fallback);
  }
  attempt.device_failed = attempt.device_failed || count_of(usage, "fallback") > 0;
  attempt.had_new_workers = attempt.had_new_workers || count_of(usage, "worker_restart") > 0;
  attempt.device_proved = attempt.device_proved || (usage.backend == "cuda" && usage.bytes_d2h > 0);
  seen = usage;
}

void ServiceObserver::note_stages(const std::map<std::string, double>& totals,
                                  std::map<std::string, double>& seen) {
  for (const auto& [stage, seconds] : totals) {
    const double more = seconds - seen[stage];
    if (more > 0) ends_.metrics.add_stage(stage, more);
  }
  seen = totals;
}

void ServiceObserver::note_error(Attempt& attempt, Reason reason) {
  ends_.metrics.count_error(reason);
  attempt.device_failed = attempt.device_failed || reason == Reason::kGpu;
}

/// Unless that was done less than `pause_s` ago.
void ServiceObserver::purge(double pause_s) {
  {
    const std::lock_guard lock(mutex_);
    const double now_s = ends_.clock.seconds();
    if (!is_purge_due_ || now_s - purged_s_ < pause_s) return;
    purged_s_ = now_s;
    is_purge_due_ = false;
  }
  release_free_memory();
}

}  // namespace epochd
