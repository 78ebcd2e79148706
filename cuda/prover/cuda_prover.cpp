#include "cuda/prover/cuda_prover.hpp"

#include <algorithm>

#include "cuda/rt/pinned_resource.hpp"
#include "cuda/session/cuda_backend.hpp"

namespace epochd {
namespace {

/// Heights with twiddle tables of their own: those large enough for the fast kernels to matter.
std::vector<u32> table_heights(const RunParams& params) {
  std::vector<u32> heights;
  for (u32 h = 13; h <= std::min(22u, params.epoch_size_log2 + 1); ++h) heights.push_back(h);
  return heights;
}

class CudaProver : public BackendProver<cuda::CudaBackend> {
 public:
  CudaProver(const ProvingKey& key, const RunParams& params, int device)
      : BackendProver(key, params, device, size_t{0}, table_heights(params),
                      params.preset->log_blowup) {}
  ProverUsage usage() const override { return backend_.usage(); }
  std::pmr::memory_resource* record_memory() override { return &record_memory_; }

 private:
  cuda::PinnedResource record_memory_;
};

}  // namespace

Result<std::unique_ptr<EpochProver>, DeviceQueryError> make_cuda_prover(const ProvingKey& key,
                                                                        const RunParams& params,
                                                                        int device,
                                                                        Residency residency) {
  if (residency != Residency::kDeviceOnly) {
    return Unexpected{DeviceQueryError{DeviceQueryErrorKind::kRuntime, device,
                                       "the CUDA backend has no host-mirror residency yet"}};
  }
  auto devices = query_devices();
  if (!devices) return Unexpected{devices.error()};
  const bool found = std::any_of(devices->begin(), devices->end(),
                                 [&](const DeviceInfo& d) { return d.device == device; });
  if (!found) {
    return Unexpected{DeviceQueryError{
        DeviceQueryErrorKind::kNoDevice, device,
        "there is no CUDA device " + std::to_string(device) + "; `epoch doctor` lists them"}};
  }
  return std::unique_ptr<EpochProver>(std::make_unique<CudaProver>(key, params, device));
}

}  // namespace epochd
