// Which CUDA devices this process could prove on. The one header of cuda/ that a program may
// include whether or not it was built with CUDA.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "prover/core/result.hpp"
#include "prover/core/types.hpp"

namespace epochd {

enum class DeviceQueryErrorKind : u8 {
  kNotBuilt,       ///< this binary was built without CUDA
  kNoDriver,       ///< no driver is loaded, or it is older than the runtime this binary carries
  kNoDevice,       ///< the driver works and shows no device
  kNoKernelImage,  ///< a device is there, of an architecture this binary has no code for
  kNoMemory,       ///< the device works and has less free memory than is planned
  kRuntime,        ///< any other answer of the CUDA runtime
};

struct DeviceQueryError {
  DeviceQueryErrorKind kind;
  int device = -1;      ///< the device the error is about, -1: none in particular
  std::string message;  ///< what happened and what to do about it
};

struct DeviceInfo {
  int device = 0;  ///< the CUDA ordinal
  std::string name;
  u64 memory_bytes = 0;
  u64 free_bytes = 0;
  int compute_major = 0;
  int compute_minor = 0;
  int multiprocessor_count = 0;
  int driver_version =
      0;  ///< 1000 * major + 10 * minor: the newest CUDA version the driver supports
  int runtime_version = 0;  ///< the same for the runtime linked in
};

/// Told of a device that cannot be used while another can.
using UnusableDevice = std::function<void(const DeviceQueryError&)>;

/// Asks the CUDA runtime for every device, and each device whether this binary's kernels load on
/// it. Post: on success at least one device, all of them usable; `on_unusable` has heard of the
/// others; the calling thread's current device is as it was.
/// Errors: the first of DeviceQueryErrorKind that applies; about a device, when none can be used.
/// Cost: creates a context on each device (about 0.3 s).
Result<std::vector<DeviceInfo>, DeviceQueryError> query_devices(
    const UnusableDevice& on_unusable = {});

/// query_devices() over devices 0 .. count - 1 as `query` describes them. Pre: count > 0.
Result<std::vector<DeviceInfo>, DeviceQueryError> usable_devices(
    int count, const std::function<Result<DeviceInfo, DeviceQueryError>(int)>& query,
    const UnusableDevice& on_unusable);

/// Was this binary built with CUDA?
bool has_cuda_code();

/// Does this process's context on the device still take calls? One that is lost after a failed
/// kernel answers every call with that failure, until the process ends.
bool device_works(int device);

}  // namespace epochd
