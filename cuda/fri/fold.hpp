// One FRI fold on the device.
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/open/points.hpp"
#include "prover/pcs/fri_fold.hpp"

namespace epochd::cuda {

/// next(q) = fold of entries [q * 2^k, (q + 1) * 2^k) of word; three planes of 2^log_word and
/// 2^(log_word - k). `inverses` are the inverse points of the word's domain: leaf q's first one is
/// number q * 2^k.
void launch_fri_fold(const prover::FriFold& fold, DevicePoints inverses, u32 k,
                     const prover::Fp* word, u32 log_word, prover::Fp* next, cudaStream_t stream);

}  // namespace epochd::cuda
