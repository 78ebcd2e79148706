// BLAKE3 of many short messages at once: rows of column-major matrices, and pairs of digests. Same
// bytes for every instruction set; equal to blake3_keyed() of the message.
#pragma once

#include "prover/core/cpu_features.hpp"
#include "prover/field/fp.hpp"
#include "prover/hash/digest.hpp"

namespace epochd::prover {

inline constexpr u32 kRowWidthMax = 1u << 14;

/// out[i] = H_key(row first_row + i), i < count; a row is the entries of `width` columns at that
/// index, as little-endian u64s in order. Pre: 1 <= width <= kRowWidthMax.
void hash_rows(Isa isa, const Blake3Key& key, const Fp* const* columns, u32 width, size_t first_row,
               size_t count, Digest* out);

/// out[i] = H_key(left[i * stride], right[i * stride]), i < count. `out` may be `left` if stride
/// = 1.
void hash_pairs(Isa isa, const Blake3Key& key, const Digest* left, const Digest* right,
                size_t stride, size_t count, Digest* out);

}  // namespace epochd::prover
