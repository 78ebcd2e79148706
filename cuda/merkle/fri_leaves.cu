// Leaves of FRI layers, and grinding: messages of one chunk that are not rows of columns.
#include "cuda/merkle/blake3.cuh"
#include "cuda/merkle/merkle.hpp"
#include "cuda/rt/error.hpp"
#include "prover/hash/domains.hpp"

namespace epochd::cuda {
namespace {

constexpr u32 kThreads = 256;
constexpr u32 kBlockWords = b3::kBlockBytes / sizeof(u64);

/// A thread a leaf; its 2^kLogFold values are neighbours in each plane.
template <u32 kLogFold>
__global__ void __launch_bounds__(kThreads)
    fri_leaves_kernel(const u64* planes, u64 plane_stride, u64 leaves, Digest* out,
                      const __grid_constant__ Blake3Key key) {
  constexpr u32 kWords = 3u << kLogFold;
  const u64 leaf = static_cast<u64>(blockIdx.x) * kThreads + threadIdx.x;
  if (leaf >= leaves) return;
  const u64* at = planes + (leaf << kLogFold);
  ChainingValue cv = key_value(key);
#pragma unroll
  for (u32 done = 0; done < kWords; done += kBlockWords) {
    const u32 count = kWords - done < kBlockWords ? kWords - done : kBlockWords;
    Message m;
#pragma unroll
    for (u32 i = 0; i < kBlockWords; ++i) {
      const u32 word = done + i;
      const u64 value = i < count ? at[word % 3 * plane_stride + word / 3] : 0;
      m.words[2 * i] = static_cast<u32>(value);
      m.words[2 * i + 1] = static_cast<u32>(value >> 32);
    }
    const u32 flags = b3::kKeyedHash | (done == 0 ? b3::kChunkStart : 0) |
                      (done + count == kWords ? b3::kChunkEnd | b3::kRoot : 0);
    compress(cv, m, 0, count * 8, flags);
  }
  store_digest(out + leaf, cv);
}

/// Blocks that take part in the search: enough to fill a device, few enough to stop soon.
constexpr u32 kGrindBlocks = 1024;

/// Each thread tries its nonces in ascending order until a smaller one is known to work.
__global__ void __launch_bounds__(kThreads)
    grind_kernel(const __grid_constant__ Digest state, u64 limit, unsigned long long* best,
                 const __grid_constant__ Blake3Key key) {
  Message m{};
#pragma unroll
  for (u32 i = 0; i < 4; ++i) {
    m.words[2 * i] = static_cast<u32>(state.words[i]);
    m.words[2 * i + 1] = static_cast<u32>(state.words[i] >> 32);
  }
  const volatile unsigned long long* seen = best;
  for (u64 nonce = static_cast<u64>(blockIdx.x) * kThreads + threadIdx.x; nonce < *seen;
       nonce += u64{kGrindBlocks} * kThreads) {
    m.words[8] = static_cast<u32>(nonce);
    m.words[9] = static_cast<u32>(nonce >> 32);
    ChainingValue cv = key_value(key);
    compress(cv, m, 0, 5 * sizeof(u64), kWholeFlags);
    const u64 first = static_cast<u64>(cv.words[1]) << 32 | cv.words[0];
    if (first < limit) {
      atomicMin(best, static_cast<unsigned long long>(nonce));
      return;
    }
  }
}

template <u32 kLogFold>
void launch_fri_leaves(const u64* planes, u64 plane_stride, u64 leaves, Digest* out,
                       cudaStream_t stream) {
  const u32 blocks = static_cast<u32>((leaves + kThreads - 1) / kThreads);
  fri_leaves_kernel<kLogFold>
      <<<blocks, kThreads, 0, stream>>>(planes, plane_stride, leaves, out, prover::domains::kLeaf);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void hash_fri_leaves(const u64* planes, u64 plane_stride, u32 log_word, u32 log_fold, Digest* out,
                     cudaStream_t stream) {
  EPOCHD_ASSERT(log_fold <= 4 && log_fold <= log_word);
  const u64 leaves = u64{1} << (log_word - log_fold);
  switch (log_fold) {
    case 0:
      return launch_fri_leaves<0>(planes, plane_stride, leaves, out, stream);
    case 1:
      return launch_fri_leaves<1>(planes, plane_stride, leaves, out, stream);
    case 2:
      return launch_fri_leaves<2>(planes, plane_stride, leaves, out, stream);
    case 3:
      return launch_fri_leaves<3>(planes, plane_stride, leaves, out, stream);
    default:
      return launch_fri_leaves<4>(planes, plane_stride, leaves, out, stream);
  }
}

void grind(const Digest& state, u32 bits, u64* nonce, cudaStream_t stream) {
  EPOCHD_ASSERT(bits <= 40);
  if (bits == 0) {
    EPOCHD_CUDA_CHECK(cudaMemsetAsync(nonce, 0, sizeof(u64), stream));
    return;
  }
  EPOCHD_CUDA_CHECK(cudaMemsetAsync(nonce, 0xff, sizeof(u64), stream));
  grind_kernel<<<kGrindBlocks, kThreads, 0, stream>>>(state, u64{1} << (64 - bits),
                                                      reinterpret_cast<unsigned long long*>(nonce),
                                                      prover::domains::kGrind);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

}  // namespace epochd::cuda
