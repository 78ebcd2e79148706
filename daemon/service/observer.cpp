#include "daemon/service/observer.hpp"

#include <algorithm>

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
  Prover(ServiceObserver& observer, std::unique_ptr<JobProver> prover)
      : observer_(observer), prover_(std::move(prover)) {
    observer_.note_backend(prover_->usage());
  }
  ~Prover() override { look(); }

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
        board().advance();  // called between the parts of the work
        check();
      });
    });
  }

  void verify(const Path& bundle) override {
    enter(Phase::kVerifying);
    watch([&] { prover_->verify(bundle); });
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
      note_done(label);
    }
    void save(u64 label, std::span<const u8> bytes, bool was_stored) override {
      exchange_.save(label, bytes, was_stored);
      DaemonMetrics& metrics = prover_.observer_.ends_.metrics;
      (was_stored ? metrics.epochs_resumed : metrics.epochs_proved).add();
      note_done(label);
    }
    void surveyed(const RunFacts& facts) override {
      exchange_.surveyed(facts);
      prover_.board().set_epochs(facts.epochs);
      prover_.enter(Phase::kProving);
    }
    void check() override {
      prover_.look_now_and_then();
      exchange_.check();
    }

   private:
    void note_done(u64 label) {
      done_ = std::max(done_, label);
      prover_.board().set_epochs_done(done_);
      prover_.board().advance();
    }

    Prover& prover_;
    EpochExchange& exchange_;
    u64 done_ = 0;  ///< the highest label: some are proved again at the end
  };

  Board& board() { return observer_.ends_.board; }

  void enter(Phase phase) {
    board().enter_phase(phase_name(phase));
    board().advance();
    log::set_stage(phase_name(phase));
  }

  /// What has been done since the last look.
  void look() {
    observer_.note_usage(prover_->usage(), usage_);
    const auto totals = prover_->stage_seconds();
    if (totals != stages_) board().advance();  // a stage ended somewhere
    observer_.note_stages(totals, stages_);
  }

  void look_now_and_then() {
    const double now_s = observer_.ends_.clock.seconds();
    if (now_s - looked_s_ < kLookPause_s) return;
    looked_s_ = now_s;
    look();
  }

  template <class Work>
  auto watch(Work work) -> decltype(work()) {
    try {
      return work();
    } catch (const JobError& error) {
      look();  // what was used until then
      observer_.note_error(error.reason());
      throw;
    } catch (const IoError&) {
      observer_.note_error(Reason::kIo);
      throw;
    } catch (const std::bad_alloc&) {
      observer_.note_error(Reason::kMemory);
      throw;
    }
  }

  ServiceObserver& observer_;
  std::unique_ptr<JobProver> prover_;
  ProverUsage usage_;
  std::map<std::string, double> stages_;
  double looked_s_ = 0;
};

JobProverFactory ServiceObserver::observe(JobProverFactory make) {
  return [this, make = std::move(make)](const ProofRequest& request) -> std::unique_ptr<JobProver> {
    try {
      return std::make_unique<Prover>(*this, make(request));
    } catch (const JobError& error) {
      note_error(error.reason());
      throw;
    }
  };
}

void ServiceObserver::between_jobs() {
  ends_.board.advance();
  ends_.config.take_over();
}

void ServiceObserver::resting(bool is_blocked) {
  if (is_purge_due_) purge();
  ends_.board.set_blocked(is_blocked);
  ends_.board.rest();
}

void ServiceObserver::started(const std::string& id) {
  log::set_job(id);
  device_failed_ = device_proved_ = had_new_workers_ = false;
  job_start_s_ = ends_.clock.seconds();
  RunningJob job;
  job.id = id;
  ends_.board.begin_job(std::move(job));
  ends_.board.advance();
  ends_.metrics.job_running.set(1);
}

void ServiceObserver::ended(const std::string&, Outcome outcome) {
  log::set_job("");
  ends_.board.end_job(std::string(kOutcomeLabels[static_cast<size_t>(outcome)]));
  ends_.board.set_blocked(outcome == Outcome::kDiskFull);
  ends_.board.advance();
  ends_.metrics.job_running.set(0);
  ends_.metrics.count_outcome(outcome);
  ends_.metrics.job_seconds.observe(ends_.clock.seconds() - job_start_s_);
  is_purge_due_ = ends_.config.current().daemon.jemalloc.purge_after_job;
  if (is_purge_due_ && ends_.clock.seconds() - purged_s_ >= kPurgePause_s) purge();

  // A lost context is mended by a new worker, without this. What new workers failed at as well may
  // take a new start of everything; but not a device that never worked, nor one that refused a job.
  const bool is_lost = device_failed_ && had_new_workers_ && has_device_proved_;
  has_device_proved_ = has_device_proved_ || (device_proved_ && !device_failed_);
  if (!is_lost || said_device_lost_) return;
  said_device_lost_ = true;
  ends_.device_lost();
}

void ServiceObserver::note_backend(const ProverUsage& usage) {
  ends_.board.set_backend(usage.backend, usage.fallback);
}

void ServiceObserver::note_usage(const ProverUsage& usage, ProverUsage& seen) {
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
  metrics.device_bytes.set(static_cast<double>(usage.peak_device_bytes));
  ends_.board.set_device_bytes(usage.peak_device_bytes);
  if (usage.fallback != seen.fallback || usage.backend != seen.backend) note_backend(usage);
  device_failed_ = device_failed_ || count_of(usage, "fallback") > 0;
  had_new_workers_ = had_new_workers_ || count_of(usage, "worker_restart") > 0;
  device_proved_ = device_proved_ || (usage.backend == "cuda" && usage.bytes_d2h > 0);
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

void ServiceObserver::note_error(Reason reason) {
  ends_.metrics.count_error(reason);
  device_failed_ = device_failed_ || reason == Reason::kGpu;
}

void ServiceObserver::purge() {
  release_free_memory();
  purged_s_ = ends_.clock.seconds();
  is_purge_due_ = false;
}

}  // namespace epochd
