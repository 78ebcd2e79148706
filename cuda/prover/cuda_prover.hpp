// The CUDA prover behind the pipeline's interface. This header may be included whether or not CUDA
// was built in.
#pragma once

#include <memory>

#include "config/residency.hpp"
#include "cuda/rt/device_query.hpp"
#include "epoch/continuation/epoch_prover.hpp"

namespace epochd {

/// A prover on one device. Errors: as query_devices(), or the device named does not exist
/// (kNoDevice). Pre: key outlives it. Throws cuda::Error when the device fails later.
Result<std::unique_ptr<EpochProver>, DeviceQueryError> make_cuda_prover(
    const ProvingKey& key, const RunParams& params, int device = 0,
    Residency residency = Residency::kDeviceOnly);

}  // namespace epochd
