#include "tests/daemon/simulation/daemon_prover.hpp"

#include <new>
#include <stdexcept>

#include "daemon/pipeline/job_key.hpp"
#include "daemon/pipeline/local_pool.hpp"
#include "daemon/queue/reason.hpp"

namespace epochd::simulation {
namespace {

constexpr double kSlow_s = 3;
constexpr u64 kLossMax_s = 8;
constexpr u64 kBundleBytesMax = 1 << 20;
constexpr u32 kAttempts = 2;    ///< of the primary, at an epoch or the global proof
constexpr u32 kAssemblies = 3;  ///< of a bundle

/// What all that proves for one attempt shares.
struct Attempt {
  Scheduler& scheduler;
  FileSystem& fs;
  ProverWatcher& watcher;
  Units& units;
  ExpectedRuns& expected;
  ProofRequest request;
  Lane lane;
  std::map<u64, u32> failures = {};  ///< in a row, of the primary, by label
  u32 refusals = 0;                  ///< of this job's bundles
  u32 refusals_due = 0;              ///< that the seed had in mind

  bool once_in(u64 times) { return times != 0 && scheduler.once_in(times); }
  Unit primary() const {
    return request.backend == BackendPolicy::kCpu ? Unit::kCpu : Unit::kDevice;
  }
  /// Whether that ends the attempt.
  void note_failure(Unit unit, u64 label) {
    const bool is_primary = unit == primary();
    if (is_primary && ++failures[label] < kAttempts) return;
    const bool may_fall_back = request.backend == BackendPolicy::kCudaPreferred;
    if (is_primary && may_fall_back) return;
    watcher.failed(lane, unit == Unit::kCpu);
  }
};

/// A pool's prover: one thread of it.
class SimulatedProver : public EpochProver {
 public:
  SimulatedProver(Attempt& attempt, Unit unit, const ProvingKey& key)
      : attempt_(attempt), unit_(unit), program_(key.vk.digest()) {
    attempt_.watcher.pools_change(attempt_.lane, unit_, 1);
  }
  ~SimulatedProver() override { attempt_.watcher.pools_change(attempt_.lane, unit_, -1); }

  EpochProof prove_epoch(const EpochRecords& records, const ProveHooks&) override {
    const u64 label = records.public_values.label;
    attempt_.watcher.proving(attempt_.lane, unit_, label);
    take_time();
    maybe_fail(label);
    EpochProof proof = simulated_proof(program_, records.public_values, records.boundary);
    usage_.bytes_d2h += unit_ == Unit::kDevice ? proof.record.size() * sizeof(u64) : 0;
    if (attempt_.once_in(faults().flip)) {
      attempt_.note_failure(unit_, label);
      proof.record.back() ^= 1;
      return proof;
    }
    attempt_.failures.erase(label);
    attempt_.watcher.proved(attempt_.lane, unit_, label);
    return proof;
  }

  bool prove_global(const BoundaryStore& boundaries, const RunMemory::Ends& ends,
                    const std::function<void(std::span<const u64>)>& emit,
                    const std::function<bool()>& cancelled) override {
    attempt_.watcher.proving(attempt_.lane, unit_, kGlobalLabel);
    const bool fails_late = attempt_.scheduler.once_in(2);
    take_time();
    if (!fails_late) maybe_fail(kGlobalLabel);
    const u64 flip = attempt_.once_in(faults().flip) ? 1 : 0;
    attempt_.refusals_due += flip != 0;
    const bool is_complete =
        emit_simulated_global(program_, boundaries, ends, emit, cancelled, flip);
    if (is_complete && fails_late) maybe_fail(kGlobalLabel);
    attempt_.failures.erase(kGlobalLabel);
    return is_complete;
  }

  ProverUsage usage() const override { return usage_; }
  void name_backend(const char* name) { usage_.backend = name; }

 private:
  const UnitFaults& faults() const {
    return unit_ == Unit::kCpu ? attempt_.units.cpu : attempt_.units.device;
  }
  void take_time() {
    Scheduler& s = attempt_.scheduler;
    const double share = static_cast<double>(s.pick(100)) / 100;
    s.sleep(attempt_.once_in(faults().slow) ? kSlow_s : attempt_.units.pace_s * share);
  }
  void maybe_fail(u64 label) {
    Scheduler& s = attempt_.scheduler;
    if (attempt_.once_in(faults().memory)) {
      attempt_.watcher.failed(attempt_.lane, false);
      throw std::bad_alloc();
    }
    if (attempt_.once_in(faults().loss)) {
      attempt_.units.lost_until_s = s.now_s() + static_cast<double>(1 + s.pick(kLossMax_s));
    }
    const bool is_lost = unit_ == Unit::kDevice && attempt_.units.is_device_lost(s);
    if (!is_lost && !attempt_.once_in(faults().error)) return;
    attempt_.note_failure(unit_, label);
    throw std::runtime_error(is_lost ? "the simulated device is lost" : "a simulated error");
  }

  Attempt& attempt_;
  Unit unit_;
  prover::Digest program_;
  ProverUsage usage_;
};

PoolFactory pool_of(Attempt& attempt, Unit unit, u32 provers) {
  return [&attempt, unit, provers](const PoolJob& job) -> std::unique_ptr<ProverPool> {
    const bool is_device = unit == Unit::kDevice;
    if (is_device && attempt.units.is_device_lost(attempt.scheduler)) {
      const bool may_fall_back = attempt.request.backend == BackendPolicy::kCudaPreferred;
      if (!may_fall_back) attempt.watcher.failed(attempt.lane, false);
      throw std::runtime_error("the simulated device cannot be opened");
    }
    const auto make = [&attempt, unit, is_device, &job] {
      auto prover = std::make_unique<SimulatedProver>(attempt, unit, *job.key);
      prover->name_backend(is_device ? "cuda" : "cpu");
      return prover;
    };
    return std::make_unique<LocalPool>(job, LocalPool::Threads{1, provers}, make);
  };
}

/// What the engine's exchange passes on, watched.
class WatchedExchange : public EpochExchange {
 public:
  WatchedExchange(Attempt& attempt, EpochExchange& exchange)
      : attempt_(attempt), exchange_(exchange) {}

  std::optional<Bytes> load(u64 label) override { return exchange_.load(label); }
  ResumeStore* resume_store() override { return exchange_.resume_store(); }
  void resumed(u64 label) override {
    attempt_.watcher.resumed(attempt_.lane, label);
    exchange_.resumed(label);
  }
  void save(u64 label, std::span<const u8> bytes, bool was_stored) override {
    exchange_.save(label, bytes, was_stored);
    attempt_.watcher.saved(attempt_.lane, label, was_stored);
  }
  void surveyed(const RunFacts& facts) override { exchange_.surveyed(facts); }
  void check() override { exchange_.check(); }

 private:
  Attempt& attempt_;
  EpochExchange& exchange_;
};

class DaemonProver : public JobProver {
 public:
  explicit DaemonProver(Attempt attempt) : attempt_(std::move(attempt)) {
    const Mutation mutation = attempt_.units.mutation;
    ProofRequest& request = attempt_.request;
    attempt_.watcher.begins(attempt_.lane, job_key(request), request.backend);
    request.checkpoints = attempt_.units.checkpoints;
    if (mutation == Mutation::kForgetTurn) request.turn = nullptr;
    if (mutation == Mutation::kFallBackAlways && request.backend == BackendPolicy::kCudaRequired) {
      request.backend = BackendPolicy::kCudaPreferred;
    }
    guarded([&] { engine_ = make_engine_prover(attempt_.request, parts()); });
  }

  RunFacts prove_epochs(EpochExchange& exchange) override {
    WatchedExchange watched(attempt_, exchange);
    return guarded([&] { return engine_->prove_epochs(watched); });
  }
  void assemble(const EpochLoader& load, const ByteSink& bundle, const Checkpoint& check) override {
    guarded([&] {
      attempt_.failures.erase(kGlobalLabel);
      engine_->assemble(load, bundle, check);
      if (!attempt_.once_in(attempt_.units.surprise)) return;
      attempt_.watcher.failed(attempt_.lane, false);
      throw std::runtime_error("a surprise");
    });
  }
  void verify(const Path& bundle) override {
    verify_watched(bundle, [] {});
  }
  void verify_watched(const Path& bundle, const Checkpoint& check) override {
    try {
      engine_->verify_watched(bundle, check);
    } catch (const JobError&) {
      if (is_own(bundle) && ++attempt_.refusals == kAssemblies) {
        if (attempt_.refusals_due >= kAssemblies) attempt_.watcher.failed(attempt_.lane, true);
        attempt_.watcher.leaves(attempt_.lane);
      }
      throw;
    } catch (const Crashed&) {
      throw;
    } catch (...) {
      attempt_.watcher.leaves(attempt_.lane);
      throw;
    }
    attempt_.watcher.leaves(attempt_.lane);
  }
  ProverUsage usage() const override { return engine_->usage(); }
  std::map<std::string, double> stage_seconds() const override { return engine_->stage_seconds(); }

 private:
  /// Not that of an equal job.
  static bool is_own(const Path& bundle) {
    return bundle.parent_path().parent_path().filename() == "active";
  }
  /// Whatever way an attempt leaves the prover, what follows is the handler's.
  template <class Act>
  auto guarded(Act act) -> decltype(act()) {
    try {
      return act();
    } catch (const Crashed&) {
      throw;
    } catch (...) {
      attempt_.watcher.leaves(attempt_.lane);
      throw;
    }
  }

  EngineParts parts() {
    EngineParts parts;
    parts.devices.query = [this] { return query(); };
    parts.devices.pool = [this](const std::vector<int>& devices) {
      return pool_of(attempt_, Unit::kDevice, static_cast<u32>(devices.size()));
    };
    parts.cpu = [this](Isa, const Parallel&) { return pool_of(attempt_, Unit::kCpu, 1); };
    parts.key = [](const Guest& guest, const RunParams& params, Isa, const Parallel&) {
      return simulated_key(guest, params);
    };
    parts.epochs = [this](const VerifyingKey&, const RunParams&) { return make_verify(); };
    parts.bundle = [this](const VerifyingKey&, const Path& path, bool, const Parallel&,
                          const Checkpoint& check) { return verify_file(path, check); };
    return parts;
  }

  Result<std::vector<DeviceInfo>, DeviceQueryError> query() {
    if (!attempt_.units.has_device) {
      const bool is_needed = attempt_.request.backend == BackendPolicy::kCudaRequired;
      if (is_needed) attempt_.watcher.failed(attempt_.lane, false);
      return Unexpected{DeviceQueryError{DeviceQueryErrorKind::kNoDevice, -1, "there is none"}};
    }
    std::vector<DeviceInfo> devices(2);
    for (size_t i = 0; i < devices.size(); ++i) devices[i].device = static_cast<int>(i);
    return devices;
  }

  CheckedPool::MakeVerify make_verify() {
    if (attempt_.units.mutation == Mutation::kTrustProofs) {
      return [] {
        return
            [](const Capsule&, const EpochProof&, std::span<const BoundaryRecord>) { return true; };
      };
    }
    return [] { return is_simulated_proof; };
  }

  Verdict verify_file(const Path& path, const Checkpoint& check) {
    check();
    const Bytes bytes = attempt_.fs.read_file(path, kBundleBytesMax);
    const ProofRequest& request = attempt_.request;
    const Expected& expected = attempt_.expected.of(request.elf, request.input, request.protocol);
    Verdict verdict;
    verdict.outputs = expected.facts.outputs;
    verdict.result.cycles = expected.facts.cycles;
    verdict.result.exit_code = expected.facts.exit_code;
    verdict.result.epochs = static_cast<u32>(expected.facts.epochs);
    const bool is_refused = is_own(path) && attempt_.once_in(attempt_.units.refusal);
    attempt_.refusals_due += is_refused;
    if (is_refused || bytes != expected.bundle) verdict.result.error = RunError::kGlobalProof;
    return verdict;
  }

  Attempt attempt_;
  std::unique_ptr<JobProver> engine_;
};

}  // namespace

JobProverFactory make_daemon_prover(Scheduler& scheduler, FileSystem& fs, ProverWatcher& watcher,
                                    Units& units, ExpectedRuns& expected) {
  return [&](const ProofRequest& request) {
    return std::make_unique<DaemonProver>(
        Attempt{scheduler, fs, watcher, units, expected, request, std::this_thread::get_id()});
  };
}

}  // namespace epochd::simulation
