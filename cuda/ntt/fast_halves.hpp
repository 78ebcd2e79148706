// The halves of an LDE by themselves with inner transforms in registers, in two passes over
// [N1][N2] (one up to 2^12 rows), split as in fast.hpp:
//   forward   coefficient k = N2 ka + kb: down columns ka -> j1, then along rows kb -> j2; value
//             j = j1 + N1 j2 lies at bitrev(j1) N2 + bitrev(j2)
//   inverse   the same backwards: along rows j2 -> kb, then down columns j1 -> ka, in place
#pragma once

#include "cuda/ntt/fast.hpp"

namespace epochd::cuda {

/// Device pointers. Cosets have the shifts s_b, in the order of 7 H''s blocks; inverse transforms
/// have one, 7, and negated exponents throughout.
struct HalfTwiddles {
  const u64* column_rounds;  ///< [R1 ka][R2 nb]        w_N1^(ka nb), where columns take two rounds
  const u64* column_shift;   ///< [b][N1 ka]            s_b^(N2 ka)
  const u64* outer;          ///< [b][N1 j1][N2 kb]     w_N^(j1 kb) s_b^kb; 1/N as well if inverse
  const u64* row;            ///< [16 k0][16 C n']      w_N2^(k0 n')
  const u64* row2;           ///< [16 k1][C n2]         w_16C^(k1 n2)
};

namespace fast {

struct HalfTables {
  DeviceBlock memory;
  HalfTwiddles twiddles = {};  ///< all null where not made
};
HalfTables make_forward_tables(u32 log_n, u32 log_blowup, cudaStream_t stream);
HalfTables make_inverse_tables(u32 log_m, cudaStream_t stream);

/// To be called once per device: lets the kernels use the shared memory they need.
void prepare_half_columns();

void from_coefficients(const HalfTwiddles& twiddles, const u64* in, u64* out, u32 columns,
                       u32 log_n, u32 log_blowup, cudaStream_t stream);
void interpolate(const HalfTwiddles& twiddles, u64* columns_in_out, u32 columns, u32 log_m,
                 cudaStream_t stream);

/// The passes. `blocks` counts columns times cosets; coset b of column c is block
/// (c << log_blowup) + b.
struct HalfPass {
  Split split;
  u32 blocks;
  u32 log_blowup;
  cudaStream_t stream;
};
void forward_columns(const HalfTwiddles& twiddles, const u64* in, u64* out, const HalfPass& pass);
void inverse_columns(const HalfTwiddles& twiddles, u64* data, const HalfPass& pass);
/// In place, or from coefficients where N1 = 1.
void forward_rows(const HalfTwiddles& twiddles, const u64* in, u64* out, const HalfPass& pass);
void inverse_rows(const HalfTwiddles& twiddles, u64* data, const HalfPass& pass);

}  // namespace fast
}  // namespace epochd::cuda
