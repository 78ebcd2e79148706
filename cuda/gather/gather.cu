// Bound by latency: a few hundred rows of a few hundred columns.
#include "cuda/gather/gather.hpp"
#include "cuda/rt/error.hpp"

namespace epochd::cuda {
namespace {

constexpr u32 kThreads = 128;

/// Grid: rows. Each thread takes every kThreads-th column of a segment.
__global__ void __launch_bounds__(kThreads)
    rows_kernel(const __grid_constant__ RowSource source, const u32* indices, u64* out) {
  const u64 row = indices[blockIdx.x];
  out += static_cast<u64>(blockIdx.x) * source.width;
  for (u32 s = 0; s < source.segment_count; ++s) {
    const RowSegment& segment = source.segments[s];
    for (u32 c = threadIdx.x; c < segment.width; c += kThreads) {
      out[c] = segment.base[static_cast<u64>(c) * segment.stride + row];
    }
    out += segment.width;
  }
}

/// Grid: threads a word.
__global__ void __launch_bounds__(kThreads)
    fri_kernel(const u64* planes, u64 plane_stride, u32 log_fold, const u32* indices, u32 words,
               u64* out) {
  const u32 at = blockIdx.x * kThreads + threadIdx.x;
  if (at >= words) return;
  const u32 leaf_words = 3u << log_fold;
  const u32 word = at % leaf_words;
  const u64 leaf = indices[at / leaf_words];
  out[at] = planes[word % 3 * plane_stride + (leaf << log_fold) + word / 3];
}

/// Grid: threads a word.
__global__ void __launch_bounds__(kThreads)
    digests_kernel(const prover::Digest* tree, const u64* positions, u32 words,
                   prover::Digest* out) {
  const u32 at = blockIdx.x * kThreads + threadIdx.x;
  if (at < words) out[at / 4].words[at % 4] = tree[positions[at / 4]].words[at % 4];
}

u32 blocks_for(u32 threads) {
  return (threads + kThreads - 1) / kThreads;
}

}  // namespace

void gather_rows(const RowSource& source, const u32* indices, u32 count, u64* out,
                 cudaStream_t stream) {
  if (count == 0) return;
  rows_kernel<<<count, kThreads, 0, stream>>>(source, indices, out);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

void gather_fri_leaves(const u64* planes, u64 plane_stride, u32 log_fold, const u32* indices,
                       u32 count, u64* out, cudaStream_t stream) {
  if (count == 0) return;
  const u32 words = count * (3u << log_fold);
  fri_kernel<<<blocks_for(words), kThreads, 0, stream>>>(planes, plane_stride, log_fold, indices,
                                                         words, out);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

void gather_digests(const prover::Digest* tree, const u64* positions, u32 count,
                    prover::Digest* out, cudaStream_t stream) {
  if (count == 0) return;
  digests_kernel<<<blocks_for(4 * count), kThreads, 0, stream>>>(tree, positions, 4 * count, out);
  EPOCHD_CUDA_CHECK(cudaGetLastError());
}

}  // namespace epochd::cuda
