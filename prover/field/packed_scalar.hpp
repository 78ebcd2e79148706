// The pack interface with one lane: the portable kernels, and the oracle for the SIMD packs. Every pack P has
//   P::kLanes, P::Isa (a tag), P::load(const Fp*), P::store(Fp*), P::broadcast(Fp), P() = 0, + - * unary -.
// Lanes are canonical after every operation.
#pragma once

#include "prover/field/fp3.hpp"

namespace epochd::prover {

struct PackedScalar {
  static constexpr u32 kLanes = 1;
  Fp v;

  static PackedScalar load(const Fp* p) { return {*p}; }
  static PackedScalar broadcast(Fp a) { return {a}; }
  void store(Fp* p) const { *p = v; }
  friend PackedScalar operator+(PackedScalar a, PackedScalar b) { return {a.v + b.v}; }
  friend PackedScalar operator-(PackedScalar a, PackedScalar b) { return {a.v - b.v}; }
  friend PackedScalar operator*(PackedScalar a, PackedScalar b) { return {a.v * b.v}; }
  PackedScalar operator-() const { return {-v}; }
};

}  // namespace epochd::prover
