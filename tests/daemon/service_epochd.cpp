// The daemon with the fake prover, and a device that is a script: what the service tests watch.
// Words of a "program" besides the fake prover's:
//   stall=1   the first epoch never ends, and asks nobody whether it should
//   load=1    a checkpoint is loaded, part by part and for ever
//   device=1  the proofs come from the device
//   lost=1    the device is lost
//   refuse=1  the device's first epoch proof is refused and made again
//   flood=N   says the same warning N times
#include <chrono>
#include <string>
#include <thread>

#include "daemon/log/log.hpp"
#include "daemon/main/epochd.hpp"
#include "daemon/queue/reason.hpp"
#include "tests/daemon/fake_prover.hpp"

namespace epochd {
namespace {

class ScriptedProver : public JobProver {
 public:
  ScriptedProver(const ProofRequest& request, const JobProverFactory& make_fake)
      : request_(request), program_(request.elf.begin(), request.elf.end()) {
    request_.backend = BackendPolicy::kCpu;  // the fake prover knows no device
    prover_ = make_fake(request_);
  }

  RunFacts prove_epochs(EpochExchange& exchange) override {
    if (has("stall=1")) std::this_thread::sleep_for(std::chrono::hours(1));
    while (has("load=1")) {
      exchange.check();
      exchange.advanced();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (has("lost=1")) throw JobError(Reason::kGpu, "the scripted device is lost");
    if (has("small=1")) throw JobError(Reason::kGpu, "the scripted device is too small");
    const size_t flood = program_.find("flood=");
    if (flood != std::string::npos) {
      for (int i = std::stoi(program_.substr(flood + 6)); i > 0; --i) log::warn("a scripted flood");
    }
    const RunFacts facts = prover_->prove_epochs(exchange);
    stages_ = {{"scripted stage", 1.5}};
    return facts;
  }
  void assemble(const EpochLoader& load, const ByteSink& bundle, const Checkpoint& check) override {
    prover_->assemble(load, bundle, check);
  }
  void verify(const Path& bundle) override { prover_->verify(bundle); }

  ProverUsage usage() const override {
    ProverUsage usage = prover_->usage();
    if (has("device=1") && !stages_.empty()) {
      usage.backend = "cuda";
      usage.bytes_h2d = 1000;
      usage.bytes_d2h = 100;
      usage.peak_device_bytes = 10'000;
    }
    if (has("refuse=1") && !stages_.empty()) {
      usage.counters = {
          {"epoch_retry", 2}, {"self_verify_failed", 3}, {"fallback", 4}, {"worker_restart", 5}};
    }
    if (has("lost=1")) usage.counters = {{"worker_restart", 3}};
    return usage;
  }
  std::map<std::string, double> stage_seconds() const override { return stages_; }

 private:
  bool has(const std::string& word) const { return program_.find(word) != std::string::npos; }

  ProofRequest request_;
  std::string program_;
  std::unique_ptr<JobProver> prover_;
  std::map<std::string, double> stages_;
};

Result<std::vector<DeviceInfo>, DeviceQueryError> one_device() {
  DeviceInfo device;
  device.device = 0;
  device.name = "Scripted <device> & \"more\"";
  device.memory_bytes = u64{1} << 33;
  return std::vector<DeviceInfo>{device};
}

}  // namespace
}  // namespace epochd

int main(int argc, char** argv) {
  const auto make = [make_fake = epochd::make_fake_factory()](
                        const epochd::ProofRequest& request) -> std::unique_ptr<epochd::JobProver> {
    return std::make_unique<epochd::ScriptedProver>(request, make_fake);
  };
  return epochd::run_epochd(argc, argv, make, epochd::one_device);
}
