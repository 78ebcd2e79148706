// Number-theoretic transforms of columns on the device; the same values as prover/pcs/ntt.hpp.
//
// Columns are back to back (stride = rows). Coset evaluations are on 7 * <g_m>, in bit-reversed
// order; coefficients and traces are in natural order. Everything read and written is canonical.
// Every call only launches kernels on `stream`; none allocates or waits.
// Errors: cuda::Error if a launch is refused.
#pragma once

#include <memory>
#include <span>

#include "cuda/ntt/sizes.hpp"
#include "cuda/rt/lanes.hpp"
#include "prover/core/types.hpp"

namespace epochd::cuda {

struct LdeTwiddles;
struct HalfTwiddles;

/// Twiddle factors in device memory. Every height works with every object; the heights named to the
/// constructor are the ones that get tables of their own (7 words a row at blowup 2, shared by all
/// columns) and with them the fast kernels; heights up to 2^15 always do. Threads: safe to share
/// once constructed.
class NttTables {
 public:
  /// `log_heights`: values of log_n that coset_lde will see, in any order. Waits for the device.
  NttTables(std::span<const u32> log_heights, u32 log_blowup);
  ~NttTables();
  NttTables(NttTables&&) noexcept;
  NttTables& operator=(NttTables&&) noexcept;

  /// Powers that serve every height, see ntt_tables.cu.
  const u64* powers() const;
  /// Tables of the fast kernels for extending 2^log_n rows to coset pair `pair` (0 or 1; an array),
  /// or null.
  const LdeTwiddles* lde(u32 log_n, u32 pair) const;
  /// The same for lde_from_coefficients and for coset_interpolate.
  const HalfTwiddles* forward(u32 log_n, u32 log_blowup) const;
  const HalfTwiddles* inverse(u32 log_m) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Extends columns from H = <g_n> to 7 H'. Shapes: [columns][2^log_n] ->
/// [columns][2^(log_n + log_blowup)]. `in` keeps its contents.
/// Pre: kNttLogRowsMin <= log_n <= kNttLogRowsMax, 1 <= log_blowup <= kNttLogBlowupMax; `in`, `out`
/// and `scratch` do not overlap.
void coset_lde(const NttTables& tables, const u64* in, u64* out, u64* scratch, u32 columns,
               u32 log_n, u32 log_blowup, cudaStream_t stream);

/// Extends several matrices of any heights, on lanes beside each other. Best with the tallest
/// first.
void coset_lde(const NttTables& tables, const Lanes& lanes, std::span<const LdeJob> jobs,
               u64* scratch, u32 log_blowup, cudaStream_t stream);

/// The second half of coset_lde: `in` holds 2^log_n coefficients a column. Same preconditions; no
/// scratch.
void lde_from_coefficients(const NttTables& tables, const u64* in, u64* out, u32 columns, u32 log_n,
                           u32 log_blowup, cudaStream_t stream);

/// Evaluations on 7 <g_m> become coefficients, in place. Shapes: [columns][2^log_m].
/// Pre: kNttLogRowsMin <= log_m <= kNttLogRowsMax + 1.
void coset_interpolate(const NttTables& tables, u64* columns_in_out, u32 columns, u32 log_m,
                       cudaStream_t stream);

}  // namespace epochd::cuda
