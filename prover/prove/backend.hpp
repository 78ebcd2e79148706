// The Backend concept: what `prove_argument` (prover/prove/prove.hpp) asks of a session, once its
// base trees are committed. CPU and CUDA sessions return bit-identical results: every stored
// element is canonical and grinding returns the smallest nonce. Handles stay inside the session;
// only operations that return values synchronise.
#pragma once

#include <concepts>
#include <span>
#include <vector>

#include "prover/field/fp3.hpp"
#include "prover/hash/digest.hpp"
#include "prover/verify/layout.hpp"

namespace epochd::prover {

template <class S>
concept ProverSession = requires(S s, u32 tree, Fp3 x, std::span<Fp3> values, const Digest& digest,
                                 std::span<const u32> indices, std::vector<u64>& words) {
  { s.layout() } -> std::same_as<const Layout&>;
  /// LDE and Merkle tree of one tree's columns; the columns must be there (filled, or made by a
  /// stage).
  { s.commit(tree) } -> std::same_as<Digest>;
  /// LogUp columns from gamma, beta; values[t] = L of table t.
  { s.logup(x, x, values) } -> std::same_as<void>;
  /// Quotient parts of every height from alpha.
  { s.quotient(x) } -> std::same_as<void>;
  /// Every opening at zeta (and zeta * g), in Layout order.
  { s.open(x, values) } -> std::same_as<void>;
  /// R, lifted to the tallest domain, from delta and the openings given to `open`.
  { s.deep(x) } -> std::same_as<void>;
  /// Commits the current FRI word, folds it by the step's arity, and gives the last word's
  /// coefficients.
  { s.fri_commit() } -> std::same_as<Digest>;
  { s.fri_fold(x) } -> std::same_as<void>;
  { s.fri_final(values) } -> std::same_as<void>;
  { s.grind(digest, tree) } -> std::same_as<u64>;
  /// Appends the opened rows and sibling digests of all trees, then of all FRI layers.
  { s.gather(indices, words) } -> std::same_as<void>;
};

}  // namespace epochd::prover
