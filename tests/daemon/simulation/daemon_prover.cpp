#include "tests/daemon/simulation/daemon_prover.hpp"

#include <new>
#include <stdexcept>

#include "daemon/pipeline/job_key.hpp"
#include "daemon/queue/reason.hpp"

namespace epochd::simulation {
namespace {

constexpr u64 kFailsOneIn = 60;
constexpr u64 kSlowOneIn = 40;
constexpr double kSlow_s = 3;
constexpr u64 kBundleBytesMax = 1 << 20;

class DaemonProver : public JobProver {
  /// Whatever way an attempt leaves the prover, what follows is the handler's.
  template <class Act>
  auto guarded(Act act) {
    try {
      return act();
    } catch (const Crashed&) {
      throw;
    } catch (...) {
      watcher_.leaves();
      throw;
    }
  }

 public:
  DaemonProver(Scheduler& scheduler, FileSystem& fs, ProverWatcher& watcher, double pace_s,
               bool may_fail, const ProofRequest& request)
      : scheduler_(scheduler),
        fs_(fs),
        watcher_(watcher),
        pace_s_(pace_s),
        may_fail_(may_fail),
        request_(request),
        program_(parse_program_words(request.elf)),
        key_(job_key(request)) {
    watcher_.begins(key_);
  }

  RunFacts prove_epochs(EpochExchange& exchange) override {
    return guarded([&] { return prove(exchange); });
  }

  void assemble(const EpochLoader& load, const ByteSink& bundle, const Checkpoint& check) override {
    guarded([&] {
      for (u64 label = 1; label <= program_.epochs; ++label) {
        check();
        bundle(load(label));
      }
      maybe_fail();
    });
  }

  void verify(const Path& bundle) override {
    guarded([&] {
      if (fs_.read_file(bundle, kBundleBytesMax) !=
          expected_bundle(request_.elf, request_.input, request_.protocol)) {
        throw JobError(Reason::kInternal, "the simulated bundle does not verify");
      }
    });
    watcher_.leaves();
  }

  ProverUsage usage() const override {
    ProverUsage usage;
    usage.backend = "cpu";
    return usage;
  }

 private:
  RunFacts prove(EpochExchange& exchange) {
    exchange.check();
    scheduler_.sleep(pace_s_ / 2);
    if (program_.has_guest_fault) throw JobError(Reason::kGuestFault, "pc 0x1000: bad load");
    const RunFacts facts{program_.epochs * 100, program_.epochs, 0, {42}};
    exchange.surveyed(facts);
    for (u64 label = 1; label <= program_.epochs; ++label) {
      exchange.check();
      const std::optional<Bytes> stored = exchange.load(label);
      const bool is_stored = stored && *stored == epoch_proof(key_, label);
      if (is_stored) watcher_.resumed();
      exchange.save(label, is_stored ? *stored : prove_one(label), is_stored);
    }
    return facts;
  }

  Bytes prove_one(u64 label) {
    watcher_.proving(key_, label);
    const bool is_slow = scheduler_.once_in(kSlowOneIn);
    const double share = static_cast<double>(scheduler_.pick(100)) / 100;
    scheduler_.sleep(is_slow ? kSlow_s : pace_s_ * share);
    maybe_fail();
    watcher_.proved(label);
    return epoch_proof(key_, label);
  }

  void maybe_fail() {
    if (!may_fail_ || !scheduler_.once_in(kFailsOneIn)) return;
    const u64 kind = scheduler_.pick(4);
    watcher_.failed(kind == 3);
    if (kind == 0) throw JobError(Reason::kGpu, "the simulated device is lost");
    if (kind == 1) throw std::bad_alloc();
    if (kind == 2) throw std::runtime_error("a surprise");
    throw JobError(Reason::kInternal, "the simulated bundle is not accepted");
  }

  Scheduler& scheduler_;
  FileSystem& fs_;
  ProverWatcher& watcher_;
  double pace_s_;
  bool may_fail_;
  const ProofRequest& request_;
  Program program_;
  JobKey key_;
};

}  // namespace

JobProverFactory make_daemon_prover(Scheduler& scheduler, FileSystem& fs, ProverWatcher& watcher,
                                    double pace_s, bool may_fail) {
  return [&scheduler, &fs, &watcher, pace_s, may_fail](const ProofRequest& request) {
    return std::make_unique<DaemonProver>(scheduler, fs, watcher, pace_s, may_fail, request);
  };
}

}  // namespace epochd::simulation
