#include "epoch/continuation/cpu_prover.hpp"

namespace epochd {

template EpochProof prove_epoch<prover::CpuBackend>(const prover::CpuBackend&, const ProvingKey&,
                                                    const RunParams&, const EpochRecords&,
                                                    const ProveHooks&);
template class GlobalProver<prover::CpuBackend>;

}  // namespace epochd
