// Number-theoretic transforms of columns. Coset evaluations are on 7 * <g_m>, in bit-reversed
// order: entry i is f(7 g_m^bitrev(i)) with g_m = Fp::two_adic_root(log_m). Coefficients are in
// natural order.
//
// Every function gives the same bytes for every instruction set and thread count. Input and output
// may not overlap. Columns lie `stride` elements apart (stride >= rows). Errors: std::bad_alloc.
// Source: protocol.md section 3.
#pragma once

#include "prover/core/cpu_features.hpp"
#include "prover/core/parallel.hpp"
#include "prover/field/fp.hpp"

namespace epochd::prover {

inline constexpr u32 kNttLogRowsMax = 29;
inline constexpr u32 kNttLogBlowupMax = 3;

/// Extends columns from H = <g_n> to 7 H'. Shapes: [columns][2^log_n] natural order ->
/// [columns][2^(log_n + log_blowup)] bit-reversed.
/// Pre: log_blowup <= kNttLogBlowupMax, log_n + log_blowup <= kNttLogRowsMax.
void coset_lde(Isa isa, const Fp* in, size_t in_stride, Fp* out, size_t out_stride, u32 columns,
               u32 log_n, u32 log_blowup, const Parallel& parallel);

/// The second half of coset_lde: `in` holds 2^log_n coefficients a column.
void coset_lde_from_coefficients(Isa isa, const Fp* in, size_t in_stride, Fp* out,
                                 size_t out_stride, u32 columns, u32 log_n, u32 log_blowup,
                                 const Parallel& parallel);

/// Evaluations on 7 <g_m>, bit-reversed, become coefficients, in place.
void coset_interpolate_bitrev(Isa isa, Fp* columns_in_out, size_t stride, u32 columns, u32 log_m,
                              const Parallel& parallel);

/// Memory that transforming `columns` columns as coset_lde, or one as coset_interpolate_bitrev,
/// takes besides its input and output. Units: bytes, at most.
u64 coset_lde_scratch_bytes(u32 columns, u32 log_n, u32 log_blowup, u32 threads);
u64 coset_interpolate_scratch_bytes(u32 log_m, u32 threads);

/// Evaluations on the plain subgroup <g_m>, bit-reversed, become coefficients, in place. Scalar:
/// for FRI's last layer. Pre: log_m <= Fp::kTwoAdicity.
void interpolate_bitrev(Fp* values, u32 log_m);

}  // namespace epochd::prover
