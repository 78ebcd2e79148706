// Security accounting: the soundness error of every round of a proof, in bits, for a preset at the
// largest proof the verifier accepts. docs/soundness.md has the argument; the formulas are also in
// docs/protocol.md section 9. Two regimes:
//
//   unique decoding   what the presets claim: radius strictly below (1 - rho) / 2, so that a word
//                     farther away than that differs from every codeword in (1 - rho) D / 2 places
//                     or more;
//   Johnson           beside it, for comparison only: with many tables in one proof the LogUp error
//                     must be multiplied by the list size to the number of tables, which these
//                     figures do not do, so they claim nothing.
//
// No figure rests on a conjecture about radii up to capacity.
#pragma once

#include <string>
#include <vector>

#include "prover/air/interaction.hpp"
#include "prover/security/presets.hpp"
#include "prover/verify/layout.hpp"

namespace epochd::prover {

/// Constraints and interactions of one AIR, at most (prover/air/describe.hpp).
constexpr u32 kConstraintsMax = 400;
constexpr u32 kInteractionsMax = 64;

/// The largest proof; the defaults are the verifier's limits.
struct SecurityBounds {
  u32 log_height = kLogHeightMax;
  /// (column, point) pairs: the terms batched with delta.
  u32 openings = kOpeningsMax;
  /// Terms folded with alpha: constraints, and a LogUp constraint for each pair of interactions.
  u32 constraints = kTablesMax * (kConstraintsMax + kInteractionsMax / 2);
  /// log2 of the sum over interactions of rows times tuple width, in one proof: a K column, three
  /// openings, serves two interactions.
  double log_lookup_terms = 26 + 12 + 3;
  /// The same over all proofs that share one gamma, beta: the global proof's, up to 2^57 boundary
  /// rows with two tuples of four, and anchors (a test compares this with the machine's limits).
  double log_shared_lookup_terms = 57 + 3 + 0.01;
};

struct Row {
  std::string round;
  double unique_decoding_bits;
  double johnson_bits;
  bool is_round = true;  ///< false: not a verifier challenge, left out of the sum
};

/// One row a round. The Johnson column is for multiplicity `johnson_m`, or the one whose smallest
/// row is largest.
std::vector<Row> security_table(const Preset& preset, const SecurityBounds& bounds = {},
                                u32 johnson_m = 0);

struct SecurityTotal {
  double unique_decoding_bits;
  double johnson_bits;
};
/// The weakest row: what Fiat-Shamir security follows, round by round.
SecurityTotal minimum(const std::vector<Row>& rows);
/// -log2 of the sum of the rounds' errors: the interactive protocol's.
SecurityTotal sum(const std::vector<Row>& rows);

/// The table as text, with totals and the caveat of the Johnson column.
std::string render_security(const Preset& preset, const SecurityBounds& bounds = {});

}  // namespace epochd::prover
