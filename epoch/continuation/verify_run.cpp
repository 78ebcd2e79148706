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

/// What the epochs beside it, and the global proof, need to know of a verified epoch.
struct EpochEnds {
  u32 pc_in, pc_out;
  u32 cycles;
  u32 out_in, output_count;
  u64 exit_code;
  u32 boundary_height;
  Digest boundary_root;
};

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
  /// An epoch, or a sub-proof of the global proof, that is verified beside others.
  struct Part {
    u32 index;
    WordReader record;  ///< at the part's own
    WordReader groups;  ///< of a sub-proof: at the record of its first epoch, if it has any
    RunResult result;
    EpochEnds ends;  ///< of an accepted epoch
    Fp3 sum;         ///< of an accepted sub-proof
  };

  RunResult read_header();
  RunResult check_epochs(prover::Transcript& global_base);
  RunResult check_global(prover::Transcript& base);
  bool draw_global(prover::Transcript& t);
  RunError sub_layout(u32 index, WordReader boundaries, RunScratch& scratch, Digest* roots,
                      u32& root_count) const;
  u32 epochs_in(u32 sub_proof) const;

  void check_epoch(Part& part, RunScratch& scratch) const;
  void check_sub_proof(Part& part, RunScratch& scratch) const;

  u32 parts_from(u32 first, u32 end) const;
  template <void (RunVerifier::*kCheck)(Part&, RunScratch&) const>
  void check_parts(u32 count);

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
  Part parts_[kPartsAtOnceMax];
  const prover::Transcript* global_base_ = nullptr;  ///< gamma and beta of all sub-proofs drawn
  Fp3 gamma_beta_[2];
};

/// How many parts to take together: those from `first`, the last of all at end - 1.
u32 RunVerifier::parts_from(u32 first, u32 end) const {
  if (options_.tasks.run == nullptr || options_.tasks.at_once < 2) return 1;
  const u32 most =
      options_.tasks.at_once < kPartsAtOnceMax ? options_.tasks.at_once : kPartsAtOnceMax;
  return most < end - first ? most : end - first;
}

/// The first `count` of parts_.
template <void (RunVerifier::*kCheck)(RunVerifier::Part&, RunScratch&) const>
void RunVerifier::check_parts(u32 count) {
  if (count == 1) return (this->*kCheck)(parts_[0], s_);
  const VerifyTasks::Task task = [](void* self, u32 index, RunScratch& scratch) {
    RunVerifier& verifier = *static_cast<RunVerifier*>(self);
    (verifier.*kCheck)(verifier.parts_[index], scratch);
  };
  options_.tasks.run(options_.tasks.context, count, task, this);
}

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

void RunVerifier::check_epoch(Part& part, RunScratch& scratch) const {
  EpochStatement& s = scratch.statement;
  Digest root;
  WordReader reader = part.record;
  part.result = verify_epoch(vk_, params_, part.index + 1, part.index + 1 == plan_.epochs, reader,
                             scratch, s, root);
  if (!part.result.ok()) return;
  part.ends = {s.pc_in,        s.pc_out,    s.cycles,           s.out_in,
               s.output_count, s.exit_code, boundary_height(s), root};
}

RunResult RunVerifier::check_epochs(prover::Transcript& global_base) {
  RunResult total;
  u32 pc = vk_.entry;
  u64 out = 0;
  for (u32 first = 0; first < plan_.epochs;) {
    const u32 count = parts_from(first, plan_.epochs);
    for (u32 i = 0; i < count; ++i) {
      parts_[i].index = first + i;
      parts_[i].record = reader_;
      WordReader record{nullptr, 0};
      // A record that is cut short is found by its own check. What comes after it stays there too.
      (void)open_record(reader_, record);
    }
    check_parts<&RunVerifier::check_epoch>(count);
    for (u32 i = 0; i < count; ++i) {
      const Part& part = parts_[i];
      if (!part.result.ok()) return part.result;
      const EpochEnds& ends = part.ends;
      if (ends.pc_in != pc || ends.out_in != out) return failed(RunError::kChain, part.index);
      absorb_boundary(global_base, ends.boundary_height, ends.boundary_root);
      pc = ends.pc_out;
      out += ends.output_count;
      total.cycles += ends.cycles;
      total.exit_code = ends.exit_code;
    }
    note_read(reader_);
    first += count;
  }
  total.output_count = out;
  total.epochs = plan_.epochs;
  return total;
}

/// Absorbs every main root after the boundaries; false if a sub-proof record is cut short.
bool RunVerifier::draw_global(prover::Transcript& t) {
  WordReader subs = reader_;
  for (u32 i = 0; i < plan_.sub_proofs(); ++i) {
    WordReader sub{nullptr, 0};
    if (!open_record(subs, sub) || !sub.has(4)) return false;
    t.absorb_digest("main root", read_digest(sub));
  }
  t.draw("lookup/gamma beta", gamma_beta_, 2);
  return true;
}

/// Epochs whose boundary rows are in this sub-proof.
u32 RunVerifier::epochs_in(u32 sub_proof) const {
  if (sub_proof >= plan_.group_count) return 0;
  const u32 group_size = params_.preset->group_size;
  const u32 left = plan_.epochs - sub_proof * group_size;
  return left < group_size ? left : group_size;
}

/// The layout of sub-proof `index` and its base roots but the main one; `boundaries` stands at the
/// record of its first epoch.
RunError RunVerifier::sub_layout(u32 index, WordReader boundaries, RunScratch& scratch,
                                 Digest* roots, u32& root_count) const {
  const prover::Preset& preset = *params_.preset;
  root_count = 0;
  bool ok = false;
  if (index < plan_.group_count) {
    const u32 first = index * preset.group_size;
    const u32 count = epochs_in(index);
    u32 heights[prover::kBaseTreesMax];
    for (u32 i = 0; i < count; ++i) {
      WordReader record{nullptr, 0};
      if (!open_record(boundaries, record)) return RunError::kTruncated;
      const RunError e = read_statement(record, scratch.statement);
      if (e != RunError::kNone) return e;
      if (!record.has(4)) return RunError::kTruncated;
      heights[i] = boundary_height(scratch.statement);
      roots[root_count++] = read_digest(record);
    }
    ok = group_layout(first + 1, heights, count, preset, scratch.layout);
  } else {
    const u32 chunk = index - plan_.group_count;
    const u32 height = anchor_chunk_height(plan_, chunk, preset);
    if (chunk + 1 < plan_.chunk_count) {
      ok = chunk_layout(height, preset, scratch.layout);
    } else {
      roots[root_count++] = vk_.global_root;
      ok = last_layout(height, vk_, preset, scratch.layout);
    }
  }
  return ok ? RunError::kNone : RunError::kTableList;
}

void RunVerifier::check_sub_proof(Part& part, RunScratch& scratch) const {
  const u32 index = part.index;
  Digest roots[prover::kBaseTreesMax];
  u32 root_count = 0;
  const RunError e = sub_layout(index, part.groups, scratch, roots, root_count);
  part.result = failed(e, index);
  if (e != RunError::kNone) return;
  WordReader outer = part.record;
  WordReader sub{nullptr, 0};
  if (!open_record(outer, sub) || !sub.has(4)) {
    part.result.error = RunError::kTruncated;
    return;
  }
  const Digest main_root = read_digest(sub);
  if (index < plan_.group_count) {
    if (main_root != Digest{}) {
      part.result.error = RunError::kMainRoot;
      return;
    }
  } else {
    roots[root_count++] = main_root;
  }
  const prover::ArgumentInput input{&scratch.layout, sub.words + 4,  sub.count - 4, roots,
                                    gamma_beta_[0],  gamma_beta_[1], nullptr};
  part.result.argument =
      verify_argument(input, global_base_->fork("sub-proof", index), scratch.verify, part.sum);
  if (!part.result.argument.ok()) part.result.error = RunError::kGlobalProof;
}

RunResult RunVerifier::check_global(prover::Transcript& base) {
  if (!draw_global(base)) return failed(RunError::kTruncated);
  global_base_ = &base;
  Fp3 total;
  if (!global_public_sum(last_keys_, gamma_beta_[0], gamma_beta_[1], total)) {
    return failed(RunError::kGlobalSum);
  }
  WordReader boundaries = records_;
  for (u32 first = 0; first < plan_.sub_proofs();) {
    const u32 count = parts_from(first, plan_.sub_proofs());
    for (u32 i = 0; i < count; ++i) {
      parts_[i].index = first + i;
      parts_[i].record = reader_;
      parts_[i].groups = boundaries;
      // Both were walked before, in check_epochs and draw_global: these are there.
      WordReader record{nullptr, 0};
      (void)open_record(reader_, record);
      for (u32 n = epochs_in(first + i); n > 0; --n) (void)open_record(boundaries, record);
    }
    check_parts<&RunVerifier::check_sub_proof>(count);
    for (u32 i = 0; i < count; ++i) {
      if (!parts_[i].result.ok()) return parts_[i].result;
      total += parts_[i].sum;
    }
    if (epochs_in(first) != 0) note_read(boundaries);
    note_read(reader_);
    first += count;
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
