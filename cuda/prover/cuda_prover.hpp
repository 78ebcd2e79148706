// The CUDA prover behind the pipeline's interface. This header may be included whether or not CUDA
// was built in.
#pragma once

#include <memory>
#include <vector>

#include "config/residency.hpp"
#include "cuda/rt/device_query.hpp"
#include "epoch/continuation/epoch_prover.hpp"

namespace epochd {

/// Epochs in flight that fill a device's idle moments; more gain nothing.
inline constexpr u32 kInFlightDefault = 3;

/// Provers on one device, for an epoch each at a time: as many as fit, one to `most`. They share
/// twiddles and fixed trees, and each has its own arena, planned for the largest epoch there can be
/// (cuda/session/plan.hpp). All they ever need is allocated here.
/// Each proves other programs of these parameters after rekey(), of up to 2^16 instructions or of
/// this key's size, without another arena.
/// Errors: as query_devices(); the device named does not exist (kNoDevice); it has not the memory
/// for one, with what would fit (kNoMemory). Pre: key outlives them. Throws cuda::Error when the
/// device fails, then or later; cuda::ResidencyError where host data is missing.
Result<std::vector<std::unique_ptr<EpochProver>>, DeviceQueryError> make_cuda_provers(
    const ProvingKey& key, const RunParams& params, int device, Residency residency,
    u32 most = kInFlightDefault);

/// One of them.
Result<std::unique_ptr<EpochProver>, DeviceQueryError> make_cuda_prover(
    const ProvingKey& key, const RunParams& params, int device = 0,
    Residency residency = Residency::kDeviceOnly);

}  // namespace epochd
