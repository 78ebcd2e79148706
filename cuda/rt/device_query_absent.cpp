// What device_query.cu is in a build without CUDA.
#include "cuda/rt/device_query.hpp"

namespace epochd {

Result<std::vector<DeviceInfo>, DeviceQueryError> query_devices(const UnusableDevice&) {
  return Unexpected{DeviceQueryError{DeviceQueryErrorKind::kNotBuilt, -1,
                                     "this binary was built without CUDA; configure with "
                                     "-DEPOCHD_CUDA=ON and build again to prove on a GPU"}};
}

bool has_cuda_code() {
  return false;
}

bool device_works(int) {
  return false;
}

}  // namespace epochd
