#include "tests/prover/field/packed_ops.hpp"

#include "prover/field/packed_avx512.hpp"

namespace epochd::prover {

PackUnderTest packed_avx512_ops() {
  return {apply_all<PackedAvx512>, cubic_mul_all<PackedAvx512>, sum_of_products_all<PackedAvx512>};
}

}  // namespace epochd::prover
