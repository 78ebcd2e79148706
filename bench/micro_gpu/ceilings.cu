// How fast this device does each kind of work at its best: a copy of device memory, and arithmetic
// in registers with enough of it in flight.
#include "bench/micro_gpu/timing.hpp"
#include "cuda/field/lazy_cubic.hpp"
#include "cuda/merkle/blake3.cuh"

namespace epochd::bench {
namespace {

constexpr u32 kThreads = 256;
constexpr u32 kBlocks = 132 * 16;
constexpr u32 kRounds = 256;
constexpr u32 kChains = 4;  ///< independent ones a thread
constexpr double kAllThreads = double{kThreads} * kBlocks;

namespace loose = cuda::loose;

__global__ void __launch_bounds__(kThreads) multiply(u64* out, u64 factor) {
  const u64 id = blockIdx.x * u64{kThreads} + threadIdx.x;
  u64 x[kChains];
  for (u32 c = 0; c < kChains; ++c) x[c] = id + c;
  for (u32 i = 0; i < kRounds; ++i) {
#pragma unroll
    for (u32 c = 0; c < kChains; ++c) x[c] = loose::mul(x[c], factor);
  }
  u64 sum = 0;
  for (u32 c = 0; c < kChains; ++c) sum ^= x[c];
  out[id] = sum;
}

__global__ void __launch_bounds__(kThreads) butterflies(u64* out, u64 factor) {
  const u64 id = blockIdx.x * u64{kThreads} + threadIdx.x;
  u64 x[2 * kChains];
  for (u32 c = 0; c < 2 * kChains; ++c) x[c] = id + c;
  for (u32 i = 0; i < kRounds; ++i) {
#pragma unroll
    for (u32 c = 0; c < kChains; ++c) {
      const u64 a = x[2 * c];
      const u64 b = loose::mul(x[2 * c + 1], factor);
      x[2 * c] = loose::add(a, b);
      x[2 * c + 1] = loose::sub(a, b);
    }
  }
  u64 sum = 0;
  for (u32 c = 0; c < 2 * kChains; ++c) sum ^= x[c];
  out[id] = sum;
}

__global__ void __launch_bounds__(kThreads) compress(u64* out, u32 word) {
  const u64 id = blockIdx.x * u64{kThreads} + threadIdx.x;
  cuda::ChainingValue value;
  cuda::Message message;
  for (u32 i = 0; i < 8; ++i) value.words[i] = static_cast<u32>(id) + i;
  for (u32 i = 0; i < 16; ++i) message.words[i] = word * i;
  for (u32 i = 0; i < kRounds / 4; ++i) {
    cuda::compress(value, message, i, 64, cuda::kWholeFlags);
  }
  u32 sum = 0;
  for (u32 i = 0; i < 8; ++i) sum ^= value.words[i];
  out[id] = sum;
}

template <class Kernel, class Argument>
std::function<Launch()> launches(Kernel kernel, Argument argument) {
  return [=]() -> Launch {
    const auto out = device_memory(static_cast<size_t>(kAllThreads) * sizeof(u64));
    return [=] {
      kernel<<<kBlocks, kThreads, 0, stream().get()>>>(as<u64>(out), argument);
      EPOCHD_CUDA_CHECK(cudaGetLastError());
    };
  };
}

}  // namespace

void add_ceilings() {
  constexpr size_t kCopied = size_t{1} << 30;
  add_kernel("ceiling/bytes/copy", {.bytes = 2.0 * kCopied}, []() -> Launch {
    const auto from = random_elements(kCopied / sizeof(u64));
    const auto to = device_memory(kCopied);
    return [=] {
      EPOCHD_CUDA_CHECK(cudaMemcpyAsync(to->data(), from->data(), kCopied, cudaMemcpyDeviceToDevice,
                                        stream().get()));
    };
  });
  const double operations = kAllThreads * kRounds * kChains;
  const u64 factor = 0x123456789abcdefull;
  add_kernel("ceiling/multiplications", {.multiplications = operations},
             launches(multiply, factor));
  add_kernel("ceiling/butterflies", {.butterflies = operations}, launches(butterflies, factor));
  add_kernel("ceiling/compressions", {.compressions = kAllThreads * (kRounds / 4)},
             launches(compress, 77u));
}

}  // namespace epochd::bench
