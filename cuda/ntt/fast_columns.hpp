// The column passes by their shape; fast.hpp's first() and last() choose.
#pragma once

#include "cuda/ntt/fast.hpp"

namespace epochd::cuda::fast {

/// N1 = 1024; to be prepared by prepare_columns().
void prepare_three_rounds();
void first_three_rounds(const LdeTwiddles& twiddles, const u64* in, const Pass& pass);
/// N1 = 256 or 512.
void first_two_rounds(const LdeTwiddles& twiddles, const u64* in, const Pass& pass);
/// Or 1024.
void last_two_rounds(const LdeTwiddles& twiddles, const Pass& pass, u64* out);

/// N1 = 8, 16 or 32.
void first_one_round(const LdeTwiddles& twiddles, const u64* in, const Pass& pass);
void last_one_round(const Pass& pass, u64* out);

}  // namespace epochd::cuda::fast
