// Matrices of columns, and trees of columns the verifier knows: trace, LDE and Merkle tree of fixed
// columns, built once per program and shared by all proofs of it. Used by setup and by the CPU
// prover.
#pragma once

#include <vector>

#include "prover/core/aligned_buffer.hpp"
#include "prover/core/cpu_features.hpp"
#include "prover/core/parallel.hpp"
#include "prover/pcs/merkle.hpp"

namespace epochd::prover {

/// `width` columns of `rows` elements, `stride` apart; contents uninitialised.
struct Matrix {
  AlignedBuffer<Fp> data;
  size_t rows = 0;
  size_t stride = 0;
  u32 width = 0;

  Matrix() = default;
  Matrix(u32 w, size_t r) : data(w * r), rows(r), stride(r), width(w) {}
  /// In memory of someone else, w * column_stride elements, who outlives this.
  Matrix(u32 w, size_t r, Fp* memory, size_t column_stride)
      : data(AlignedBuffer<Fp>::borrowed(memory, w * column_stride)),
        rows(r),
        stride(column_stride),
        width(w) {}
  Fp* column(u32 c) { return data.data() + c * stride; }
  const Fp* column(u32 c) const { return data.data() + c * stride; }
  void fill_zero();
};

/// The LDE of every column: 2^log_blowup times the rows, on 7 * H', bit-reversed.
Matrix extend(Isa isa, const Matrix& trace, u32 log_blowup, const Parallel& pool);

/// Matrices stand in the order of the tree's segments: heights descending, then table order.
struct FixedTree {
  std::vector<Matrix> traces;
  std::vector<Matrix> ldes;
  MerkleTree tree;

  static FixedTree build(Isa isa, std::vector<Matrix> traces, u32 log_blowup, const Parallel& pool);
};

}  // namespace epochd::prover
