// The column passes by their shape; fast.hpp's first() and last() choose.
#pragma once

#include "cuda/ntt/fast.hpp"

namespace epochd::cuda::fast {

/// N1 = R * R, R = 16 or 32.
template <int R>
void first_two_rounds(const LdeTwiddles& twiddles, const u64* in, const Pass& pass);
template <int R>
void last_two_rounds(const LdeTwiddles& twiddles, const Pass& pass, u64* out);

/// N1 = R = 8, 16 or 32.
template <int R>
void first_one_round(const LdeTwiddles& twiddles, const u64* in, const Pass& pass);
template <int R>
void last_one_round(const LdeTwiddles& twiddles, const Pass& pass, u64* out);

}  // namespace epochd::cuda::fast
