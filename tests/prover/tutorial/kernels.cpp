#include "tests/prover/tutorial/kernels.hpp"

#include "tests/prover/tutorial/kernels_impl.hpp"

namespace epochd::prover::tutorial {

extern const FoldSet kFoldScalar;
extern const FoldSet kFoldAvx2;
extern const FoldSet kFoldAvx512;

const Kernels& kernels() {
  static const Kernels k = {{{kFoldScalar.alu, kFoldAvx2.alu, kFoldAvx512.alu}},
                            {{kFoldScalar.nibbles, kFoldAvx2.nibbles, kFoldAvx512.nibbles}},
                            {{kFoldScalar.sum, kFoldAvx2.sum, kFoldAvx512.sum}}};
  return k;
}

}  // namespace epochd::prover::tutorial
