// The verifier's side of rounds 2 to 8 of docs/protocol.md. Freestanding and allocation-free: the
// caller gives the scratch memory, and no length is ever read from the proof: every count follows
// from the layout and the query indices. It never throws, aborts or reads outside the words it is
// given, whatever they are.
#pragma once

#include "prover/hash/digest.hpp"
#include "prover/transcript/transcript.hpp"
#include "prover/verify/layout.hpp"

namespace epochd::prover {

enum class VerifyError : u32 {
  kNone,
  kTruncated,        ///< fewer words than the layout asks for
  kTrailing,         ///< more
  kNotCanonical,     ///< a field element >= p
  kGrinding,         ///< the nonce does not meet the preset's difficulty
  kLookupSum,        ///< the buses do not balance
  kQuotient,         ///< a quotient identity fails at zeta; detail: log height
  kFriLayer,         ///< an opened value differs from what the round before implies; detail: layer
  kFriFinal,         ///< a folded value differs from the final polynomial
  kMerkleBase,       ///< opened rows do not hash to a root; detail: tree
  kMerkleFri,        ///< detail: layer
  kZeroDenominator,  ///< a public bus term has a vanishing fingerprint
};
const char* describe(VerifyError error);

struct VerifyResult {
  VerifyError error = VerifyError::kNone;
  u32 detail = 0;
  bool ok() const { return error == VerifyError::kNone; }
};

/// Working memory of one verification; a megabyte, contents meaningless between calls.
struct VerifyScratch {
  u32 queries[kQueriesMax];
  u32 query_count;
  u32 indices[kQueriesMax];
  Fp3 delta_powers[kOpeningsMax];
  Fp3 combined[kHeightsMax][kQueriesMax][2];  ///< sum of delta^j f_j at an opened row, by point
  Digest row_digests[kHeightsMax][kQueriesMax];
  Fp3 word[kQueriesMax];  ///< the FRI word at `word_index`
  u32 word_index[kQueriesMax];
  u32 word_count;
};

struct ArgumentInput {
  const Layout* layout;
  const u64* words;  ///< the argument as prove_argument wrote it
  size_t word_count;
  const Digest* base_roots;  ///< [base_tree_count], already absorbed by the caller
  Fp3 gamma, beta;
  const Fp3*
      public_sum;  ///< the verifier's own bus terms: sums + this must be 0; null: caller checks
};

/// Continues `transcript` (gamma, beta just drawn). `sum` receives the tables' total.
[[nodiscard]] VerifyResult verify_argument(const ArgumentInput& input, Transcript transcript,
                                           VerifyScratch& scratch, Fp3& sum);

}  // namespace epochd::prover
