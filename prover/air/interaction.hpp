// Interactions as data. A chip's bus sends and receives are linear in its columns, by rule, so
// `describe` lowers each once to sparse (slot, coefficient) lists; one generic kernel per backend
// then computes all LogUp columns, all of their constraints and all lookup counts, for every table.
// Freestanding.
//
// Slots number what a linear form may read: the fixed columns, then the main columns, then the
// table's parameters (verifier constants such as an epoch's label).
#pragma once

#include "prover/field/fp.hpp"

namespace epochd::prover {

struct LinearTerm {
  u16 slot;
  Fp coefficient;
};

/// constant + sum of coefficient * slot over terms[first_term, first_term + term_count).
struct LinearForm {
  u16 first_term;
  u16 term_count;
  Fp constant;
};

/// One bus access. forms[first_form] is the multiplicity, the next `arity` forms are the tuple.
struct Interaction {
  u8 bus;
  bool is_send;  ///< sends count +, receives -
  u8 arity;
  u16 first_form;
  const char* label;
};

constexpr u32 kArityMax = 8;

}  // namespace epochd::prover
