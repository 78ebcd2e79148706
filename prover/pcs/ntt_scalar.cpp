#include "prover/field/packed_scalar.hpp"
#include "prover/pcs/ntt_kernels_impl.hpp"

namespace epochd::prover::ntt {

namespace {

struct ScalarTile {
  static void transpose(const Fp* const* in, Fp* const* out) {
    for (u32 r = 0; r < kLanes; ++r) {
      for (u32 c = 0; c < kLanes; ++c) out[c][r] = in[r][c];
    }
  }
};

}  // namespace

const Kernels& scalar_kernels() {
  static constexpr Kernels kernels = make_kernels<PackedScalar, ScalarTile>();
  return kernels;
}

}  // namespace epochd::prover::ntt
