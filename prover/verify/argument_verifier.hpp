// The steps of verify_argument, in the order they run. Internal to prover/verify.
#pragma once

#include "prover/pcs/merkle_verify.hpp"
#include "prover/verify/verify.hpp"

namespace epochd::prover {

/// Fixed, main and parameter slots of the widest table the verifier accepts.
constexpr u32 kSlotsMax = 160;

class ArgumentVerifier {
 public:
  ArgumentVerifier(const ArgumentInput& in, Transcript transcript, VerifyScratch& scratch)
      : in_(in), layout_(*in.layout), transcript_(transcript), s_(scratch) {}

  /// Roots, sums, openings, final coefficients, nonce: lengths and canonical encoding.
  VerifyResult read_fixed_part();
  /// Draws every challenge; checks the grinding; draws the queries.
  VerifyResult replay_transcript();
  /// Locates opened rows and siblings; lengths must match to the word.
  VerifyResult read_query_part();
  VerifyResult check_sums(Fp3& sum) const;
  VerifyResult check_quotients() const;
  /// DEEP at every opened row, every fold at every layer, and the final polynomial.
  VerifyResult check_fri();
  VerifyResult check_merkle();

 private:
  struct Span {
    const u64* words;
    size_t count;
  };

  static bool canonical(const u64* words, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      if (!Fp::is_canonical(words[i])) return false;
    }
    return true;
  }
  static Fp3 element(const u64* words, size_t i) {
    return {Fp::from_canonical(words[3 * i]), Fp::from_canonical(words[3 * i + 1]),
            Fp::from_canonical(words[3 * i + 2])};
  }
  static u32 sort_unique(u32* values, u32 count);
  static Fp3 form_at(const AirInfo& air, const LinearForm& form, const Fp3* slots);

  /// Digests an opening of these leaves needs besides them; overwrites `indices`.
  static size_t sibling_count(u32* indices, u32 count, u32 log_leaves);
  static void hash_rows(const Span& rows, u32 width, Digest* out);
  bool opening_ok(u32 log_leaves, const MerkleJoin* joins, u32 join_count, const Span& siblings,
                  const Digest& expected);

  /// s_.indices = queries >> shift, each once; returns how many.
  u32 shifted(u32 shift);
  bool take_rows(Span& out, size_t words);
  bool take_siblings(Span& out, u32 shift, u32 log_leaves);
  Fp3 cubic_opening(const Segment& s, u32 column, u32 point) const;
  void fold_table(u32 table, Fp3& folded, Fp3& alpha_power) const;
  void pair_fraction(const AirInfo& air, u32 pair, const Fp3* slots, Fp3& numerator,
                     Fp3& denominator) const;
  void combine_rows();
  void deep_word();
  VerifyResult fold_layer(u32 step, u32 log_word);
  VerifyResult check_final(u32 log_word) const;

  const ArgumentInput& in_;
  const Layout& layout_;
  Transcript transcript_;
  VerifyScratch& s_;
  size_t cursor_ = 0;
  VerifyResult bad_;
  const u64* logup_root_ = nullptr;
  const u64* sums_ = nullptr;
  const u64* quotient_root_ = nullptr;
  const u64* openings_ = nullptr;
  const u64* fri_roots_ = nullptr;
  const u64* final_ = nullptr;
  u64 nonce_ = 0;
  Fp3 alpha_, zeta_, delta_;
  Fp3 fri_beta_[kFriStepsMax];
  Span group_rows_[kGroupsMax] = {};
  Span tree_siblings_[kTreesMax] = {};
  Span fri_rows_[kFriStepsMax] = {};
  Span fri_siblings_[kFriStepsMax] = {};
};

}  // namespace epochd::prover
