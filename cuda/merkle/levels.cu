// Tree levels above the leaves: a block takes 512 digests through some levels in shared memory.
// While there are many nodes that is four levels, after which a block's warps are no longer full
// and others should take its place; nine levels once latency counts. Bound by the ALU at the
// bottom, by latency at the top.
#include "cuda/merkle/blake3.cuh"
#include "cuda/merkle/row_batch.hpp"
#include "cuda/rt/error.hpp"
#include "prover/hash/domains.hpp"

namespace epochd::cuda {
namespace {

constexpr u32 kThreads = 256;
constexpr u32 kLogThreads = 8;
constexpr u32 kLevelsPerBlock = kLogThreads + 1;
/// With at least this many nodes, blocks do kLevelsWhileMany levels.
constexpr u32 kLogNodesMany = 14;
constexpr u32 kLevelsWhileMany = 4;

struct LevelKeys {
  Blake3Key node;
  Blake3Key inject;
};

/// Node `index` of level `level` from its children; the rows that join are already there.
__device__ __forceinline__ ChainingValue make_node(const LevelKeys& keys, const ChainingValue& left,
                                                   const ChainingValue& right, Digest* at,
                                                   bool joins) {
  ChainingValue cv = hash_pair(keys.node, left, right);
  if (joins) cv = hash_pair(keys.inject, cv, load_digest(at));
  store_digest(at, cv);
  return cv;
}

/// Levels first_level .. first_level + count - 1. Grid: blocks of kThreads nodes of first_level.
__global__ void __launch_bounds__(kThreads)
    levels_kernel(Digest* levels, u32 log_leaves, u32 first_level, u32 count, u32 joins,
                  const __grid_constant__ LevelKeys keys) {
  __shared__ u32 s[8][kThreads];
  const u32 t = threadIdx.x;
  for (u32 i = 0; i < count; ++i) {
    const u32 level = first_level + i;
    const u32 nodes_here = kThreads >> i;
    const u64 index = static_cast<u64>(blockIdx.x) * nodes_here + t;
    const bool active = t < nodes_here && index < u64{1} << (log_leaves - level);
    Digest* at = levels + tree_level_offset(log_leaves, level) + index;
    ChainingValue left;
    ChainingValue right;
    if (active) {
      if (i == 0) {
        const Digest* children = levels + tree_level_offset(log_leaves, level - 1) + 2 * index;
        left = load_digest(children);
        right = load_digest(children + 1);
      } else {
#pragma unroll
        for (int w = 0; w < 8; ++w) {
          left.words[w] = s[w][2 * t];
          right.words[w] = s[w][2 * t + 1];
        }
      }
    }
    __syncthreads();
    if (active) {
      const ChainingValue cv = make_node(keys, left, right, at, (joins >> level & 1) != 0);
#pragma unroll
      for (int w = 0; w < 8; ++w) s[w][t] = cv.words[w];
    }
    __syncthreads();
  }
}

}  // namespace

void build_levels(Digest* levels, u32 log_leaves, u32 joins, cudaStream_t stream) {
  EPOCHD_ASSERT(log_leaves <= kTreeLogLeavesMax);
  const LevelKeys keys{prover::domains::kNode, prover::domains::kInject};
  for (u32 level = 1, count = 0; level <= log_leaves; level += count) {
    const u32 log_nodes = log_leaves - level;
    const u32 most = log_nodes >= kLogNodesMany ? kLevelsWhileMany : kLevelsPerBlock;
    count = log_nodes + 1 < most ? log_nodes + 1 : most;
    const u32 blocks = log_nodes > kLogThreads ? 1u << (log_nodes - kLogThreads) : 1;
    levels_kernel<<<blocks, kThreads, 0, stream>>>(levels, log_leaves, level, count, joins, keys);
    EPOCHD_CUDA_CHECK(cudaGetLastError());
  }
}

}  // namespace epochd::cuda
