// K columns in device memory.
#pragma once

#include "prover/field/fp3.hpp"

namespace epochd::cuda {

/// A K column as three planes in device memory.
struct DevicePlanes {
  prover::Fp* base;
  size_t stride;

  __device__ prover::Fp3 get(size_t i) const {
    return {base[i], base[i + stride], base[i + 2 * stride]};
  }
  __device__ void set(size_t i, const prover::Fp3& v) const {
    base[i] = v.c0;
    base[i + stride] = v.c1;
    base[i + 2 * stride] = v.c2;
  }
};

}  // namespace epochd::cuda
