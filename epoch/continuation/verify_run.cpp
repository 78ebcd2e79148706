#include "epoch/continuation/verify_run.hpp"

namespace epochd {
namespace {

using prover::Digest;
using prover::Fp3;

constexpr u32 kHeaderWords = 13;
constexpr u64 kU32Max = 0xffffffffull;

Digest read_digest(WordReader& r) {
  const u64* w = r.take(4);
  return {{w[0], w[1], w[2], w[3]}};
}

RunResult failed(RunError error, u32 index = 0) {
  RunResult r;
  r.error = error;
  r.index = index;
  return r;
}

/// The statement at the front of an epoch record. kNone, kTruncated, kRange or kTableList.
RunError read_statement(WordReader& r, EpochStatement& s) {
  if (!r.has(7)) return RunError::kTruncated;
  const u64* w = r.take(7);
  for (u32 i = 0; i < 5; ++i) {
    if (w[i] > kU32Max) return RunError::kRange;
  }
  s.pc_in = static_cast<u32>(w[0]);
  s.pc_out = static_cast<u32>(w[1]);
  s.cycles = static_cast<u32>(w[2]);
  s.out_in = static_cast<u32>(w[3]);
  s.output_count = static_cast<u32>(w[4]);
  s.exit_code = w[5];
  if (w[6] > prover::kTablesMax) return RunError::kTableList;
  s.table_count = static_cast<u32>(w[6]);
  if (!r.has(s.table_count)) return RunError::kTruncated;
  const u64* t = r.take(s.table_count);
  for (u32 i = 0; i < s.table_count; ++i) {
    if ((t[i] & 0xff) >= kChipCount || t[i] >> 8 > prover::kLogHeightMax) {
      return RunError::kTableList;
    }
    s.tables[i] = {static_cast<ChipId>(t[i] & 0xff), static_cast<u32>(t[i] >> 8)};
  }
  if (!r.has(s.output_count)) return RunError::kTruncated;
  s.outputs = r.take(s.output_count);
  return RunError::kNone;
}

/// Ranges that need no other epoch.
bool statement_in_range(const EpochStatement& s, const RunParams& params) {
  const bool halted = s.pc_out == kHaltPc;
  return s.cycles >= 1 && s.cycles <= (1u << params.epoch_size_log2) &&
         s.output_count <= s.cycles && u64{s.out_in} + s.output_count <= kU32Max &&
         s.pc_in != kHaltPc && halted == s.is_final && (s.is_final || s.exit_code == 0);
}

/// The words of one counted record.
bool open_record(WordReader& outer, WordReader& inner) {
  if (!outer.has(1)) return false;
  const u64 count = *outer.take(1);
  if (count > outer.count - outer.position) return false;
  inner = {outer.take(static_cast<size_t>(count)), static_cast<size_t>(count)};
  return true;
}

class RunVerifier {
 public:
  RunVerifier(const VerifyingKey& vk, const u64* words, size_t count, const VerifyOptions& options,
              RunScratch& scratch)
      : vk_(vk), options_(options), reader_{words, count}, s_(scratch) {}

  RunResult run() {
    RunResult r = read_header();
    if (!r.ok()) return r;
    records_ = reader_;
    // The boundaries are absorbed as they are verified, not read again for it.
    prover::Transcript global_base = global_transcript(params_, vk_.digest(), plan_.epochs,
                                                       plan_.anchors, last_keys_, vk_.global_root);
    r = check_epochs(global_base);
    if (!r.ok()) return r;
    const RunResult global = check_global(global_base);
    if (!global.ok()) return global;
    return r;
  }

 private:
  RunResult read_header();
  RunResult check_epochs(prover::Transcript& global_base);
  RunResult check_global(prover::Transcript& base);
  bool draw_global(Fp3* gamma_beta, prover::Transcript& t);
  RunError sub_layout(u32 index, WordReader& boundaries, Digest* roots, u32& root_count);

  void note_read(const WordReader& reader) const {
    if (options_.on_read != nullptr) options_.on_read(options_.context, reader.position);
  }

  const VerifyingKey& vk_;
  const VerifyOptions& options_;
  WordReader reader_;
  WordReader records_{nullptr, 0};  ///< at the first epoch record
  RunScratch& s_;
  RunParams params_;
  GlobalPlan plan_;
  const u64* last_keys_ = nullptr;
};

RunResult RunVerifier::read_header() {
  if (!reader_.has(1)) return failed(RunError::kTruncated);
  if (reader_.words[0] != kBundleMagic) return failed(RunError::kBadMagic);
  if (!reader_.has(kHeaderWords)) return failed(RunError::kTruncated);
  const u64* w = reader_.take(kHeaderWords);
  if (w[1] != kFormatVersion) return failed(RunError::kBadVersion);
  params_.preset = w[2] <= kU32Max ? prover::find_preset(static_cast<u32>(w[2])) : nullptr;
  if (params_.preset == nullptr || params_.preset->id != vk_.preset_id) {
    return failed(RunError::kPreset);
  }
  if (params_.preset->target_bits == 0 && !options_.allow_test_preset) {
    return failed(RunError::kTestPreset);
  }
  if (w[3] < kEpochSizeLog2Min || w[3] > kEpochSizeLog2Max) return failed(RunError::kEpochSize);
  params_.epoch_size_log2 = static_cast<u32>(w[3]);
  if (Digest{{w[4], w[5], w[6], w[7]}} != vk_.digest()) return failed(RunError::kProgram);
  if (w[8] < 1 || w[8] > kEpochCountMax) return failed(RunError::kEpochCount);
  if (w[9] < 1 || w[9] > kAnchorsMax) return failed(RunError::kAnchorCount);
  last_keys_ = w + 10;
  for (u32 i = 0; i < kRegionCount; ++i) {
    if (last_keys_[i] < kRegionStart[i] || last_keys_[i] > kRegionLast[i]) {
      return failed(RunError::kLastKey, i);
    }
  }
  plan_ = global_plan(static_cast<u32>(w[8]), w[9], *params_.preset);
  return {};
}

RunResult RunVerifier::check_epochs(prover::Transcript& global_base) {
  RunResult total;
  u32 pc = vk_.entry;
  u64 out = 0;
  for (u32 e = 0; e < plan_.epochs; ++e) {
    EpochStatement& s = s_.statement;
    Digest root;
    const RunResult r =
        verify_epoch(vk_, params_, e + 1, e + 1 == plan_.epochs, reader_, s_, s, root);
    if (!r.ok()) return r;
    if (s.pc_in != pc || s.out_in != out) return failed(RunError::kChain, e);
    absorb_boundary(global_base, boundary_height(s), root);
    pc = s.pc_out;
    out += s.output_count;
    total.cycles += s.cycles;
    total.exit_code = s.exit_code;
    note_read(reader_);
  }
  total.output_count = out;
  total.epochs = plan_.epochs;
  return total;
}

/// Absorbs every main root after the boundaries; false if a sub-proof record is cut short.
bool RunVerifier::draw_global(Fp3* gamma_beta, prover::Transcript& t) {
  WordReader subs = reader_;
  for (u32 i = 0; i < plan_.sub_proofs(); ++i) {
    WordReader sub{nullptr, 0};
    if (!open_record(subs, sub) || !sub.has(4)) return false;
    t.absorb_digest("main root", read_digest(sub));
  }
  t.draw("lookup/gamma beta", gamma_beta, 2);
  return true;
}

/// The layout of sub-proof `index` and its base roots but the main one; `boundaries` stands at the
/// next epoch record.
RunError RunVerifier::sub_layout(u32 index, WordReader& boundaries, Digest* roots,
                                 u32& root_count) {
  const prover::Preset& preset = *params_.preset;
  root_count = 0;
  bool ok = false;
  if (index < plan_.group_count) {
    const u32 first = index * preset.group_size;
    const u32 left = plan_.epochs - first;
    const u32 count = left < preset.group_size ? left : preset.group_size;
    u32 heights[prover::kBaseTreesMax];
    for (u32 i = 0; i < count; ++i) {
      WordReader record{nullptr, 0};
      if (!open_record(boundaries, record)) return RunError::kTruncated;
      const RunError e = read_statement(record, s_.statement);
      if (e != RunError::kNone) return e;
      if (!record.has(4)) return RunError::kTruncated;
      heights[i] = boundary_height(s_.statement);
      roots[root_count++] = read_digest(record);
    }
    note_read(boundaries);
    ok = group_layout(first + 1, heights, count, preset, s_.layout);
  } else {
    const u32 chunk = index - plan_.group_count;
    const u32 height = anchor_chunk_height(plan_, chunk, preset);
    if (chunk + 1 < plan_.chunk_count) {
      ok = chunk_layout(height, preset, s_.layout);
    } else {
      roots[root_count++] = vk_.global_root;
      ok = last_layout(height, vk_, preset, s_.layout);
    }
  }
  return ok ? RunError::kNone : RunError::kTableList;
}

RunResult RunVerifier::check_global(prover::Transcript& base) {
  Fp3 gamma_beta[2];
  if (!draw_global(gamma_beta, base)) return failed(RunError::kTruncated);
  Fp3 total;
  if (!global_public_sum(last_keys_, gamma_beta[0], gamma_beta[1], total)) {
    return failed(RunError::kGlobalSum);
  }
  WordReader boundaries = records_;
  for (u32 i = 0; i < plan_.sub_proofs(); ++i) {
    Digest roots[prover::kBaseTreesMax];
    u32 root_count = 0;
    const RunError e = sub_layout(i, boundaries, roots, root_count);
    if (e != RunError::kNone) return failed(e, i);
    WordReader sub{nullptr, 0};
    if (!open_record(reader_, sub) || !sub.has(4)) return failed(RunError::kTruncated, i);
    const Digest main_root = read_digest(sub);
    if (i < plan_.group_count) {
      if (main_root != Digest{}) return failed(RunError::kMainRoot, i);
    } else {
      roots[root_count++] = main_root;
    }
    prover::ArgumentInput input{&s_.layout,    sub.words + 4, sub.count - 4, roots,
                                gamma_beta[0], gamma_beta[1], nullptr};
    Fp3 sum;
    RunResult r;
    r.argument = verify_argument(input, base.fork("sub-proof", i), s_.verify, sum);
    if (!r.argument.ok()) {
      r.error = RunError::kGlobalProof;
      r.index = i;
      return r;
    }
    total += sum;
    note_read(reader_);
  }
  if (reader_.position != reader_.count) return failed(RunError::kTrailing);
  if (!is_zero(total)) return failed(RunError::kGlobalSum);
  return {};
}

bool visit_record_outputs(WordReader& reader, EpochStatement& s, void (*visit)(void*, u64),
                          void* context) {
  WordReader record{nullptr, 0};
  if (!open_record(reader, record) || read_statement(record, s) != RunError::kNone) return false;
  for (u32 i = 0; i < s.output_count; ++i) visit(context, s.outputs[i]);
  return true;
}

}  // namespace

const char* describe(RunError error) {
  switch (error) {
    case RunError::kNone:
      return "valid";
    case RunError::kTruncated:
      return "the bundle is truncated";
    case RunError::kTrailing:
      return "the bundle has trailing data";
    case RunError::kBadMagic:
      return "this is not an epochd bundle";
    case RunError::kBadVersion:
      return "the bundle has another format version";
    case RunError::kPreset:
      return "the security preset is unknown or not the expected one";
    case RunError::kTestPreset:
      return "the test preset proves nothing and was not asked for";
    case RunError::kEpochSize:
      return "the epoch size is out of range";
    case RunError::kProgram:
      return "the proof is about another program";
    case RunError::kEpochCount:
      return "the number of epochs is out of range";
    case RunError::kAnchorCount:
      return "the number of anchors is out of range";
    case RunError::kLastKey:
      return "a memory region ends outside its bounds";
    case RunError::kRange:
      return "a public value is out of range";
    case RunError::kChain:
      return "an epoch does not continue the one before it";
    case RunError::kNotFinal:
      return "the run does not halt in its last epoch, or halts before";
    case RunError::kTableList:
      return "the table list is not acceptable";
    case RunError::kEpochProof:
      return "an epoch proof is invalid";
    case RunError::kGlobalProof:
      return "the global memory proof is invalid";
    case RunError::kMainRoot:
      return "a sub-proof claims columns it does not have";
    case RunError::kGlobalSum:
      return "the epochs' memories do not fit together";
  }
  return "unknown error";
}

RunResult verify_epoch(const VerifyingKey& vk, const RunParams& params, u32 label, bool is_final,
                       WordReader& reader, RunScratch& scratch, EpochStatement& s,
                       Digest& boundary_root) {
  const u32 index = label - 1;
  WordReader record{nullptr, 0};
  if (!open_record(reader, record)) return failed(RunError::kTruncated, index);
  const RunError error = read_statement(record, s);
  if (error != RunError::kNone) return failed(error, index);
  s.label = label;
  s.is_final = is_final;
  if ((s.pc_out == kHaltPc) != is_final) return failed(RunError::kNotFinal, index);
  if (!statement_in_range(s, params)) return failed(RunError::kRange, index);
  if (!table_list_ok(s, vk, params) || !epoch_layout(s, params, scratch.layout)) {
    return failed(RunError::kTableList, index);
  }
  if (!record.has(8)) return failed(RunError::kTruncated, index);
  boundary_root = read_digest(record);
  const Digest roots[kEpochTreeCount] = {vk.epoch_root, boundary_root, read_digest(record)};
  prover::Transcript t = epoch_transcript(params, vk.digest(), s, roots);
  Fp3 gamma_beta[2];
  t.draw("lookup/gamma beta", gamma_beta, 2);
  Fp3 public_sum;
  RunResult r;
  r.index = index;
  if (!epoch_public_sum(s, gamma_beta[0], gamma_beta[1], public_sum)) {
    r.error = RunError::kEpochProof;
    r.argument = {prover::VerifyError::kZeroDenominator, 0};
    return r;
  }
  const prover::ArgumentInput input{&scratch.layout,
                                    record.words + record.position,
                                    record.count - record.position,
                                    roots,
                                    gamma_beta[0],
                                    gamma_beta[1],
                                    &public_sum};
  Fp3 sum;
  r.argument = verify_argument(input, t, scratch.verify, sum);
  if (!r.argument.ok()) r.error = RunError::kEpochProof;
  return r;
}

RunResult verify_run(const VerifyingKey& vk, const u64* words, size_t count,
                     const VerifyOptions& options, RunScratch& scratch) {
  return RunVerifier(vk, words, count, options, scratch).run();
}

void for_each_output(const u64* words, size_t count, void (*visit)(void*, u64), void* context) {
  WordReader reader{words, count};
  if (!reader.has(kHeaderWords)) return;
  const u64 epochs = reader.take(kHeaderWords)[8];
  EpochStatement s;
  for (u64 e = 0; e < epochs && visit_record_outputs(reader, s, visit, context); ++e) {
  }
}

}  // namespace epochd
