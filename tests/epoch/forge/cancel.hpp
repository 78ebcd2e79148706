// Multiplicities of range16 from a forger who knows gamma and beta: all buses together sum up to
// nothing, whatever is wrong.
#pragma once

#include "epoch/chips/airs.hpp"
#include "epoch/chips/range16/air.hpp"
#include "tests/epoch/forge/attack.hpp"

namespace epochd::testing {

inline prover::Fp3 fingerprint(const prover::Challenges& c, const std::vector<u64>& tuple) {
  prover::Fp3 f = c.gamma + fp(tuple[0]);
  prover::Fp3 power = c.beta;
  for (size_t i = 1; i < tuple.size(); ++i, power *= c.beta) f += power * fp(tuple[i]);
  return f;
}

/// d with d0 g0 + d1 g1 + d2 g2 = target, over F: three equations, one a coordinate of K.
inline std::array<Fp, 3> solve(const std::array<prover::Fp3, 3>& g, const prover::Fp3& target) {
  Fp m[3][4];
  for (u32 j = 0; j < 3; ++j) {
    m[0][j] = g[j].c0;
    m[1][j] = g[j].c1;
    m[2][j] = g[j].c2;
  }
  m[0][3] = target.c0;
  m[1][3] = target.c1;
  m[2][3] = target.c2;
  for (u32 pivot = 0; pivot < 3; ++pivot) {
    u32 row = pivot;
    while (m[row][pivot].is_zero()) ++row;
    std::swap(m[row], m[pivot]);
    const Fp inverse = m[pivot][pivot].inverse();
    for (Fp& v : m[pivot]) v *= inverse;
    for (u32 r = 0; r < 3; ++r) {
      const Fp factor = m[r][pivot];
      for (u32 c = 0; c < 4 && r != pivot; ++c) m[r][c] -= factor * m[pivot][c];
    }
  }
  return {m[0][3], m[1][3], m[2][3]};
}

/// Gives three rows of the session's range16 the multiplicities that pay for what is unbalanced.
inline void cancel(const prover::BusBalance& unbalanced, const prover::Challenges& c,
                   prover::CpuSession& session) {
  ASSERT_FALSE(unbalanced.empty());
  prover::Fp3 total{};
  for (const auto& [tuple, net] : unbalanced) {
    total += prover::inverse(fingerprint(c, tuple)) * net;
  }
  const u64 bus = static_cast<u64>(Bus::kRange16);
  const u64 rows[3] = {1000, 2000, 3000};
  std::array<prover::Fp3, 3> unit;
  for (u32 i = 0; i < 3; ++i) unit[i] = prover::inverse(fingerprint(c, {bus, rows[i]}));
  const std::array<Fp, 3> more = solve(unit, total);
  const prover::Layout& layout = session.layout();
  for (u32 t = 0; t < layout.shape.table_count; ++t) {
    if (layout.shape.tables[t].air != chips::find_air(ChipId::kRange16)) continue;
    Fp* counts = session.mutable_main_trace(t) + (size_t{chips::Range16Air::kRangeCount} << 16);
    for (u32 i = 0; i < 3; ++i) counts[rows[i]] += more[i];
  }
}

}  // namespace epochd::testing
