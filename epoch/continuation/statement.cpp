#include "epoch/continuation/statement.hpp"

namespace epochd {
namespace {

using prover::Fp;
using prover::Fp3;

/// Every field of the parameter set: two sets that differ anywhere give different transcripts.
void absorb_params(prover::Transcript& t, const RunParams& params, const prover::Digest& program) {
  const prover::Preset& p = *params.preset;
  const u64 words[] = {kFormatVersion,
                       prover::kHashIdBlake3,
                       p.id,
                       p.log_blowup,
                       p.query_count,
                       p.grinding_bits,
                       p.log_fold,
                       p.log_final,
                       p.instance_limit,
                       p.group_size,
                       p.log_anchor_chunk,
                       p.area_per_cycle,
                       params.epoch_size_log2};
  t.absorb_words("parameters", words, sizeof words / sizeof words[0]);
  t.absorb_digest("program", program);
}

/// multiplicity / (gamma + bus + sum beta^i v_i) added to a sum.
class PublicSum {
 public:
  PublicSum(Fp3 gamma, Fp3 beta) : gamma_(gamma), beta_(beta) {}

  void add(Bus bus, bool is_send, const u64* values, u32 count) {
    Fp3 f = gamma_ + Fp::from_u64(static_cast<u64>(bus));
    Fp3 power = beta_;
    for (u32 i = 0; i < count; ++i, power *= beta_) f += power * Fp::from_u64(values[i]);
    if (is_zero(f)) vanished_ = true;
    const Fp3 term = inverse(f);
    sum_ += is_send ? term : -term;
  }
  bool finish(Fp3& sum) const {
    sum = sum_;
    return !vanished_;
  }

 private:
  Fp3 gamma_, beta_;
  Fp3 sum_{};
  bool vanished_ = false;
};

}  // namespace

u32 statement_words(const EpochStatement& s, u64* out) {
  u32 n = 0;
  out[n++] = s.pc_in;
  out[n++] = s.pc_out;
  out[n++] = s.cycles;
  out[n++] = s.out_in;
  out[n++] = s.output_count;
  out[n++] = s.exit_code;
  out[n++] = s.table_count;
  for (u32 i = 0; i < s.table_count; ++i) {
    out[n++] = static_cast<u64>(s.tables[i].chip) | u64{s.tables[i].log_height} << 8;
  }
  return n;
}

prover::Transcript epoch_transcript(const RunParams& params, const prover::Digest& program,
                                    const EpochStatement& s, const prover::Digest* base_roots) {
  prover::Transcript t("epochd", kFormatVersion, "epoch");
  absorb_params(t, params, program);
  const u64 position[2] = {s.label, s.is_final ? 1u : 0u};
  t.absorb_words("position", position, 2);
  u64 words[kStatementWordsMax];
  t.absorb_words("statement", words, statement_words(s, words));
  t.absorb_words("outputs", s.outputs, s.output_count);
  t.absorb_digest("fixed root", base_roots[kEpochFixedTree]);
  t.absorb_digest("boundary root", base_roots[kEpochBoundaryTree]);
  t.absorb_digest("main root", base_roots[kEpochMainTree]);
  return t;
}

bool epoch_public_sum(const EpochStatement& s, Fp3 gamma, Fp3 beta, Fp3& sum) {
  PublicSum p(gamma, beta);
  const u64 first[2] = {s.pc_in, kFirstTs};
  const u64 last[2] = {s.pc_out, kFirstTs + u64{kTicksPerCycle} * s.cycles};
  p.add(Bus::kState, true, first, 2);
  p.add(Bus::kState, false, last, 2);
  for (u32 i = 0; i < s.output_count; ++i) {
    const u64 word = s.outputs[i];
    const u64 tuple[3] = {u64{s.out_in} + i, word & 0xffffffffu, word >> 32};
    p.add(Bus::kOutput, false, tuple, 3);
  }
  if (s.is_final) {
    const u64 code[2] = {s.exit_code & 0xffffffffu, s.exit_code >> 32};
    p.add(Bus::kExit, false, code, 2);
  }
  return p.finish(sum);
}

prover::Transcript global_transcript(const RunParams& params, const prover::Digest& program,
                                     u32 epochs, u64 anchors, const u64* last_keys,
                                     const prover::Digest& fixed_root) {
  prover::Transcript t("epochd", kFormatVersion, "global");
  absorb_params(t, params, program);
  const u64 words[] = {epochs, anchors, last_keys[0], last_keys[1], last_keys[2]};
  t.absorb_words("run", words, sizeof words / sizeof words[0]);
  t.absorb_digest("fixed root", fixed_root);
  return t;
}

void absorb_boundary(prover::Transcript& t, u32 log_height, const prover::Digest& root) {
  const u64 words[5] = {log_height, root.words[0], root.words[1], root.words[2], root.words[3]};
  t.absorb_words("boundary", words, 5);
}

bool global_public_sum(const u64* last_keys, Fp3 gamma, Fp3 beta, Fp3& sum) {
  PublicSum p(gamma, beta);
  for (u32 region = 0; region < kRegionCount; ++region) {
    const u64 start[2] = {region, kRegionStart[region]};
    const u64 end[2] = {region, last_keys[region]};
    p.add(Bus::kOrder, true, start, 2);
    p.add(Bus::kOrder, false, end, 2);
  }
  return p.finish(sum);
}

}  // namespace epochd
