#include "tests/prover/field/packed_ops.hpp"

#include "prover/field/packed_avx2.hpp"

namespace epochd::prover {

PackUnderTest packed_avx2_ops() {
  return {apply_all<PackedAvx2>, cubic_mul_all<PackedAvx2>, sum_of_products_all<PackedAvx2>};
}

}  // namespace epochd::prover
