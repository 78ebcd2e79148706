#include "tests/prover/tutorial/machine.hpp"

#include <random>

#include "prover/air/describe.hpp"
#include "prover/core/assert.hpp"
#include "tests/prover/tutorial/airs.hpp"
#include "tests/prover/tutorial/kernels.hpp"

namespace epochd::prover::tutorial {
namespace {

u32 height_for(size_t rows, u32 at_least) {
  u32 h = at_least;
  while ((size_t{1} << h) < rows) ++h;
  return h;
}

/// One row of alu, written against the meaning of the columns, not against `eval`.
void fill_alu_row(const Term& term, size_t row, Fp* base, size_t stride) {
  const auto set = [&](u32 column, u64 v) { base[column * stride + row] = Fp::from_u64(v); };
  const u32 a0 = term.a & 15u;
  const u32 a1 = term.a >> 4;
  const u32 b0 = term.b & 15u;
  const u32 b1 = term.b >> 4;
  set(AluAir::kIsMul, term.is_mul ? 1 : 0);
  set(AluAir::kIsXor, term.is_mul ? 0 : 1);
  set(AluAir::kIndex, row);
  set(AluAir::kA0, a0);
  set(AluAir::kA1, a1);
  set(AluAir::kB0, b0);
  set(AluAir::kB1, b1);
  set(AluAir::kLow, term.is_mul ? a0 * b0 : a0 ^ b0);
  set(AluAir::kHigh, term.is_mul ? a1 * b1 : a1 ^ b1);
  if (term.is_mul) {
    set(AluAir::kCross01, a0 * b1);
    set(AluAir::kCross10, a1 * b0);
  }
  set(AluAir::kValue, term.is_mul ? u32{term.a} * term.b : u32{term.a} ^ term.b);
}

/// `fill_rows` writes rows [begin, end) of every main column: column c of row r is
/// base[c * stride + r]. Rows from used_rows on stay zero.
TableSource source(const AirKernels& kernels, size_t used_rows,
                   std::function<void(size_t, size_t, Fp*, size_t)> fill_rows) {
  TableSource s;
  s.kernels = &kernels;
  s.used_rows = used_rows;
  s.fill_rows = std::move(fill_rows);
  return s;
}

TableSource alu_source(const Witness& witness, size_t first, size_t count) {
  const auto rows = [&witness, first](size_t begin, size_t end, Fp* base, size_t stride) {
    for (size_t r = begin; r < end; ++r) fill_alu_row(witness.terms[first + r], r, base, stride);
  };
  return source(kernels().alu, count, rows);
}

TableSource sum_source(const Witness& witness) {
  const auto rows = [&witness](size_t begin, size_t end, Fp* base, size_t stride) {
    i64 total = 0;
    for (size_t r = 0; r < begin; ++r) total += witness.terms[r].value();
    for (size_t r = begin; r < end; ++r) {
      const Term& term = witness.terms[r];
      const auto set = [&](u32 column, i64 v) { base[column * stride + r] = Fp::from_i64(v); };
      const bool is_first = r < witness.first_instance;
      set(SumAir::kIsReal, 1);
      set(SumAir::kSign, term.is_negative ? -1 : 1);
      set(SumAir::kInstance, is_first ? 1 : 2);
      set(SumAir::kIndex, static_cast<i64>(is_first ? r : r - witness.first_instance));
      set(SumAir::kValue, term.is_negative ? -term.value() : term.value());
      set(SumAir::kStep, static_cast<i64>(r));
      set(SumAir::kTotal, total);
      total += term.value();
      set(SumAir::kNextTotal, total);
    }
  };
  return source(kernels().sum, witness.terms.size(), rows);
}

/// Sends of Table(op, x, y, z) are counted at row x + 16 y of nibbles, in the column of op.
LookupSpec table_lookup() {
  LookupSpec spec;
  spec.bus = static_cast<u8>(Bus::kTable);
  spec.table = kNibbles;
  spec.log_height = kLogNibbles;
  spec.first_counter = NibblesAir::kProductCount;
  spec.counter_count = 2;
  spec.selects_column = true;
  spec.weights = {0, 1, 16};
  return spec;
}

}  // namespace

Witness random_witness(u64 seed, size_t count, size_t first_instance) {
  std::mt19937_64 random(seed);
  Witness w;
  w.first_instance = first_instance;
  for (size_t i = 0; i < count; ++i) {
    const u64 r = random();
    w.terms.push_back(
        {(r & 1) != 0, (r & 2) != 0, static_cast<u8>(r >> 8), static_cast<u8>(r >> 16)});
  }
  return w;
}

Statement make_statement(const Preset& preset, const Witness& witness, u32 log_sum_min) {
  Statement s;
  s.preset = &preset;
  s.term_count = witness.terms.size();
  for (const Term& t : witness.terms) s.total += Fp::from_i64(t.value());
  s.log_heights[kAlu1] = height_for(witness.first_instance, kLogHeightMin);
  s.log_heights[kAlu2] = height_for(witness.terms.size() - witness.first_instance, kLogHeightMin);
  s.log_heights[kNibbles] = kLogNibbles;
  s.log_heights[kSum] = height_for(witness.terms.size(), log_sum_min);
  return s;
}

std::unique_ptr<Layout> make_layout(const Statement& statement) {
  ProofShape shape;
  shape.preset = statement.preset;
  shape.base_tree_count = kTreeCount;
  shape.table_count = kTableCount;
  const AirInfo* airs[kTableCount] = {&Description<AluAir>::kInfo, &Description<AluAir>::kInfo,
                                      &Description<NibblesAir>::kInfo, &Description<SumAir>::kInfo};
  for (u32 t = 0; t < kTableCount; ++t) {
    shape.tables[t].air = airs[t];
    shape.tables[t].log_height = statement.log_heights[t];
    shape.tables[t].main_tree = t == kSum ? kSumTree : kMainTree;
  }
  shape.tables[kNibbles].fixed_tree = kFixedTree;
  shape.tables[kAlu1].params[0] = Fp::from_u64(1);
  shape.tables[kAlu2].params[0] = Fp::from_u64(2);
  auto layout = std::make_unique<Layout>();
  EPOCHD_ASSERT(derive_layout(shape, *layout));
  return layout;
}

std::shared_ptr<const FixedTree> make_nibbles(const CpuBackend& backend, u32 log_blowup) {
  std::vector<Matrix> traces;
  traces.emplace_back(NibblesAir::kFixedWidth, size_t{1} << kLogNibbles);
  for (u32 row = 0; row < (1u << kLogNibbles); ++row) {
    const u32 x = row & 15u;
    const u32 y = row >> 4;
    const u32 values[NibblesAir::kFixedWidth] = {x, y, x * y, x ^ y};
    for (u32 c = 0; c < NibblesAir::kFixedWidth; ++c) {
      traces[0].column(c)[row] = Fp::from_u64(values[c]);
    }
  }
  return std::make_shared<FixedTree>(
      FixedTree::build(backend.isa(), std::move(traces), log_blowup, backend.pool()));
}

void fill(CpuSession& session, const Witness& witness, std::shared_ptr<const FixedTree> nibbles) {
  session.load_fixed(kFixedTree, std::move(nibbles));
  const size_t second = witness.terms.size() - witness.first_instance;
  const TableSource sources[kTableCount] = {alu_source(witness, 0, witness.first_instance),
                                            alu_source(witness, witness.first_instance, second),
                                            source(kernels().nibbles, 0, {}), sum_source(witness)};
  const LookupSpec lookups[] = {table_lookup()};
  session.fill(sources, lookups);
}

Transcript begin(const Statement& statement, const Digest* roots) {
  Transcript t("epochd tutorial", 1, "sum of terms");
  const u64 words[] = {statement.preset->id,         statement.term_count,
                       statement.total.value(),      statement.log_heights[kAlu1],
                       statement.log_heights[kAlu2], statement.log_heights[kNibbles],
                       statement.log_heights[kSum]};
  t.absorb_words("statement", words, sizeof words / sizeof words[0]);
  for (u32 i = 0; i < kTreeCount; ++i) t.absorb_digest("base root", roots[i]);
  return t;
}

VerifyResult verify(const Statement& statement, const Digest& nibbles_root,
                    const std::vector<u64>& words, TranscriptObserver observer) {
  if (words.size() < kRootWords) return {VerifyError::kTruncated, 0};
  const Digest roots[kTreeCount] = {nibbles_root,
                                    {{words[0], words[1], words[2], words[3]}},
                                    {{words[4], words[5], words[6], words[7]}}};
  Transcript transcript = begin(statement, roots);
  transcript.observe(observer);
  const Challenges c = draw_lookup_challenges(transcript);

  // The verifier's own accesses: it sends Total(0, 0) and receives Total(T, S).
  const Fp3 bus = c.gamma + Fp::from_u64(static_cast<u64>(Bus::kTotal));
  const Fp3 last =
      bus + c.beta * Fp::from_u64(statement.term_count) + c.beta.square() * statement.total;
  if (is_zero(bus) || is_zero(last)) return {VerifyError::kZeroDenominator, 0};
  const Fp3 public_sum = inverse(bus) - inverse(last);

  const auto layout = make_layout(statement);
  const auto scratch = std::make_unique<VerifyScratch>();
  const ArgumentInput input{
      layout.get(), words.data() + kRootWords, words.size() - kRootWords, roots, c.gamma, c.beta,
      &public_sum};
  Fp3 sum;
  return verify_argument(input, transcript, *scratch, sum);
}

}  // namespace epochd::prover::tutorial
