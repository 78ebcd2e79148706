// Where one table's columns lie: the fixed ones and the main ones, each set back to back.
#pragma once

#include "prover/field/fp.hpp"

namespace epochd::prover {

struct TableColumns {
  const Fp* fixed;  ///< null where there are none
  const Fp* main;
  size_t stride;  ///< from one column to the next, in both sets
  u32 fixed_width;

  /// Columns are numbered fixed then main.
  EPOCHD_HD_INLINE const Fp* column(u32 i) const {
    return i < fixed_width ? fixed + i * stride : main + (i - fixed_width) * stride;
  }
};

}  // namespace epochd::prover
