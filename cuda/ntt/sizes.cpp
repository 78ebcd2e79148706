#include "cuda/ntt/sizes.hpp"

#include <algorithm>
#include <set>

#include "cuda/ntt/powers.hpp"
#include "cuda/ntt/split.hpp"

namespace epochd::cuda {
namespace {

/// What a launch too small to fill the device costs, in words of one that does.
constexpr u64 kLaneOverheadWords = 1 << 20;

struct SplitSizes {
  explicit SplitSizes(u32 log_n)
      : n(u64{1} << log_n),
        n1(u64{1} << fast::split(log_n).log_n1),
        n2(u64{1} << fast::split(log_n).log_n2),
        rounds(fast::two_rounds(fast::split(log_n)) ? n1 : 0) {}
  u64 n, n1, n2;
  u64 rounds;  ///< words of one direction's column rounds
  u64 outer() const { return n1 > 1 ? n : 0; }
  u64 row2() const { return n2 / 16; }  ///< 16 rows of N2 / 256
};

u64 lde_words(u32 log_n, u32 log_blowup) {
  const SplitSizes s(log_n);
  const u64 shared = 2 * s.rounds + s.outer() + s.n2 + s.row2();
  const u64 pair = s.n2 / 256 + 2 * (s.outer() + s.row2() + s.n2);
  return shared + log_blowup * pair;
}

u64 half_words(u32 log_n, u32 log_blowup) {
  const SplitSizes s(log_n);
  return s.rounds + s.n2 + s.row2() + ((s.n1 + s.n) << log_blowup);
}

bool is_fast(u32 log_rows) {
  return log_rows >= fast::kLogRowsMin && log_rows <= fast::kLogRowsMax;
}

}  // namespace

u32 lde_batch_columns(u32 columns, u32 log_n, size_t scratch_words_max) {
  const size_t fit = scratch_words_max >> (log_n + 1);
  return static_cast<u32>(std::min<size_t>(columns, std::max<size_t>(fit, 1)));
}

namespace {

size_t scratch_words(u32 columns, u32 log_n, size_t scratch_words_max) {
  if (log_n <= kNttLogSmallMax || columns == 0) return 0;
  const size_t batch = size_t{lde_batch_columns(columns, log_n, scratch_words_max)} << (log_n + 1);
  return log_n > fast::kLogRowsMax ? std::max(batch, tall::scratch_words(log_n)) : batch;
}

}  // namespace

size_t lde_scratch_words(u32 columns, u32 log_n, u32) {
  return scratch_words(columns, log_n, kScratchWordsMax);
}

size_t lde_lane_scratch_words(u32 columns, u32 log_n) {
  return scratch_words(columns, log_n, kLaneScratchWordsMax);
}

LanePlan::LanePlan(std::span<const LdeJob> jobs) {
  u64 work[kLaneCount] = {};
  size_t scratch[kLaneCount] = {};
  for (const LdeJob& job : jobs) {
    const u32 lane = static_cast<u32>(std::min_element(work, work + kLaneCount) - work);
    lane_of_job.push_back(lane);
    // Short matrices take longer than their words say.
    work[lane] += (u64{job.columns} << job.log_n) + kLaneOverheadWords;
    scratch[lane] = std::max(scratch[lane], lde_lane_scratch_words(job.columns, job.log_n));
  }
  for (u32 lane = 0; lane < kLaneCount; ++lane) {
    scratch_at[lane] = scratch_words;
    scratch_words += scratch[lane];
  }
}

size_t lde_scratch_words(std::span<const LdeJob> jobs, u32) {
  return LanePlan(jobs).scratch_words;
}

u64 ntt_table_bytes(std::span<const u32> log_heights, u32 log_blowup) {
  std::set<u32> heights(log_heights.begin(), log_heights.end());
  for (u32 h = fast::kLogRowsMin; h <= kNttLogAlwaysMax; ++h) heights.insert(h);
  std::set<u32> inverse;
  u64 words = kPowersWords;
  for (const u32 h : heights) {
    if (is_fast(h)) words += lde_words(h, log_blowup) + half_words(h, log_blowup);
    if (h > fast::kLogRowsMax) words += lde_words(tall::log_inner(h), log_blowup);
    if (is_fast(h + log_blowup)) inverse.insert(h + log_blowup);
  }
  for (const u32 h : inverse) words += half_words(h, 0);
  return words * sizeof(u64);
}

}  // namespace epochd::cuda
