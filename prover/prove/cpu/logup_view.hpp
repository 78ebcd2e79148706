// A table's interactions as the CPU kernels read them: the lowered form of logup_eval.hpp, its
// weights prepared for sums of products, and what is simple about its multiplicities said once a
// proof instead of found out on every row.
#pragma once

#include <vector>

#include "prover/air/logup_eval.hpp"
#include "prover/field/split_factor.hpp"
#include "prover/prove/lowered_table.hpp"

namespace epochd::prover::cpu {

/// Pairs of interactions a table may have on the CPU: bounds the kernels' scratch.
constexpr u32 kLogupPairsMax = 24;

enum class Multiplicity : u8 { kForm, kColumn, kMinusColumn };
/// How the second multiplicity of a pair relates to the first.
enum class PairKind : u8 { kIndependent, kEqual, kOpposite };

/// Multiplication by a constant c of K, w^3 = 2 worked in: row i of c's matrix gives component i.
struct SplitProduct {
  SplitFactor c0, c1, c2, twice_c1, twice_c2;

  SplitProduct() = default;
  EPOCHD_HD_INLINE explicit SplitProduct(const Fp3& c)
      : c0(c.c0), c1(c.c1), c2(c.c2), twice_c1(c.c1 + c.c1), twice_c2(c.c2 + c.c2) {}
};

/// Plain pointers: kernels of every instruction set read it.
struct LogupView {
  LogupTable table;
  const SplitFactor3* weights;         ///< as table.weights
  const Multiplicity* multiplicities;  ///< by access; kColumn: the one column of its form
  const PairKind* pairs;
  u32 column_count;
};

class PreparedLogup {
 public:
  PreparedLogup(LoweredTable lowered, u32 column_count);
  LogupView view() const {
    return {lowered_.view(), weights_.data(), multiplicities_.data(), pairs_.data(), column_count_};
  }

 private:
  LoweredTable lowered_;
  std::vector<SplitFactor3> weights_;
  std::vector<Multiplicity> multiplicities_;
  std::vector<PairKind> pairs_;
  u32 column_count_;
};

/// The LogUp constraints of one table on its LDE.
struct LogupFold {
  LogupView view;
  TableColumns columns;  ///< on the LDE
  const Fp* aux;         ///< aux K columns, [3 * pair_count] of `aux_stride`
  size_t aux_stride;
  u32 log_half;                ///< rows [k * 2^log_half, ...) are cosets of H, bit-reversed
  Fp3 sum_over_height;         ///< L / N
  const SplitProduct* alphas;  ///< [pair_count]
};

}  // namespace epochd::prover::cpu
