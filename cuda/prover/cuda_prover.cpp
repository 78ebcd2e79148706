#include "cuda/prover/cuda_prover.hpp"

#include <algorithm>
#include <optional>

#include "cuda/rt/nvtx_stages.hpp"
#include "cuda/rt/slab_resource.hpp"
#include "cuda/session/cuda_backend.hpp"
#include "prover/core/stage_fan_out.hpp"

namespace epochd {
namespace {

using cuda::CudaPlan;
using cuda::DeviceShared;
using cuda::PlannedProgram;

class CudaProver : public BackendProver<cuda::CudaBackend> {
 public:
  CudaProver(const ProvingKey& key, const RunParams& params,
             std::shared_ptr<const DeviceShared> shared, const CudaPlan& plan,
             const PlannedProgram& program, Residency residency)
      : BackendProver(key, params, std::move(shared), plan, cuda::BackendOptions{residency}),
        program_(program),
        slab_(plan.record_bytes),
        record_memory_(slab_.data(), slab_.bytes(), std::pmr::get_default_resource()) {
    hold(key);
  }
  EpochProof prove_epoch(const EpochRecords& records, const ProveHooks& hooks) override {
    StageFanOut stages{hooks.stages, &nvtx_};
    return BackendProver::prove_epoch(records, {hooks.transcript, &stages});
  }
  ProverUsage usage() const override {
    ProverUsage usage = backend_.usage();
    usage.counters["record_overflow"] = record_memory_.overflow_count();
    return usage;
  }
  std::pmr::memory_resource* record_memory() override { return &record_memory_; }

  bool rekey(const ProvingKey& key) override {
    if (!program_.covers(PlannedProgram::of(key)) || !BackendProver::rekey(key)) return false;
    hold(key);
    return true;
  }
  void let_go() override { backend_.hold_fixed({}); }

 private:
  void hold(const ProvingKey& key) {
    const std::shared_ptr<const prover::FixedTree> trees[] = {key.epoch_fixed, key.global_fixed};
    backend_.hold_fixed(trees);
  }

  PlannedProgram program_;
  cuda::NvtxStages nvtx_;
  cuda::PinnedBlock slab_;
  cuda::SlabResource record_memory_;
};

Result<DeviceInfo, DeviceQueryError> find_device(int device) {
  std::optional<DeviceQueryError> unusable;
  auto devices = query_devices([&](const DeviceQueryError& error) {
    if (error.device == device) unusable = error;
  });
  if (!devices) return Unexpected{devices.error()};
  if (unusable) return Unexpected{*unusable};
  const auto found = std::find_if(devices->begin(), devices->end(),
                                  [&](const DeviceInfo& d) { return d.device == device; });
  if (found != devices->end()) return *found;
  return Unexpected{DeviceQueryError{
      DeviceQueryErrorKind::kNoDevice, device,
      "there is no CUDA device " + std::to_string(device) + "; `epoch doctor` lists them"}};
}

}  // namespace

Result<std::vector<std::unique_ptr<EpochProver>>, DeviceQueryError> make_cuda_provers(
    const ProvingKey& key, const RunParams& params, int device, Residency residency, u32 most) {
  const auto info = find_device(device);
  if (!info) return Unexpected{info.error()};
  const PlannedProgram program = PlannedProgram::of(key).at_least(PlannedProgram{});
  CudaPlan plan = cuda::plan_cuda(params, residency, program);
  const u32 count = std::min(most, cuda::in_flight_max(plan, info->free_bytes));
  if (count == 0) {
    return Unexpected{
        DeviceQueryError{DeviceQueryErrorKind::kNoMemory, device,
                         cuda::plan_refusal(params, residency, program, info->free_bytes)}};
  }
  plan.record_bytes = cuda::record_bytes(params, count);
  const auto shared = std::make_shared<const DeviceShared>(device, plan);
  std::vector<std::unique_ptr<EpochProver>> provers;
  for (u32 i = 0; i < count; ++i) {
    provers.push_back(std::make_unique<CudaProver>(key, params, shared, plan, program, residency));
  }
  return provers;
}

Result<std::unique_ptr<EpochProver>, DeviceQueryError> make_cuda_prover(const ProvingKey& key,
                                                                        const RunParams& params,
                                                                        int device,
                                                                        Residency residency) {
  auto provers = make_cuda_provers(key, params, device, residency, 1);
  if (!provers) return Unexpected{provers.error()};
  return std::move(provers->front());
}

}  // namespace epochd
