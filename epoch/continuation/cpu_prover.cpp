#include "epoch/continuation/cpu_prover.hpp"

namespace epochd {

template EpochProof prove_epoch<prover::CpuBackend>(const prover::CpuBackend&, const ProvingKey&,
                                                    const RunParams&, const EpochRecords&,
                                                    const ProveHooks&);
template class GlobalProver<prover::CpuBackend>;

namespace {

class CpuProver : public BackendProver<prover::CpuBackend> {
 public:
  CpuProver(const ProvingKey& key, const RunParams& params, Isa isa, const Parallel& pool)
      : BackendProver(key, params, isa, pool) {}
  ProverUsage usage() const override {
    ProverUsage u;
    u.backend = "cpu";
    return u;
  }
};

}  // namespace

std::unique_ptr<EpochProver> make_cpu_prover(const ProvingKey& key, const RunParams& params,
                                             Isa isa, const Parallel& pool) {
  return std::make_unique<CpuProver>(key, params, isa, pool);
}

}  // namespace epochd
