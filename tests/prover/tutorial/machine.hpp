// The tutorial's statement and tables, from terms to a proof and back to a verdict. What
// epoch/continuation does for the real machine, in small.
#pragma once

#include <memory>
#include <vector>

#include "prover/prove/cpu/session.hpp"
#include "prover/prove/prove.hpp"
#include "prover/verify/verify.hpp"

namespace epochd::prover::tutorial {

struct Term {
  bool is_mul = true;
  bool is_negative = false;
  u8 a = 0;
  u8 b = 0;

  i64 value() const {
    const i64 v = is_mul ? i64{a} * b : i64{a} ^ b;
    return is_negative ? -v : v;
  }
};

/// Terms [0, first_instance) are rows of alu 1, the others of alu 2.
struct Witness {
  std::vector<Term> terms;
  size_t first_instance = 0;
};
/// `count` terms from a seed.
Witness random_witness(u64 seed, size_t count, size_t first_instance);

/// Order of the tables in a proof.
enum Table : u32 { kAlu1, kAlu2, kNibbles, kSum, kTableCount };
/// Base trees, in absorption order. `sum` has one of its own because trees of different heights are
/// worth showing; nothing needs it.
enum Tree : u32 { kFixedTree, kSumTree, kMainTree, kTreeCount };

constexpr u32 kLogNibbles = 8;

/// All that prover and verifier agree on before the first challenge.
struct Statement {
  const Preset* preset = nullptr;
  u64 term_count = 0;
  Fp total;
  u32 log_heights[kTableCount] = {};
};
/// The true statement about a witness; `sum` is at least 2^log_sum_min rows high.
Statement make_statement(const Preset& preset, const Witness& witness,
                         u32 log_sum_min = kLogHeightMin);
std::unique_ptr<Layout> make_layout(const Statement& statement);

/// The fixed columns of `nibbles`, committed: the prover's copy, of which the verifier has the
/// root.
std::shared_ptr<const FixedTree> make_nibbles(const CpuBackend& backend, u32 log_blowup);

/// Fills every table and counts the lookups. Pre: `witness` outlives the session.
void fill(CpuSession& session, const Witness& witness, std::shared_ptr<const FixedTree> nibbles);

/// Binds the statement and the base roots: everything said before gamma and beta.
Transcript begin(const Statement& statement, const Digest* roots);

/// A proof: the roots of the sum and main trees, then the argument.
template <ProverSession S>
std::vector<u64> prove(S& session, const Statement& statement, TranscriptObserver observer = {}) {
  Digest roots[kTreeCount];
  for (u32 t = 0; t < kTreeCount; ++t) roots[t] = session.commit(t);
  std::vector<u64> words;
  push_digest(words, roots[kSumTree]);
  push_digest(words, roots[kMainTree]);
  Transcript transcript = begin(statement, roots);
  transcript.observe(observer);
  const Challenges challenges = draw_lookup_challenges(transcript);
  prove_argument(session, transcript, challenges, words);
  return words;
}

/// Words of a proof before its argument.
constexpr size_t kRootWords = 8;

VerifyResult verify(const Statement& statement, const Digest& nibbles_root,
                    const std::vector<u64>& words, TranscriptObserver observer = {});

}  // namespace epochd::prover::tutorial
