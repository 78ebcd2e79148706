#include "cuda/prover/cuda_prover.hpp"

namespace epochd {

// The query of a build without CUDA always fails, with the message this build owes its user.

Result<std::vector<std::unique_ptr<EpochProver>>, DeviceQueryError> make_cuda_provers(
    const ProvingKey&, const RunParams&, int, Residency, u32) {
  return Unexpected{query_devices().error()};
}

Result<std::unique_ptr<EpochProver>, DeviceQueryError> make_cuda_prover(const ProvingKey&,
                                                                        const RunParams&, int,
                                                                        Residency) {
  return Unexpected{query_devices().error()};
}

}  // namespace epochd
