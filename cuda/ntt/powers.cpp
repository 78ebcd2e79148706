#include "cuda/ntt/powers.hpp"

#include "prover/field/fp.hpp"

namespace epochd::cuda {

using prover::Fp;

std::vector<u64> make_powers() {
  const Fp root = Fp::two_adic_root(2 * kLogPowers);
  const Fp shift = Fp::generator();
  const Fp low[3] = {root, shift, shift.inverse()};
  std::vector<u64> table;
  table.reserve(kPowersWords);
  for (const Fp base : low) {
    for (const Fp ratio : {base, base.pow(kPowerCount)}) {
      Fp power = Fp::one();
      for (u32 i = 0; i < kPowerCount; ++i, power *= ratio) table.push_back(power.value());
    }
  }
  return table;
}

}  // namespace epochd::cuda
