#include "tests/prover/verify/ring.hpp"

#include <random>

#include "prover/air/describe.hpp"
#include "prover/core/assert.hpp"

namespace epochd::prover::ring {
namespace {

constexpr u64 kSeed = 31;

}  // namespace

Ring::Ring(const Preset& preset, std::vector<u32> heights)
    : preset_(preset), heights_(std::move(heights)), layout_(std::make_unique<Layout>()) {
  ProofShape shape;
  shape.preset = &preset_;
  shape.base_tree_count = kTrees;
  shape.table_count = ring_tables() + 1;
  for (u32 t = 0; t < ring_tables(); ++t) {
    shape.tables[t].air = &Description<RingAir>::kInfo;
    shape.tables[t].log_height = heights_[t];
    shape.tables[t].main_tree = t % kTrees;
  }
  shape.tables[quiet_table()].air = &Description<QuietAir>::kInfo;
  shape.tables[quiet_table()].log_height = kLogHeightMin;
  shape.tables[quiet_table()].main_tree = 0;
  EPOCHD_ASSERT(derive_layout(shape, *layout_));
  std::vector<oracle::EvaluateAir> airs(ring_tables(), &oracle::evaluate_air<RingAir>);
  airs.push_back(&oracle::evaluate_air<QuietAir>);
  session_ = std::make_unique<oracle::OracleSession>(*layout_, airs, make_traces());
  for (u32 tree = 0; tree < kTrees; ++tree) (void)session_->commit(tree);
}

std::vector<std::vector<oracle::Column>> Ring::make_traces() const {
  std::mt19937_64 random(kSeed);
  const auto next = [&] { return Fp::from_u64(random()); };
  std::vector<std::vector<oracle::Column>> traces;
  Fp count_total;
  for (u32 t = 0; t < ring_tables(); ++t) {
    const size_t rows = size_t{1} << heights_[t];
    auto& columns = traces.emplace_back(RingAir::kWidth, oracle::Column(rows));
    for (size_t r = 0; r < rows; ++r) {
      columns[RingAir::kA][r] = next();
      columns[RingAir::kCube][r] = columns[RingAir::kA][r].pow(3);
      columns[RingAir::kIsReal][r] = r < rows / 2 ? Fp::one() : Fp::zero();
      columns[RingAir::kSpare][r] = next();
      columns[RingAir::kCount][r] = next();
      count_total += columns[RingAir::kCount][r];
    }
    for (size_t r = 0; r < rows; ++r) {
      columns[RingAir::kB][r] = r < rows / 2 ? columns[RingAir::kA][(r + 1) % (rows / 2)] : next();
    }
  }
  traces[0][RingAir::kCount][3] -= count_total;
  auto& quiet = traces.emplace_back(QuietAir::kWidth, oracle::Column(1u << kLogHeightMin));
  for (Fp& bit : quiet[QuietAir::kBit]) bit = Fp::from_u64(random() & 1);
  return traces;
}

Transcript Ring::begin(const Digest* roots) const {
  Transcript t("epochd test", 1, "ring");
  for (const u32 h : heights_) {
    const u64 word = h;
    t.absorb_words("height", &word, 1);
  }
  for (u32 i = 0; i < kTrees; ++i) t.absorb_digest("base root", roots[i]);
  return t;
}

VerifyResult Ring::verify(const std::vector<u64>& words, TranscriptObserver observer) const {
  if (words.size() < kRootWords) return {VerifyError::kTruncated, 0};
  Digest roots[kTrees];
  for (u32 i = 0; i < kTrees; ++i) {
    const u64* w = words.data() + 4 * size_t{i};
    roots[i] = {{w[0], w[1], w[2], w[3]}};
  }
  Transcript transcript = begin(roots);
  transcript.observe(observer);
  const Challenges c = draw_lookup_challenges(transcript);
  const Fp3 public_sum = fp3_zero();
  const ArgumentInput input{
      layout_.get(), words.data() + kRootWords, words.size() - kRootWords, roots, c.gamma, c.beta,
      &public_sum};
  Fp3 sum;
  return verify_argument(input, transcript, *scratch_, sum);
}

}  // namespace epochd::prover::ring
