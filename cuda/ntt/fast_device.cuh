// What the fast kernels share. Device code only.
#pragma once

#include "cuda/ntt/fast.hpp"
#include "cuda/ntt/field.cuh"

namespace epochd::cuda::fast {

/// Copies a word from global to shared memory while the thread goes on.
__device__ __forceinline__ void copy_async(u64* shared, const u64* global) {
  const u32 at = static_cast<u32>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.ca.shared.global [%0],[%1],8;" ::"r"(at), "l"(global) : "memory");
}
/// Waits for this thread's own copies: what it copied, it may read without a barrier.
__device__ __forceinline__ void wait_copies() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

/// A word that nothing writes while the kernel runs.
__device__ __forceinline__ u64 load_once(const u64* p) {
  return __ldg(reinterpret_cast<const unsigned long long*>(p));
}

__device__ __forceinline__ u32 reverse_bits(u32 x, u32 bits) {
  return __brev(x) >> (32 - bits);
}

/// Which of a column's 2^log_blowup blocks is block b of this pair, counted over all columns.
struct OutBlocks {
  u32 log_blowup;
  u32 pair;
  __device__ __forceinline__ u64 index(u32 column, u32 b) const {
    return (static_cast<u64>(column) << log_blowup) + 2 * pair + b;
  }
};

/// Which columns and cosets of a pair blockIdx.y of a last pass counts.
struct LastPass {
  Place w[2];
  OutBlocks blocks;
  u32 first_coset;
  u32 log_cosets;
  __device__ __forceinline__ u32 column() const { return blockIdx.y >> log_cosets; }
  __device__ __forceinline__ u32 coset() const {
    return first_coset + (blockIdx.y & ((1u << log_cosets) - 1));
  }
  __device__ __forceinline__ const u64* in() const {
    const u32 b = coset();
    return (b != 0 ? w[1].at : w[0].at) + column() * (b != 0 ? w[1].stride : w[0].stride);
  }
  __device__ __forceinline__ u64 out_block() const { return blocks.index(column(), coset()); }
};

/// Launches a last pass: of both cosets at once, or, where tight, of coset 1 before what it reads
/// is overwritten. launch(LastPass, blocks) does one.
template <class Launch>
void launch_last_pass(const Pass& p, Launch launch) {
  const OutBlocks blocks{p.log_blowup, p.pair};
  if (!p.is_tight) return launch(LastPass{{p.w[0], p.w[1]}, blocks, 0, 1}, 2 * p.columns);
  launch(LastPass{{p.w[0], p.w[1]}, blocks, 1, 0}, p.columns);
  launch(LastPass{{p.w[0], p.w[1]}, blocks, 0, 0}, p.columns);
}

/// Column transforms of two rounds: N1 = R1 * R2 rows, tiles of T neighbouring columns, thread (g,
/// t) with g < R2 and R1 values. Round one transforms rows R2 i + g, an exchange through shared
/// memory, round two the rest, R1 / R2 transforms a thread.
template <int R1, int R2>
struct Columns {
  static constexpr int kN1 = R1 * R2;
  static constexpr int kLogN1 = gl::log2i(kN1);
  static constexpr int T = R2 == 16 ? 16 : 8;
  static constexpr int kThreads = R2 * T;
  static constexpr int kWarps = kThreads / 32;
  /// Blocks an SM holds, by registers.
  static constexpr int kBlocks = (R1 == 16 ? 1024 : 512) / kThreads;
  static constexpr int kBlocksFirst = (R1 == 16 ? 768 : 512) / kThreads;
  /// Half-warps of the exchange, and of the transposition, touch all banks.
  static constexpr int kPitch = R2 * T + (T < 16 ? T : 0);
  static constexpr int kSkew = 16 / T;
  static constexpr int kRunPitch = kN1 + (T < 16 ? kSkew : 1);
  /// Outer twiddles a thread copies ahead.
  static constexpr int kFetched = 16;
  static constexpr int kFetchAt = R1 * kPitch;
  static constexpr int kBytesExchange = 8 * kFetchAt;
  static constexpr int kBytesFirst = 8 * (kFetchAt + kFetched * kThreads);
  static constexpr int kBytesLast = 8 * (R1 * kPitch > T * kRunPitch ? R1 * kPitch : T * kRunPitch);
  /// Tiles launched side by side (256 bytes a row) before the next column.
  static constexpr int kGroup = 32 / T;

  /// Offset of R1-word block `block` of a run: 0 .. kSkew - 1.
  static __device__ __forceinline__ int skew(int block) {
    return kSkew > 1 ? block * kSkew / R2 : 0;
  }
  /// Which of the N1 results slot i holds after round two.
  template <bool kInverse>
  static __device__ __forceinline__ u32 result(int g, int i) {
    return g + i / R2 * R2 + R1 * gl::dft_index<R2, kInverse>(i % R2);
  }
  /// Its place in bit-reversed order: reversed_first(g) + reversed_rest(i).
  static __device__ __forceinline__ int reversed_first(int g) {
    return gl::bitrev(g, gl::log2i(R2)) * R1;
  }
  template <bool kInverse>
  static __device__ __forceinline__ int reversed_rest(int i) {
    return gl::bitrev(i / R2, gl::log2i(R1 / R2)) * R2 +
           gl::bitrev(gl::dft_index<R2, kInverse>(i % R2), gl::log2i(R2));
  }
  static dim3 grid(u32 log_n2, u32 columns) {
    return dim3(kGroup, columns, (1u << log_n2) / (T * kGroup));
  }
};

/// Round one and the exchange.
template <int R1, int R2, bool kInverse>
__device__ __forceinline__ void first_round(u64* x, u64* s, const u64* twiddles, int g, int t) {
  using C = Columns<R1, R2>;
  gl::dft<R1>(x, [&](int i) {
    const int f = gl::dft_index<R1, kInverse>(i);
    s[f * C::kPitch + g * C::T + t] = f != 0 ? gl::mul(x[i], twiddles[f * R2 + g]) : x[i];
  });
  __syncthreads();
#pragma unroll
  for (int i = 0; i < R1; ++i) x[i] = s[(g + i / R2 * R2) * C::kPitch + i % R2 * C::T + t];
}

/// Round two, then done(i) for every slot.
template <int R1, int R2, class F>
__device__ __forceinline__ void second_round(u64* x, F done) {
#pragma unroll
  for (int d = 0; d < R1 / R2; ++d) {
    gl::dft<R2>(x + R2 * d, [&](int i) { done(R2 * d + i); });
  }
}

/// Rows of N2 = 256 C = 16 * 16 * C values: one block of 16 C threads, 16 values a thread. Index
/// pieces n = 16C n0 + C n1 + n2, k = k0 + 16 k1 + 256 k2; shared address 16C a + C b + c, one pad
/// word in 16.
template <int C>
struct Rows {
  static constexpr int kN2 = 256 * C;
  static constexpr int kThreads = 16 * C;
  /// Transforms of C points among a thread's 16 values.
  static constexpr int kDfts = 16 / C;
  static constexpr int kBlocks = 48 / C;
  static constexpr int kBlocksWhole = 32 / C;  // there are few
  static constexpr int kStashAt = kN2 + kN2 / 16;
  /// Words a thread that three blocks leave free of an SM's 228 KB.
  static constexpr int kSpare = 4;
  static constexpr int kBytes = 8 * (kStashAt + kN2 + kSpare * kThreads);

  static __device__ __forceinline__ int pad(int a) { return a + (a >> 4); }
};

}  // namespace epochd::cuda::fast
