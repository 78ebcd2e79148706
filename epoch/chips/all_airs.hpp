// The list of chips, in ChipId order. Everything that iterates over tables (prover, verifier, CUDA
// instantiations, tests, docs) reads this list; nothing is registered by hand. Freestanding.
#pragma once

#include "epoch/chips/add/air.hpp"

namespace epochd::chips {

template <class... Airs>
struct AirList {
  static constexpr u32 kCount = sizeof...(Airs);
};

using AllAirs = AirList<AddAir>;

}  // namespace epochd::chips
