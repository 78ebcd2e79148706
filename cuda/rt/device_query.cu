#include <cuda_runtime.h>

#include "cuda/rt/device_query.hpp"

namespace epochd {
namespace {

// Never launched. Asking for its attributes makes the runtime look for code that fits the device.
__global__ void probe_kernel() {}

DeviceQueryError error_from(cudaError_t code, const char* call, int device) {
  static_cast<void>(cudaGetLastError());  // told here: no later call is to answer with it
  const std::string cause = std::string(call) + ": " + cudaGetErrorString(code);
  switch (code) {
    case cudaErrorInsufficientDriver:
    case cudaErrorInitializationError:
    case cudaErrorSystemDriverMismatch:
      return {DeviceQueryErrorKind::kNoDriver, device,
              cause + "; load or update the NVIDIA driver (`nvidia-smi` shows its version)"};
    case cudaErrorNoDevice:
      return {DeviceQueryErrorKind::kNoDevice, device,
              cause + "; check CUDA_VISIBLE_DEVICES and the permissions of /dev/nvidia*"};
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
      return {DeviceQueryErrorKind::kNoKernelImage, device,
              cause + "; rebuild with -DCMAKE_CUDA_ARCHITECTURES set to this device's"};
    default:
      return {DeviceQueryErrorKind::kRuntime, device, cause};
  }
}

/// The calling thread's current device, put back at the end of the scope.
class CurrentDevice {
 public:
  CurrentDevice() : known_(cudaGetDevice(&device_) == cudaSuccess) {}
  ~CurrentDevice() {
    if (known_) static_cast<void>(cudaSetDevice(device_));
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int device_ = 0;
  bool known_;
};

Result<DeviceInfo, DeviceQueryError> query_device(int device) {
  cudaDeviceProp properties{};
  if (const auto code = cudaGetDeviceProperties(&properties, device); code != cudaSuccess) {
    return Unexpected{error_from(code, "cudaGetDeviceProperties", device)};
  }
  if (const auto code = cudaSetDevice(device); code != cudaSuccess) {
    return Unexpected{error_from(code, "cudaSetDevice", device)};
  }
  cudaFuncAttributes attributes{};
  if (const auto code = cudaFuncGetAttributes(&attributes, probe_kernel); code != cudaSuccess) {
    return Unexpected{error_from(code, "cudaFuncGetAttributes", device)};
  }
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  if (const auto code = cudaMemGetInfo(&free_bytes, &total_bytes); code != cudaSuccess) {
    return Unexpected{error_from(code, "cudaMemGetInfo", device)};
  }
  DeviceInfo info;
  info.device = device;
  info.name = properties.name;
  info.memory_bytes = total_bytes;
  info.free_bytes = free_bytes;
  info.compute_major = properties.major;
  info.compute_minor = properties.minor;
  info.multiprocessor_count = properties.multiProcessorCount;
  return info;
}

}  // namespace

Result<std::vector<DeviceInfo>, DeviceQueryError> query_devices(const UnusableDevice& on_unusable) {
  int count = 0;
  if (const auto code = cudaGetDeviceCount(&count); code != cudaSuccess) {
    return Unexpected{error_from(code, "cudaGetDeviceCount", -1)};
  }
  if (count == 0) return Unexpected{error_from(cudaErrorNoDevice, "cudaGetDeviceCount", -1)};
  int driver_version = 0;
  int runtime_version = 0;
  if (const auto code = cudaDriverGetVersion(&driver_version); code != cudaSuccess) {
    return Unexpected{error_from(code, "cudaDriverGetVersion", -1)};
  }
  if (const auto code = cudaRuntimeGetVersion(&runtime_version); code != cudaSuccess) {
    return Unexpected{error_from(code, "cudaRuntimeGetVersion", -1)};
  }

  const CurrentDevice restore;
  const auto query = [&](int device) {
    Result<DeviceInfo, DeviceQueryError> info = query_device(device);
    if (info) {
      info->driver_version = driver_version;
      info->runtime_version = runtime_version;
    }
    return info;
  };
  return usable_devices(count, query, on_unusable);
}

bool has_cuda_code() {
  return true;
}

bool device_works(int device) {
  const CurrentDevice restore;
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  return cudaSetDevice(device) == cudaSuccess &&
         cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess;
}

}  // namespace epochd
