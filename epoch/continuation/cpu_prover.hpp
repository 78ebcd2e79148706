// The CPU prover, compiled once.
#pragma once

#include "epoch/continuation/epoch_prover.hpp"
#include "prover/prove/cpu/session.hpp"

namespace epochd {

extern template EpochProof prove_epoch<prover::CpuBackend>(const prover::CpuBackend&,
                                                           const ProvingKey&, const RunParams&,
                                                           const EpochRecords&, const ProveHooks&);
extern template class GlobalProver<prover::CpuBackend>;

/// Pre: key and pool outlive it.
std::unique_ptr<EpochProver> make_cpu_prover(const ProvingKey& key, const RunParams& params,
                                             Isa isa, const Parallel& pool);

}  // namespace epochd
