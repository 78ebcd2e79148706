// Small helpers the CPU session's stages share.
#pragma once

#include <bit>
#include <span>
#include <vector>

#include "prover/core/types.hpp"

namespace epochd::prover {

inline u32 log2_exact(size_t n) {
  return static_cast<u32>(std::countr_zero(n));
}

/// i >> shift for sorted indices, each once.
inline std::vector<u32> shifted_unique(std::span<const u32> sorted, u32 shift) {
  std::vector<u32> out;
  for (const u32 i : sorted) {
    if (out.empty() || out.back() != i >> shift) out.push_back(i >> shift);
  }
  return out;
}

inline u64 reverse_bits(u64 x, u32 bits) {
  u64 r = 0;
  for (u32 i = 0; i < bits; ++i) r |= (x >> i & 1) << (bits - 1 - i);
  return r;
}

}  // namespace epochd::prover
