#include "tests/cuda/session/record_uploads.hpp"

namespace epochd::testing {
namespace {

constexpr u32 kThreads = 256;
constexpr u32 kBlocks = 132;

__global__ void slow_sum_kernel(const volatile u64* words, size_t count, u32 rounds,
                                unsigned long long* out) {
  unsigned long long sum = 0;
  for (u32 round = 0; round < rounds; ++round) {
    for (size_t i = blockIdx.x * kThreads + threadIdx.x; i < count; i += kBlocks * kThreads) {
      sum += words[i];
    }
  }
  atomicAdd(out, sum);
}

}  // namespace

void launch_slow_sum(const u64* words, size_t count, u32 rounds, u64* out, cudaStream_t stream) {
  cudaMemsetAsync(out, 0, sizeof(u64), stream);
  slow_sum_kernel<<<kBlocks, kThreads, 0, stream>>>(words, count, rounds,
                                                    reinterpret_cast<unsigned long long*>(out));
}

}  // namespace epochd::testing
