#include "tests/daemon/simulation/daemon_prover.hpp"

#include <csignal>
#include <new>
#include <stdexcept>

#include "daemon/pipeline/job_key.hpp"
#include "daemon/pipeline/local_pool.hpp"
#include "daemon/queue/reason.hpp"
#include "daemon/worker/device_workers.hpp"
#include "daemon/worker/serve.hpp"
#include "tests/daemon/simulation/processes.hpp"

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
  bool may_fall_back() const { return request.backend == BackendPolicy::kCudaPreferred; }
  /// Whether that ends the attempt.
  void note_failure(Unit unit, u64 label) {
    const bool is_primary = unit == primary();
    if (is_primary && ++failures[label] < kAttempts) return;
    if (is_primary && may_fall_back()) return;
    watcher.failed(lane, unit == Unit::kCpu);
  }
};

/// A pool's prover: one thread of it. In a worker where that is given.
class SimulatedProver : public EpochProver {
 public:
  SimulatedProver(std::shared_ptr<Attempt> attempt, Unit unit, const ProvingKey& key,
                  WorkerProcesses::Worker* worker = nullptr)
      : attempt_(std::move(attempt)), unit_(unit), program_(key.vk.digest()), worker_(worker) {
    usage_.backend = unit_ == Unit::kDevice ? "cuda" : "cpu";
  }

  EpochProof prove_epoch(const EpochRecords& records, const ProveHooks&) override {
    const u64 label = records.public_values.label;
    begin(label);
    maybe_fail();
    EpochProof proof = simulated_proof(program_, records.public_values, records.boundary);
    usage_.bytes_d2h += unit_ == Unit::kDevice ? proof.record.size() * sizeof(u64) : 0;
    if (attempt_->once_in(faults().flip)) proof.record.back() ^= 1;
    return proof;
  }

  bool prove_global(const BoundaryStore& boundaries, const RunMemory::Ends& ends,
                    const std::function<void(std::span<const u64>)>& emit,
                    const std::function<bool()>& cancelled) override {
    const bool fails_late = attempt_->scheduler.once_in(2);
    begin(kGlobalLabel);
    if (!fails_late) maybe_fail();
    const u64 flip = attempt_->once_in(faults().flip) ? 1 : 0;
    attempt_->refusals_due += flip != 0;
    const bool is_complete =
        emit_simulated_global(program_, boundaries, ends, emit, cancelled, flip);
    if (is_complete && fails_late) maybe_fail();
    return is_complete;
  }

  ProverUsage usage() const override { return usage_; }

 private:
  const UnitFaults& faults() const {
    return unit_ == Unit::kCpu ? attempt_->units.cpu : attempt_->units.device;
  }
  void require_life() const {
    if (worker_ != nullptr && !worker_->is_alive()) throw std::runtime_error("was killed");
  }
  void begin(u64 label) {
    require_life();
    attempt_->watcher.proving(attempt_->lane, unit_, label);
    Scheduler& s = attempt_->scheduler;
    const double share = static_cast<double>(s.pick(100)) / 100;
    s.sleep(attempt_->once_in(faults().slow) ? kSlow_s : attempt_->units.pace_s * share);
    if (worker_ == nullptr) return;
    if (attempt_->once_in(faults().death)) s.processes->kill(*worker_, SIGABRT);
    if (attempt_->once_in(faults().hang)) {
      while (worker_->is_alive()) s.sleep(kSlow_s);
    }
    require_life();
  }
  void maybe_fail() {
    Scheduler& s = attempt_->scheduler;
    if (attempt_->once_in(faults().memory)) throw std::bad_alloc();
    if (attempt_->once_in(faults().loss)) {
      attempt_->units.lost_until_s = s.now_s() + static_cast<double>(1 + s.pick(kLossMax_s));
    }
    const bool is_lost = unit_ == Unit::kDevice && attempt_->units.is_device_lost(s);
    if (is_lost) throw std::runtime_error("the simulated device is lost");
    if (attempt_->once_in(faults().error)) throw std::runtime_error("a simulated error");
  }

  std::shared_ptr<Attempt> attempt_;
  Unit unit_;
  prover::Digest program_;
  WorkerProcesses::Worker* worker_;
  ProverUsage usage_;
};

/// A pool of an attempt, and a word to the watcher about what comes out of it.
class WatchedPool : public ProverPool {
 public:
  WatchedPool(Attempt& attempt, Unit unit, std::unique_ptr<ProverPool> pool)
      : attempt_(attempt), unit_(unit), pool_(std::move(pool)) {
    attempt_.watcher.pools_change(attempt_.lane, unit_, 1);
  }
  ~WatchedPool() override {
    pool_.reset();
    attempt_.watcher.pools_change(attempt_.lane, unit_, -1);
  }

  u32 capacity() const override { return pool_->capacity(); }
  void submit(std::shared_ptr<const Capsule> capsule, Done done) override {
    pool_->submit(capsule, [this, capsule, done = std::move(done)](PoolAnswer answer) {
      note(*capsule, answer);
      done(std::move(answer));
    });
  }
  bool prove_global(const BoundaryStore& boundaries, const RunMemory::Ends& ends,
                    const std::function<void(std::span<const u64>)>& emit,
                    const std::function<bool()>& cancelled) override {
    try {
      return pool_->prove_global(boundaries, ends, emit, cancelled);
    } catch (const std::bad_alloc&) {
      attempt_.watcher.failed(attempt_.lane, false);
      throw;
    } catch (const std::exception&) {
      attempt_.note_failure(unit_, kGlobalLabel);
      throw;
    }
  }
  ProverUsage usage() const override { return pool_->usage(); }

 private:
  void note(const Capsule& capsule, const PoolAnswer& answer) {
    if (answer.is_out_of_memory) return attempt_.watcher.failed(attempt_.lane, false);
    const bool is_good =
        answer.epoch && is_simulated_proof(capsule, answer.epoch->proof, answer.epoch->boundary);
    if (!is_good) return attempt_.note_failure(unit_, capsule.label);
    attempt_.failures.erase(capsule.label);
    attempt_.watcher.proved(attempt_.lane, unit_, capsule.label);
  }

  Attempt& attempt_;
  Unit unit_;
  std::unique_ptr<ProverPool> pool_;
};

std::unique_ptr<ProverPool> open_local(const std::shared_ptr<Attempt>& attempt, Unit unit,
                                       const PoolJob& job, u32 provers,
                                       WorkerProcesses::Worker* worker = nullptr) {
  if (unit == Unit::kDevice && attempt->units.is_device_lost(attempt->scheduler)) {
    throw std::runtime_error("the simulated device cannot be opened");
  }
  const auto make = [&attempt, unit, worker, &job] {
    return std::make_unique<SimulatedProver>(attempt, unit, *job.key, worker);
  };
  return std::make_unique<LocalPool>(job, LocalPool::Threads{1, provers}, make);
}

/// What a worker process makes of a job.
struct WorkerJob {
  WorkerJob(const OpenRequest& request, const std::shared_ptr<Attempt>& attempt,
            WorkerProcesses::Worker& worker)
      : guest(request.elf, request.elf_name), key(simulated_key(guest, request.params)) {
    const PoolJob job{request.elf,    request.elf_name,  &key, &guest.code(),
                      request.params, request.residency, 0};
    pool = open_local(attempt, Unit::kDevice, job, 1, &worker);
  }

  Guest guest;
  ProvingKey key;
  std::unique_ptr<ProverPool> pool;
};

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
  void advanced() override { exchange_.advanced(); }

 private:
  Attempt& attempt_;
  EpochExchange& exchange_;
};

}  // namespace

struct DaemonProvers::Shared {
  Scheduler& scheduler;
  FileSystem& fs;
  ProverWatcher& watcher;
  Units& units;
  ExpectedRuns& expected;
  std::shared_ptr<Attempt> proving = nullptr;  ///< of which a device has the job
  std::optional<WorkerProcesses> processes = std::nullopt;
  std::optional<DeviceWorkers> workers = std::nullopt;

  /// A worker's whole life.
  void serve(WorkerProcesses::Worker& worker) {
    WorkerDuties duties;
    duties.query = [this] { return query(); };
    duties.device_works = [this](int) { return !units.is_device_lost(scheduler); };
    duties.make_pool = [&](const OpenRequest& request) {
      const auto job = std::make_shared<WorkerJob>(request, proving, worker);
      return std::shared_ptr<ProverPool>(job, job->pool.get());
    };
    Channel channel{FileHandle(worker.channel)};
    WorkerServer(channel, duties).serve();
  }
  DeviceList query() const {
    if (!units.has_device) {
      return Unexpected{DeviceQueryError{DeviceQueryErrorKind::kNoDevice, -1, "there is none"}};
    }
    std::vector<DeviceInfo> devices(2);
    for (size_t i = 0; i < devices.size(); ++i) devices[i].device = static_cast<int>(i);
    return devices;
  }
};

namespace {

class DaemonProver : public JobProver {
 public:
  DaemonProver(DaemonProvers::Shared& shared, const std::shared_ptr<Attempt>& attempt)
      : shared_(shared), shared_attempt_(attempt), attempt_(*attempt) {
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
    parts.devices.query = [this] {
      const auto devices = shared_.workers ? shared_.workers->query() : shared_.query();
      const bool is_needed = attempt_.request.backend == BackendPolicy::kCudaRequired;
      if (!devices && is_needed) attempt_.watcher.failed(attempt_.lane, false);
      return devices;
    };
    parts.devices.pool = [this](const std::vector<int>& devices) -> PoolFactory {
      return [this, devices](const PoolJob& job) { return open_device(job, devices); };
    };
    parts.cpu = [this](Isa, const Parallel&) -> PoolFactory {
      return [this](const PoolJob& job) {
        return watched(Unit::kCpu, open_local(shared_attempt_, Unit::kCpu, job, 1));
      };
    };
    parts.key = [](const Guest& guest, const RunParams& params, Isa, const Parallel&) {
      return simulated_key(guest, params);
    };
    parts.epochs = [this](const VerifyingKey&, const RunParams&) { return make_verify(); };
    parts.bundle = [this](const VerifyingKey&, const Path& path, bool, const Parallel&,
                          const Checkpoint& check) { return verify_file(path, check); };
    return parts;
  }

  std::unique_ptr<ProverPool> watched(Unit unit, std::unique_ptr<ProverPool> pool) {
    return std::make_unique<WatchedPool>(attempt_, unit, std::move(pool));
  }
  std::unique_ptr<ProverPool> open_device(const PoolJob& job, const std::vector<int>& devices) {
    shared_.proving = shared_attempt_;
    const u32 provers = static_cast<u32>(devices.size());
    try {
      return watched(Unit::kDevice, shared_.workers
                                        ? shared_.workers->open(job, devices)
                                        : open_local(shared_attempt_, Unit::kDevice, job, provers));
    } catch (const std::exception&) {
      if (!attempt_.may_fall_back()) attempt_.watcher.failed(attempt_.lane, false);
      throw;
    }
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

  DaemonProvers::Shared& shared_;
  std::shared_ptr<Attempt> shared_attempt_;
  Attempt& attempt_;
  std::unique_ptr<JobProver> engine_;
};

}  // namespace

DaemonProvers::DaemonProvers(Scheduler& scheduler, FileSystem& fs, ProverWatcher& watcher,
                             Units& units, ExpectedRuns& expected)
    : shared_(new Shared{scheduler, fs, watcher, units, expected}) {
  if (!units.has_workers) return;
  Shared* const shared = shared_.get();
  shared->processes.emplace(scheduler, [shared](auto& worker) { shared->serve(worker); });
  shared->workers.emplace([] { return WorkerProcess::start({"a simulated worker"}); });
}

DaemonProvers::~DaemonProvers() = default;

JobProverFactory DaemonProvers::factory() {
  return [shared = shared_.get()](const ProofRequest& request) {
    const auto attempt = std::make_shared<Attempt>(
        Attempt{shared->scheduler, shared->fs, shared->watcher, shared->units, shared->expected,
                request, std::this_thread::get_id()});
    return std::make_unique<DaemonProver>(*shared, attempt);
  };
}

}  // namespace epochd::simulation
