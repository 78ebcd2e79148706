// A prover written a second time, for tests: polynomials are coefficient vectors, everything is
// evaluated by Horner's rule and interpolated by the definition, and `eval` runs row by row over
// plain field elements. It shares the layout, the hash tree and the field with the CPU backend, and
// none of its kernels. As a ProverSession it must give the same proofs, byte for byte.
//
// All state is open, and `tamper` is called between the steps: a test becomes a cheating prover
// that otherwise follows the protocol, Fiat-Shamir included.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "prover/air/context.hpp"
#include "prover/pcs/merkle.hpp"
#include "prover/prove/backend.hpp"

namespace epochd::prover::oracle {

using Column = std::vector<Fp>;  ///< values in natural order, or coefficients

struct Access {
  u8 bus;
  bool is_send;
  Fp3 multiplicity;
  std::vector<Fp3> tuple;
};

/// What an AIR says at one point: its constraints' values and its accesses.
struct Evaluation {
  std::vector<Fp3> constraints;
  std::vector<Access> accesses;
};
using EvaluateAir = Evaluation (*)(const Fp3* fixed, const Fp3* main, const Fp* params);

struct EvaluationContext : ContextMixin<EvaluationContext> {
  using Value = Fp3;
  const Fp3* fixed_values;
  const Fp3* main_values;
  const Fp* params;
  Evaluation out;

  EvaluationContext(const Fp3* f, const Fp3* m, const Fp* p)
      : fixed_values(f), main_values(m), params(p) {}
  Fp3 fixed(u32 i) const { return fixed_values[i]; }
  Fp3 local(u32 i) const { return main_values[i]; }
  Fp3 param(u32 i) const { return fp3(params[i]); }
  Fp3 constant(u64 v) const { return fp3(Fp::from_u64(v)); }
  void assert_zero(const Fp3& v, const char*) { out.constraints.push_back(v); }
  template <class... T>
  void interact(u8 bus, bool is_send, const char*, const Fp3& multiplicity, const T&... tuple) {
    out.accesses.push_back({bus, is_send, multiplicity, {tuple...}});
  }
};

template <class A>
Evaluation evaluate_air(const Fp3* fixed, const Fp3* main, const Fp* params) {
  EvaluationContext c(fixed, main, params);
  A::eval(c);
  return c.out;
}

/// f(x) by Horner's rule.
Fp evaluate(const Column& coefficients, Fp x);
Fp3 evaluate(const Column& coefficients, Fp3 x);
Fp3 evaluate(const std::vector<Fp3>& coefficients, Fp3 x);
/// Coefficients of the polynomial with these values at shift * g^i, g of order values.size().
Column interpolate(const Column& values, Fp shift);
std::vector<Fp3> interpolate(const std::vector<Fp3>& values, Fp shift);
u64 reverse_index(u64 i, u32 bits);

enum class Stage { kCommit, kLogup, kQuotient, kOpen, kDeep, kFriCommit, kFold, kFinal, kGrind };

/// Which part of a proof some words are, for tests that corrupt it.
enum class Region { kRows, kSiblings, kFriRows, kFriSiblings };
struct RegionSpan {
  Region region;
  u32 index;  ///< tree or FRI step
  size_t begin, end;
};

class OracleSession {
 public:
  /// traces[t]: fixed, then main columns of table t on H.
  OracleSession(const Layout& layout, std::vector<EvaluateAir> airs,
                const std::vector<std::vector<Column>>& traces);

  const Layout& layout() const { return *layout_; }
  Digest commit(u32 tree);
  void logup(Fp3 gamma, Fp3 beta, std::span<Fp3> out);
  void quotient(Fp3 alpha);
  void open(Fp3 zeta, std::span<Fp3> out);
  void deep(Fp3 delta);
  Digest fri_commit();
  void fri_fold(Fp3 beta);
  void fri_final(std::span<Fp3> out);
  u64 grind(const Digest& state, u32 bits);
  void gather(std::span<const u32> queries, std::vector<u64>& words);

  /// Called after a step has its result and before it is handed on; `index` is the tree or layer.
  std::function<void(OracleSession&, Stage, u32 index)> tamper;

  std::vector<std::vector<Column>> traces;               ///< by table: fixed, main
  std::vector<std::vector<Column>> coefficients;         ///< by segment and column; any degree
  std::vector<std::vector<Column>> ldes;                 ///< by segment and column, bit-reversed
  std::vector<std::shared_ptr<const MerkleTree>> trees;  ///< shared by copies
  std::vector<Fp3> sums;
  std::vector<Fp3> openings;
  std::vector<Fp3> word;  ///< R, then each folded word; bit-reversed on the plain subgroup
  std::vector<std::vector<Fp3>> layers;
  std::vector<std::shared_ptr<const MerkleTree>> layer_trees;
  std::vector<Fp3> final_coefficients;
  Digest root{};  ///< about to be returned by commit or fri_commit
  u64 nonce = 0;
  Digest grind_state{};             ///< what the nonce is judged by
  std::vector<RegionSpan> regions;  ///< of the last gather
  std::vector<bool> is_built;       ///< trees that commit need not build again

  Fp3 gamma{}, beta{}, alpha{}, zeta{}, delta{};  ///< as they were given

  /// The folded constraints of a height at x, with the L's in `sums`.
  Fp3 folded_height(u32 height_index, Fp3 x) const;
  /// Whether they are the quotient times x^N - 1.
  bool quotient_identity_holds(u32 height_index, Fp3 x) const;

 private:
  void notify(Stage stage, u32 index = 0) {
    if (tamper) tamper(*this, stage, index);
  }
  void build(u32 tree);
  void logup_table(u32 table);
  void quotient_height(u32 height_index);
  template <class Point>
  Fp3 folded_constraints(u32 table, Point x, Fp3& power) const;

  const Layout* layout_;
  std::vector<EvaluateAir> airs_;
};
static_assert(ProverSession<OracleSession>);

}  // namespace epochd::prover::oracle
