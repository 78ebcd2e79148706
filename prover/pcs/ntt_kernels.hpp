// The one transform all NTTs here are made of, compiled once per instruction set: eight independent
// transforms side by side, data as [n][8] ("lanes"), natural order in, bit-reversed order out.
// Lanes are neighbouring columns of a 2D split, neighbouring rows after a transposition, or eight
// columns.
//
// A transform evaluates f at s <w_n>. A pass of radix r = 2^t splits every block f mod x^(re) - a^r
// into r blocks of length e: coefficients are multiplied by 1, a, .., a^(r-1), then an r-point DFT
// follows whose twiddles are powers of 2. So a pass needs r - 1 table entries a block, a = s^e
// w^bitrev(block).
#pragma once

#include "prover/field/fp.hpp"

namespace epochd::prover::ntt {

inline constexpr u32 kLanes = 8;
inline constexpr u32 kPassesMax = 6;

struct Pass {
  u32 log_radix;
  u32 log_blocks;  ///< blocks this pass splits
  size_t table;    ///< first entry; (radix - 1) entries for each block
};

/// What the kernels see of a plan (ntt_plan.hpp).
struct PlanView {
  u32 log_n;
  u32 pass_count;
  bool inverse;  ///< with w^-1, unscaled
  Pass passes[kPassesMax];
  size_t table_size;
  const Fp* table;      ///< for s = 1
  const u32* reversal;  ///< bit reversal of the first pass's group index
};

/// How the first pass multiplies.
enum class Head : u8 {
  kMultiply,  ///< by the table
  kTrivial,   ///< not at all: s = 1
  kScaled,    ///< by `head_factors`, radix of them: the table's with a common factor
};

struct Transform {
  const PlanView* plan;
  const Fp* table;   ///< [table_size], or [table_size][8] if lane_tables
  bool lane_tables;  ///< each lane has its own s
  Head head;
  const Fp* head_factors;  ///< only for Head::kScaled
  const Fp* src;           ///< row i at src + i * src_stride
  size_t src_stride;
  bool src_reversed;  ///< row i at src + bitrev(i) * 8 instead; src is not `scratch` then
  Fp* scratch;        ///< [n][8]; may be src if src_stride = 8
  Fp* dst;            ///< row i at dst + i * dst_stride; may be scratch if dst_stride = 8
  size_t dst_stride;
};

struct Kernels {
  /// Pre: plan->pass_count >= 1; lane tables go with Head::kMultiply, kScaled with forward plans.
  void (*transform)(const Transform& t);
  /// The table of a transform whose lane l has shift shifts[l], as [table_size][8].
  void (*make_lane_table)(const PlanView& plan, const Fp* shifts, Fp* table);
  /// lanes[i][l] = rows[l][i], i < n; and back.
  void (*load_rows)(const Fp* const* rows, size_t n, Fp* lanes);
  void (*store_rows)(const Fp* lanes, size_t n, Fp* const* rows);
  /// dst[i * dst_stride + l] = src[bitrev(i)][l] * row_factors[i] * lane_factors[l], i < 2^log_n.
  void (*reverse_rows)(const Fp* src, u32 log_n, const Fp* row_factors, const Fp* lane_factors,
                       Fp* dst, size_t dst_stride);
};

const Kernels& scalar_kernels();
const Kernels& avx2_kernels();
const Kernels& avx512_kernels();

}  // namespace epochd::prover::ntt
