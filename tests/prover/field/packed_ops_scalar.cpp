#include "tests/prover/field/packed_ops.hpp"

#include "prover/field/packed_scalar.hpp"

namespace epochd::prover {

PackUnderTest packed_scalar_ops() {
  return {apply_all<PackedScalar>, cubic_mul_all<PackedScalar>, sum_of_products_all<PackedScalar>};
}

}  // namespace epochd::prover
