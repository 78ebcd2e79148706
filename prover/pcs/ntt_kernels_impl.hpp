// Bodies of ntt_kernels.hpp for a pack type P and its 8 x 8 transposition; see there for the
// scheme. Everything is a template over P, so each instruction set's object file keeps its own
// symbols.
#pragma once

#include "prover/core/hd.hpp"
#include "prover/pcs/ntt_kernels.hpp"

namespace epochd::prover::ntt {

/// (u, v) -> (u + t, u - t), or swapped where the twiddle is -t / v.
template <class P, bool kSwap>
EPOCHD_INLINE void cross(P& u, P& v, P t) {
  const P sum = u + t;
  const P difference = u - t;
  u = kSwap ? difference : sum;
  v = kSwap ? sum : difference;
}

/// The butterfly of (u, v) with twiddle w_16^kPower, forward or inverse: a power of 2, perhaps
/// negated. w_16 = 2^156 = -2^60, its inverse 2^36, and 2^96 = -1, 2^192 = 1.
template <class P, u32 kPower, bool kInverse>
EPOCHD_INLINE void twiddled_cross(P& u, P& v) {
  constexpr u32 kExponent = kPower * (kInverse ? 36 : 156) % 192;
  constexpr bool kNegated = kExponent >= 96;
  if constexpr (kExponent % 96 == 0) {
    cross<P, kNegated>(u, v, v);
  } else {
    cross<P, kNegated>(u, v, v.template times_power_of_2<kExponent % 96>());
  }
}

/// The DFT of 2^kLogRadix points, natural in, bit-reversed out, as block kBlock of a larger one:
/// split in halves with twiddle w_16^bitrev(kBlock), then each half.
template <class P, u32 kLogRadix, bool kInverse, u32 kBlock = 0>
EPOCHD_INLINE void small_dft(P* x) {
  constexpr u32 kPowers[8] = {0, 4, 2, 6, 1, 5, 3, 7};
  constexpr u32 kHalf = 1u << (kLogRadix - 1);
#pragma GCC unroll 8
  for (u32 i = 0; i < kHalf; ++i) {
    twiddled_cross<P, kPowers[kBlock], kInverse>(x[i], x[i + kHalf]);
  }
  if constexpr (kLogRadix > 1) {
    small_dft<P, kLogRadix - 1, kInverse, 2 * kBlock>(x);
    small_dft<P, kLogRadix - 1, kInverse, 2 * kBlock + 1>(x + kHalf);
  }
}

template <class P>
struct PassArgs {
  size_t log_blocks;
  size_t length;  ///< e, of a block after the pass
  const Fp* table;
  const Fp* src;
  size_t src_stride;
  const u32* reversal;  ///< null unless rows are read in bit-reversed order
  Fp* dst;
  size_t dst_stride;
};

/// Asks for the strided rows of the group kAhead after group i of n: rows group * group_rows + k *
/// step, k < kRadix. After the last group those of the next eight lanes. Hardware sees no pattern
/// in them.
template <u32 kRadix, int kWrite>
EPOCHD_INLINE void prefetch_rows(const Fp* rows, size_t i, size_t n, size_t group_rows, size_t step,
                                 size_t stride) {
  constexpr size_t kAhead = 4;
  const size_t group = i + kAhead;
  const Fp* p = rows + (group & (n - 1)) * group_rows * stride + (group >= n ? kLanes : 0);
#pragma GCC unroll 16
  for (u32 k = 0; k < kRadix; ++k) __builtin_prefetch(p + k * step * stride, kWrite);
}

template <class P, u32 kLogRadix, bool kInverse, bool kLaneTables, Head kHead>
void run_pass(const PassArgs<P>& a) {
  constexpr u32 kRadix = 1u << kLogRadix;
  constexpr u32 kFirst = kHead == Head::kScaled ? 0 : 1;
  constexpr size_t kEntry = kLaneTables ? kLanes : 1;
  constexpr u32 kReversed[16] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};
  const size_t e = a.length;
  size_t offset[kRadix];
  for (u32 k = 0; k < kRadix; ++k) {
    offset[k] =
        a.reversal != nullptr ? (kReversed[k] >> (4 - kLogRadix)) * kLanes : k * e * a.src_stride;
  }
  const size_t blocks = size_t{1} << a.log_blocks;
  for (size_t block = 0; block < blocks; ++block) {
    const Fp* table = a.table + block * (kRadix - kFirst) * kEntry;
    for (size_t i = 0; i < e; ++i) {
      const size_t row = block * kRadix * e + i;
      // Only a first pass reads strided rows, only a last one (e = 1) writes them.
      if (a.src_stride != kLanes) prefetch_rows<kRadix, 0>(a.src, i, e, 1, e, a.src_stride);
      if (a.dst_stride != kLanes) {
        prefetch_rows<kRadix, 1>(a.dst, block, blocks, kRadix, 1, a.dst_stride);
      }
      const Fp* src = a.src + (a.reversal != nullptr ? size_t{a.reversal[i]} * kRadix * kLanes
                                                     : row * a.src_stride);
      Fp* dst = a.dst + row * a.dst_stride;
      for (u32 lane = 0; lane < kLanes; lane += P::kLanes) {
        P x[kRadix];
#pragma GCC unroll 16
        for (u32 k = 0; k < kRadix; ++k) {
          x[k] = P::load(src + offset[k] + lane);
          if (kHead != Head::kTrivial && k >= kFirst) {
            const Fp* w = table + (k - kFirst) * kEntry;
            x[k] *= kLaneTables ? P::load(w + lane) : P::broadcast(w);
          }
        }
        small_dft<P, kLogRadix, kInverse>(x);
#pragma GCC unroll 16
        for (u32 k = 0; k < kRadix; ++k) x[k].store(dst + k * e * a.dst_stride + lane);
      }
    }
  }
}

template <class P, bool kInverse, bool kLaneTables, Head kHead>
void run_pass_of_radix(u32 log_radix, const PassArgs<P>& a) {
  if (log_radix == 4) {
    run_pass<P, 4, kInverse, kLaneTables, kHead>(a);
  } else if (log_radix == 3) {
    run_pass<P, 3, kInverse, kLaneTables, kHead>(a);
  } else if (log_radix == 2) {
    run_pass<P, 2, kInverse, kLaneTables, kHead>(a);
  } else {
    run_pass<P, 1, kInverse, kLaneTables, kHead>(a);
  }
}

template <class P>
void dispatch_pass(const Transform& t, Head head, u32 log_radix, const PassArgs<P>& a) {
  if (head == Head::kScaled) {
    run_pass_of_radix<P, false, false, Head::kScaled>(log_radix, a);
  } else if (head == Head::kTrivial) {
    t.plan->inverse ? run_pass_of_radix<P, true, false, Head::kTrivial>(log_radix, a)
                    : run_pass_of_radix<P, false, false, Head::kTrivial>(log_radix, a);
  } else if (t.lane_tables) {
    t.plan->inverse ? run_pass_of_radix<P, true, true, Head::kMultiply>(log_radix, a)
                    : run_pass_of_radix<P, false, true, Head::kMultiply>(log_radix, a);
  } else {
    t.plan->inverse ? run_pass_of_radix<P, true, false, Head::kMultiply>(log_radix, a)
                    : run_pass_of_radix<P, false, false, Head::kMultiply>(log_radix, a);
  }
}

template <class P>
void transform(const Transform& t) {
  const PlanView& plan = *t.plan;
  const size_t entry = t.lane_tables ? kLanes : 1;
  for (u32 p = 0; p < plan.pass_count; ++p) {
    const Pass& pass = plan.passes[p];
    const bool first = p == 0;
    const bool last = p + 1 == plan.pass_count;
    const Head head = first ? t.head : Head::kMultiply;
    PassArgs<P> a;
    a.log_blocks = pass.log_blocks;
    a.length = size_t{1} << (plan.log_n - pass.log_blocks - pass.log_radix);
    a.table = head == Head::kScaled ? t.head_factors : t.table + pass.table * entry;
    a.src = first ? t.src : t.scratch;
    a.src_stride = first ? t.src_stride : kLanes;
    a.reversal = first && t.src_reversed ? plan.reversal : nullptr;
    a.dst = last ? t.dst : t.scratch;
    a.dst_stride = last ? t.dst_stride : kLanes;
    dispatch_pass<P>(t, head, pass.log_radix, a);
  }
}

template <class P>
void make_lane_table(const PlanView& plan, const Fp* shifts, Fp* table) {
  for (u32 lane = 0; lane < kLanes; lane += P::kLanes) {
    P shift = P::load(shifts + lane);  // s^e of the current pass, from the last pass (e = 1) up
    for (u32 p = plan.pass_count; p-- > 0;) {
      const Pass& pass = plan.passes[p];
      const u32 entries = (1u << pass.log_radix) - 1;
      P power = shift;
      for (u32 k = 0; k < entries; ++k) {
        for (size_t block = 0; block < size_t{1} << pass.log_blocks; ++block) {
          const size_t at = pass.table + block * entries + k;
          (power * P::broadcast(plan.table + at)).store(table + at * kLanes + lane);
        }
        power *= shift;
      }
      shift = power;
    }
  }
}

/// Tile::transpose(in, out): out[c][r] = in[r][c] for 8 x 8 elements.
template <class Tile>
void load_rows(const Fp* const* rows, size_t n, Fp* lanes) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Fp* in[kLanes];
    Fp* out[kLanes];
    for (u32 l = 0; l < kLanes; ++l) {
      in[l] = rows[l] + i;
      out[l] = lanes + (i + l) * kLanes;
    }
    Tile::transpose(in, out);
  }
  for (; i < n; ++i) {
    for (u32 l = 0; l < kLanes; ++l) lanes[i * kLanes + l] = rows[l][i];
  }
}

template <class Tile>
void store_rows(const Fp* lanes, size_t n, Fp* const* rows) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Fp* in[kLanes];
    Fp* out[kLanes];
    for (u32 l = 0; l < kLanes; ++l) {
      in[l] = lanes + (i + l) * kLanes;
      out[l] = rows[l] + i;
    }
    Tile::transpose(in, out);
  }
  for (; i < n; ++i) {
    for (u32 l = 0; l < kLanes; ++l) rows[l][i] = lanes[i * kLanes + l];
  }
}

template <class P>
void reverse_rows(const Fp* src, u32 log_n, const Fp* row_factors, const Fp* lane_factors, Fp* dst,
                  size_t dst_stride) {
  size_t reversed = 0;
  for (size_t i = 0; i < size_t{1} << log_n; ++i) {
    const P row = P::broadcast(row_factors + i);
    for (u32 lane = 0; lane < kLanes; lane += P::kLanes) {
      const P factor = row * P::load(lane_factors + lane);
      (P::load(src + reversed * kLanes + lane) * factor).store(dst + i * dst_stride + lane);
    }
    // Adds one to `reversed`, carrying from the top bit down.
    size_t bit = (size_t{1} << log_n) >> 1;
    for (; (reversed & bit) != 0; bit >>= 1) reversed ^= bit;
    reversed |= bit;
  }
}

template <class P, class Tile>
constexpr Kernels make_kernels() {
  return {transform<P>, make_lane_table<P>, load_rows<Tile>, store_rows<Tile>, reverse_rows<P>};
}

}  // namespace epochd::prover::ntt
