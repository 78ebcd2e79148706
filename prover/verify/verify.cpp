#include "prover/verify/verify.hpp"

#include "prover/verify/argument_verifier.hpp"

namespace epochd::prover {

const char* describe(VerifyError error) {
  switch (error) {
    case VerifyError::kNone:
      return "valid";
    case VerifyError::kTruncated:
      return "the proof is truncated";
    case VerifyError::kTrailing:
      return "the proof has trailing data";
    case VerifyError::kNotCanonical:
      return "a field element is not canonical";
    case VerifyError::kGrinding:
      return "the proof-of-work nonce is wrong";
    case VerifyError::kLookupSum:
      return "the buses do not balance";
    case VerifyError::kQuotient:
      return "the quotient identity fails";
    case VerifyError::kFriLayer:
      return "an opened value contradicts the layer before";
    case VerifyError::kFriFinal:
      return "a folded value contradicts the final polynomial";
    case VerifyError::kMerkleBase:
      return "opened rows do not match their commitment";
    case VerifyError::kMerkleFri:
      return "opened FRI leaves do not match their commitment";
    case VerifyError::kZeroDenominator:
      return "a public bus term has a zero denominator";
  }
  return "unknown error";
}

VerifyResult verify_argument(const ArgumentInput& input, Transcript transcript,
                             VerifyScratch& scratch, Fp3& sum) {
  ArgumentVerifier v(input, transcript, scratch);
  VerifyResult r = v.read_fixed_part();
  if (r.ok()) r = v.replay_transcript();
  if (r.ok()) r = v.read_query_part();
  if (r.ok()) r = v.check_sums(sum);
  if (r.ok()) r = v.check_quotients();
  if (r.ok()) r = v.check_fri();
  if (r.ok()) r = v.check_merkle();
  return r;
}

VerifyResult ArgumentVerifier::read_fixed_part() {
  const auto take = [&](size_t count) {
    const u64* p = in_.words + cursor_;
    cursor_ += count;
    return p;
  };
  const size_t final_count = size_t{1} << layout_.fri_final_log;
  const size_t need = 4 + 3 * size_t{layout_.shape.table_count} + 4 +
                      3 * size_t{layout_.opening_count} + 4 * size_t{layout_.fri_step_count} +
                      3 * final_count + 1;
  if (in_.word_count < need) return {VerifyError::kTruncated, 0};
  logup_root_ = take(4);
  sums_ = take(3 * layout_.shape.table_count);
  quotient_root_ = take(4);
  openings_ = take(3 * layout_.opening_count);
  fri_roots_ = take(4 * layout_.fri_step_count);
  final_ = take(3 * final_count);
  nonce_ = *take(1);
  if (!canonical(sums_, 3 * layout_.shape.table_count) ||
      !canonical(openings_, 3 * layout_.opening_count) || !canonical(final_, 3 * final_count)) {
    return {VerifyError::kNotCanonical, 0};
  }
  return {};
}

VerifyResult ArgumentVerifier::replay_transcript() {
  const auto absorb_k = [&](const char* label, const u64* words, size_t count) {
    transcript_.absorb_words(label, words, 3 * count);
  };
  transcript_.absorb_words("lookup/root", logup_root_, 4);
  absorb_k("lookup/sums", sums_, layout_.shape.table_count);
  alpha_ = transcript_.draw("quotient/alpha");
  transcript_.absorb_words("quotient/root", quotient_root_, 4);
  zeta_ = transcript_.draw("quotient/zeta");
  while (is_base(zeta_)) zeta_ = transcript_.draw("quotient/zeta");
  absorb_k("openings", openings_, layout_.opening_count);
  delta_ = transcript_.draw("deep/delta");
  for (u32 s = 0; s < layout_.fri_step_count; ++s) {
    transcript_.absorb_words("fri/layer", fri_roots_ + 4 * s, 4);
    fri_beta_[s] = transcript_.draw("fri/beta");
  }
  absorb_k("fri/final", final_, size_t{1} << layout_.fri_final_log);
  const Preset& preset = *layout_.shape.preset;
  if (!Transcript::grind_ok(transcript_.state(), nonce_, preset.grinding_bits)) {
    return {VerifyError::kGrinding, 0};
  }
  transcript_.absorb_words("grind", &nonce_, 1);
  transcript_.draw_indices("queries", layout_.log_domain(), s_.queries, preset.query_count);
  s_.query_count = sort_unique(s_.queries, preset.query_count);
  return {};
}

VerifyResult ArgumentVerifier::read_query_part() {
  const u32 log_domain = layout_.log_domain();
  const u32 log_blowup = layout_.shape.preset->log_blowup;
  for (u32 tree = 0; tree < layout_.tree_count; ++tree) {
    const TreeLayout& t = layout_.trees[tree];
    for (u32 g = t.first_group; g < t.first_group + t.group_count; ++g) {
      const HeightGroup& group = layout_.groups[g];
      const u32 count = shifted(log_domain - log_blowup - group.log_height);
      if (!take_rows(group_rows_[g], count * size_t{group.width})) return bad_;
    }
    const u32 log_leaves = t.log_height + log_blowup;
    if (!take_siblings(tree_siblings_[tree], log_domain - log_leaves, log_leaves)) return bad_;
  }
  u32 shift = 0;
  for (u32 s = 0; s < layout_.fri_step_count; ++s) {
    shift += layout_.fri_steps[s];
    const u32 count = shifted(shift);
    if (!take_rows(fri_rows_[s], count * (size_t{3} << layout_.fri_steps[s]))) return bad_;
    if (!take_siblings(fri_siblings_[s], shift, log_domain - shift)) return bad_;
  }
  if (cursor_ != in_.word_count) return {VerifyError::kTrailing, 0};
  return {};
}

bool ArgumentVerifier::take_rows(Span& out, size_t words) {
  if (in_.word_count - cursor_ < words) {
    bad_ = {VerifyError::kTruncated, 0};
    return false;
  }
  out = {in_.words + cursor_, words};
  cursor_ += words;
  if (!canonical(out.words, words)) {
    bad_ = {VerifyError::kNotCanonical, 0};
    return false;
  }
  return true;
}

bool ArgumentVerifier::take_siblings(Span& out, u32 shift, u32 log_leaves) {
  const u32 count = shifted(shift);
  const size_t words = 4 * sibling_count(s_.indices, count, log_leaves);
  if (in_.word_count - cursor_ < words) {
    bad_ = {VerifyError::kTruncated, 0};
    return false;
  }
  out = {in_.words + cursor_, words};
  cursor_ += words;
  return true;
}

VerifyResult ArgumentVerifier::check_sums(Fp3& sum) const {
  sum = fp3_zero();
  for (u32 t = 0; t < layout_.shape.table_count; ++t) {
    const Fp3 l = element(sums_, t);
    if (layout_.logup_segment[t] == kNone && !is_zero(l)) return {VerifyError::kLookupSum, t};
    sum += l;
  }
  if (in_.public_sum != nullptr && !is_zero(sum + *in_.public_sum)) {
    return {VerifyError::kLookupSum, kNone};
  }
  return {};
}

// --- the quotient identity ---------------------------------------------------------------------

VerifyResult ArgumentVerifier::check_quotients() const {
  for (u32 h = 0; h < layout_.height_count; ++h) {
    const u32 log_height = layout_.heights[h];
    Fp3 folded = fp3_zero();
    Fp3 alpha_power = fp3_one();
    for (u32 t = 0; t < layout_.shape.table_count; ++t) {
      if (layout_.shape.tables[t].log_height == log_height) fold_table(t, folded, alpha_power);
    }
    const Segment& q = layout_.segments[layout_.quotient_segment[h]];
    const Fp3 zeta_n = pow(zeta_, u64{1} << log_height);
    const Fp3 parts = cubic_opening(q, 0, 0) + zeta_n * cubic_opening(q, 3, 0);
    if (folded != (zeta_n - Fp::one()) * parts) return {VerifyError::kQuotient, log_height};
  }
  return {};
}

Fp3 ArgumentVerifier::cubic_opening(const Segment& s, u32 column, u32 point) const {
  const Fp3 w{Fp::zero(), Fp::one(), Fp::zero()};
  const Fp3 c0 = element(openings_, s.opening(column, point));
  const Fp3 c1 = element(openings_, s.opening(column + 1, point));
  const Fp3 c2 = element(openings_, s.opening(column + 2, point));
  return c0 + w * (c1 + w * c2);
}

void ArgumentVerifier::fold_table(u32 table, Fp3& folded, Fp3& alpha_power) const {
  const TableShape& shape = layout_.shape.tables[table];
  const AirInfo& air = *shape.air;
  Fp3 values[kSlotsMax];
  u32 slot = 0;
  const u32 segments[2] = {layout_.fixed_segment[table], layout_.main_segment[table]};
  for (const u32 s : segments) {
    if (s == kNone) continue;
    const Segment& segment = layout_.segments[s];
    for (u32 c = 0; c < segment.width; ++c) {
      values[slot++] = element(openings_, segment.opening(c, 0));
    }
  }
  for (u32 p = 0; p < air.param_count; ++p) values[slot + p] = fp3(shape.params[p]);
  folded += air.fold_at_point(values, values + air.fixed_width, shape.params, alpha_, alpha_power);
  if (layout_.logup_segment[table] == kNone) return;
  const Segment& aux = layout_.segments[layout_.logup_segment[table]];
  const u32 pairs = air.aux_columns();
  Fp3 others = fp3_zero();
  for (u32 j = 0; j < pairs; ++j) {
    Fp3 numerator;
    Fp3 denominator;
    pair_fraction(air, j, values, numerator, denominator);
    Fp3 left;
    if (j + 1 < pairs) {
      left = cubic_opening(aux, 3 * j, 0);
      others += left;
    } else {
      const Fp3 mean = element(sums_, table) * Fp::from_u64(u64{1} << shape.log_height).inverse();
      left = cubic_opening(aux, 3 * j, 1) - cubic_opening(aux, 3 * j, 0) + mean - others;
    }
    folded += (left * denominator - numerator) * alpha_power;
    alpha_power *= alpha_;
  }
}

Fp3 ArgumentVerifier::form_at(const AirInfo& air, const LinearForm& form, const Fp3* slots) {
  Fp3 v = fp3(form.constant);
  for (u32 t = form.first_term; t < u32{form.first_term} + form.term_count; ++t) {
    v += slots[air.terms[t].slot] * air.terms[t].coefficient;
  }
  return v;
}

void ArgumentVerifier::pair_fraction(const AirInfo& air, u32 pair, const Fp3* slots, Fp3& numerator,
                                     Fp3& denominator) const {
  numerator = fp3_zero();
  denominator = fp3_one();
  for (u32 i = 2 * pair; i < 2 * pair + 2 && i < air.interaction_count; ++i) {
    const Interaction& interaction = air.interactions[i];
    const LinearForm* forms = air.forms + interaction.first_form;
    const Fp3 m = form_at(air, forms[0], slots);
    Fp3 f = in_.gamma + Fp::from_u64(interaction.bus);
    Fp3 power = in_.beta;
    for (u32 k = 1; k <= interaction.arity; ++k, power *= in_.beta) {
      f += power * form_at(air, forms[k], slots);
    }
    numerator = numerator * f + denominator * (interaction.is_send ? m : -m);
    denominator *= f;
  }
}

}  // namespace epochd::prover
