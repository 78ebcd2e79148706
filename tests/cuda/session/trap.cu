#include "tests/cuda/session/trap.hpp"

namespace epochd::testing {
namespace {

__global__ void trap_kernel() {
  __trap();
}

}  // namespace

void launch_trap(cudaStream_t stream) {
  trap_kernel<<<1, 1, 0, stream>>>();
}

}  // namespace epochd::testing
