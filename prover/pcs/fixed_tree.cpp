#include "prover/pcs/fixed_tree.hpp"

#include <algorithm>
#include <bit>

#include "prover/pcs/ntt.hpp"

namespace epochd::prover {

void Matrix::fill_zero() {
  std::fill_n(data.data(), data.size(), Fp::zero());
}

Matrix extend(Isa isa, const Matrix& trace, u32 log_blowup, const Parallel& pool) {
  Matrix lde(trace.width, trace.rows << log_blowup);
  coset_lde(isa, trace.data.data(), trace.rows, lde.data.data(), lde.rows, trace.width,
            static_cast<u32>(std::countr_zero(trace.rows)), log_blowup, pool);
  return lde;
}

FixedTree FixedTree::build(Isa isa, std::vector<Matrix> traces, u32 log_blowup,
                           const Parallel& pool) {
  FixedTree fixed;
  std::vector<HeightColumns> groups;
  for (const Matrix& trace : traces) {
    fixed.ldes.push_back(extend(isa, trace, log_blowup, pool));
    const Matrix& lde = fixed.ldes.back();
    const u32 log_rows = static_cast<u32>(std::countr_zero(lde.rows));
    if (groups.empty() || groups.back().log_rows != log_rows) groups.push_back({log_rows, {}});
    for (u32 c = 0; c < lde.width; ++c) groups.back().columns.push_back(lde.column(c));
  }
  fixed.traces = std::move(traces);
  fixed.tree = MerkleTree::build(isa, groups, pool);
  return fixed;
}

}  // namespace epochd::prover
