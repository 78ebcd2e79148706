// The LDE of columns taller than the fast kernels take: N = R N'. One pass of R points before and
// one after make R columns of N' rows of each, with k = kr + R k' and j = j' + N' jr:
//   split   a[nr N' + n'] -> b[kr][n']        inverse R-point transforms, times w_N^(-n' kr) / R
//           b[kr] -> its LDE from <w_N'> to s^R <w_N'>, s^R w_2N' <w_N'>, for the coset shifts s
//   join    value j' of all kr -> out[bitrev(j') R + bitrev(jr)]   times (s w_N^j')^kr, forward
// since the coefficients kr + R k' of a column are a polynomial in X^R.
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/ntt/fast.hpp"
#include "cuda/ntt/sizes.hpp"
#include "cuda/ntt/split.hpp"

namespace epochd::cuda::tall {

/// The inner LDE's tables.
fast::HeightTables make_tables(u32 log_n, u32 log_blowup, cudaStream_t stream);

/// `powers` as NttTables::powers(); `pairs` the inner LDE's tables, 2^(log_blowup - 1) of them.
/// Shapes as coset_lde's; scratch_words(log_n) of scratch.
void lde(const u64* powers, const LdeTwiddles* pairs, const LdeJob& job, u64* scratch,
         u32 log_blowup, cudaStream_t stream);

}  // namespace epochd::cuda::tall
