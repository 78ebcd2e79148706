// A device and backends on it, planned as the product's are.
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/session/cuda_backend.hpp"
#include "tests/epoch/continuation/run_fixture.hpp"

namespace epochd::testing {

inline bool has_device() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

/// What backends that prove this guest are made from.
struct PlannedDevice {
  explicit PlannedDevice(const Guest& g, Residency residency = Residency::kDeviceOnly)
      : plan(cuda::plan_cuda(g.params, residency, cuda::PlannedProgram::of(g.key))),
        shared(std::make_shared<const cuda::DeviceShared>(0, plan)) {
    options.residency = residency;
  }
  std::unique_ptr<cuda::CudaBackend> backend(cuda::FaultPlan* faults = nullptr) const {
    cuda::BackendOptions with = options;
    with.faults = faults;
    return std::make_unique<cuda::CudaBackend>(shared, plan, with);
  }

  cuda::CudaPlan plan;
  std::shared_ptr<const cuda::DeviceShared> shared;
  cuda::BackendOptions options;
};

}  // namespace epochd::testing
