#include "cuda/prover/cuda_prover.hpp"

namespace epochd {

Result<std::unique_ptr<EpochProver>, DeviceQueryError> make_cuda_prover(const ProvingKey&,
                                                                        const RunParams&, int,
                                                                        Residency) {
  // The query of a build without CUDA always fails, with the message this build owes its user.
  return Unexpected{query_devices().error()};
}

}  // namespace epochd
