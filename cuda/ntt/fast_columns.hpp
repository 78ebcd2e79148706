// The column passes by their shape; fast.hpp's first() and last() choose.
#pragma once

#include "cuda/ntt/fast.hpp"

namespace epochd::cuda::fast {

/// N1 = 256, 512 or 1024.
void first_two_rounds(const LdeTwiddles& twiddles, const u64* in, const Pass& pass);
void last_two_rounds(const LdeTwiddles& twiddles, const Pass& pass, u64* out);

/// N1 = 8, 16 or 32.
void first_one_round(const LdeTwiddles& twiddles, const u64* in, const Pass& pass);
void last_one_round(const Pass& pass, u64* out);

}  // namespace epochd::cuda::fast
