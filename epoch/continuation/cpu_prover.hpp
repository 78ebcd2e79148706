// The CPU instantiation of the epoch and global provers, compiled once.
#pragma once

#include "epoch/continuation/prove_global.hpp"
#include "prover/prove/cpu/session.hpp"

namespace epochd {

extern template EpochProof prove_epoch<prover::CpuBackend>(const prover::CpuBackend&,
                                                           const ProvingKey&, const RunParams&,
                                                           const EpochRecords&, const ProveHooks&);
extern template class GlobalProver<prover::CpuBackend>;

}  // namespace epochd
