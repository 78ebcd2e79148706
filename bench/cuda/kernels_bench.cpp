// Times the device kernels by themselves: the median of events around one call, on random data.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <random>
#include <vector>

#include "cuda/merkle/merkle.hpp"
#include "cuda/ntt/ntt.hpp"
#include "cuda/rt/memory.hpp"
#include "prover/field/fp.hpp"

namespace epochd::cuda {
namespace {

using prover::Digest;
using prover::Fp;

class TimedEvent {
 public:
  TimedEvent() { EPOCHD_CUDA_CHECK(cudaEventCreate(&event_)); }
  ~TimedEvent() { cudaEventDestroy(event_); }
  TimedEvent(const TimedEvent&) = delete;
  TimedEvent& operator=(const TimedEvent&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

double median_ms(const Stream& stream, const std::function<void()>& body) {
  constexpr int kWarmUps = 2;
  constexpr int kRuns = 9;
  const TimedEvent begin;
  const TimedEvent end;
  std::vector<float> times;
  for (int i = 0; i < kWarmUps + kRuns; ++i) {
    EPOCHD_CUDA_CHECK(cudaEventRecord(begin.get(), stream.get()));
    body();
    EPOCHD_CUDA_CHECK(cudaEventRecord(end.get(), stream.get()));
    stream.synchronize();
    float ms = 0;
    EPOCHD_CUDA_CHECK(cudaEventElapsedTime(&ms, begin.get(), end.get()));
    if (i >= kWarmUps) times.push_back(ms);
  }
  std::nth_element(times.begin(), times.begin() + kRuns / 2, times.end());
  return times[kRuns / 2];
}

u64* words(const DeviceBlock& block) {
  return reinterpret_cast<u64*>(block.data());
}

/// `count` random field elements: one MiB of them, repeated.
DeviceBlock random_block(size_t count) {
  std::mt19937_64 rng(7);
  std::vector<u64> piece(std::min<size_t>(count, 1 << 20));
  for (u64& w : piece) w = Fp::from_u64(rng()).value();
  DeviceBlock block(count * sizeof(u64));
  for (size_t at = 0; at < count; at += piece.size()) {
    const size_t bytes = std::min(piece.size(), count - at) * sizeof(u64);
    EPOCHD_CUDA_CHECK(cudaMemcpy(words(block) + at, piece.data(), bytes, cudaMemcpyHostToDevice));
  }
  return block;
}

void time_lde(const Stream& stream, u32 log_n, u32 log_blowup, u32 columns) {
  const u32 heights[] = {log_n};
  const NttTables tables(heights, log_blowup);
  const size_t count = size_t{columns} << log_n;
  const DeviceBlock in = random_block(count);
  const DeviceBlock out((count << log_blowup) * sizeof(u64));
  const DeviceBlock scratch(lde_scratch_words(columns, log_n, log_blowup) * sizeof(u64));
  const double ms = median_ms(stream, [&] {
    coset_lde(tables, words(in), words(out), words(scratch), columns, log_n, log_blowup,
              stream.get());
  });
  const double butterflies =
      static_cast<double>(count) / 2 * log_n * (1 + static_cast<double>(1u << log_blowup));
  std::printf("lde 2^%u x %3u blowup %u: %8.3f ms  %.5f ns/butterfly\n", log_n, columns,
              1u << log_blowup, ms, ms * 1e6 / butterflies);
}

void time_halves(const Stream& stream, u32 log_n, u32 columns) {
  const u32 heights[] = {log_n};
  const NttTables tables(heights, 1);
  const size_t count = size_t{columns} << log_n;
  const DeviceBlock in = random_block(count);
  const DeviceBlock out(2 * count * sizeof(u64));
  const double forward = median_ms(stream, [&] {
    lde_from_coefficients(tables, words(in), words(out), columns, log_n, 1, stream.get());
  });
  const double inverse = median_ms(
      stream, [&] { coset_interpolate(tables, words(out), columns, log_n + 1, stream.get()); });
  std::printf("2^%u x %u: from coefficients %.3f ms, interpolate 2^%u %.3f ms\n", log_n, columns,
              forward, log_n + 1, inverse);
}

void time_tree(const Stream& stream, u32 log_rows, u32 width) {
  TreeHeight height;
  height.log_rows = log_rows;
  const DeviceBlock in = random_block(size_t{width} << log_rows);
  height.rows.add(words(in), 1u << log_rows, width);
  const DeviceBlock levels(tree_digests(log_rows) * sizeof(Digest));
  Digest* out = reinterpret_cast<Digest*>(levels.data());
  const double rows =
      median_ms(stream, [&] { hash_rows(height.rows, u64{1} << log_rows, out, stream.get()); });
  const double tree = median_ms(stream, [&] { build_tree({&height, 1}, out, stream.get()); });
  std::printf("tree 2^%u x %4u: rows %.3f ms, all %.3f ms\n", log_rows, width, rows, tree);
}

struct Table {
  u32 log_rows;
  u32 width;
};

/// Commits tables like one epoch's: every LDE, then the tree.
void time_commit(const Stream& stream, const char* name, const std::vector<Table>& tables) {
  constexpr u32 kHeights[] = {16, 17, 18, 19};
  const NttTables twiddles(kHeights, 1);
  std::vector<DeviceBlock> traces;
  std::vector<DeviceBlock> ldes;
  std::vector<TreeHeight> heights;
  size_t scratch_words = 0;
  for (const Table& t : tables) {
    traces.push_back(random_block(size_t{t.width} << t.log_rows));
    ldes.emplace_back(traces.back().bytes() * 2);
    if (heights.empty() || heights.back().log_rows != t.log_rows + 1) {
      heights.emplace_back();
      heights.back().log_rows = t.log_rows + 1;
    }
    heights.back().rows.add(words(ldes.back()), 2u << t.log_rows, t.width);
    scratch_words = std::max(scratch_words, lde_scratch_words(t.width, t.log_rows, 1));
  }
  const DeviceBlock scratch(scratch_words * sizeof(u64));
  const DeviceBlock levels(tree_digests(heights[0].log_rows) * sizeof(Digest));
  const auto extend = [&] {
    for (size_t i = 0; i < tables.size(); ++i) {
      coset_lde(twiddles, words(traces[i]), words(ldes[i]), words(scratch), tables[i].width,
                tables[i].log_rows, 1, stream.get());
    }
  };
  const double lde = median_ms(stream, extend);
  const Lanes lanes;
  std::vector<LdeJob> jobs;
  for (size_t i = 0; i < tables.size(); ++i) {
    jobs.push_back({words(traces[i]), words(ldes[i]), tables[i].width, tables[i].log_rows});
  }
  const DeviceBlock lane_scratch(lde_scratch_words(jobs, 1) * sizeof(u64));
  const double beside = median_ms(
      stream, [&] { coset_lde(twiddles, lanes, jobs, words(lane_scratch), 1, stream.get()); });
  const double tree = median_ms(
      stream, [&] { build_tree(heights, reinterpret_cast<Digest*>(levels.data()), stream.get()); });
  std::printf("commit like %s: LDE %.3f ms, on lanes %.3f ms, tree %.3f ms\n", name, lde, beside,
              tree);
}

void time_small(const Stream& stream) {
  const DeviceBlock planes = random_block(size_t{3} << 21);
  const DeviceBlock levels(tree_digests(18) * sizeof(Digest));
  const double fri = median_ms(stream, [&] {
    build_fri_tree(words(planes), size_t{1} << 21, 21, 3, reinterpret_cast<Digest*>(levels.data()),
                   stream.get());
  });
  const DeviceBlock nonce(sizeof(u64));
  u64 seed = 0;
  const double ms = median_ms(stream, [&] {
    grind(Digest{{++seed, 2, 3, 4}}, 20, words(nonce), stream.get());
  });
  std::printf("fri tree 2^21 by 8: %.3f ms; grind 20 bits: %.3f ms (median of 9 states)\n", fri,
              ms);
}

/// Main trees of 2^20-cycle epochs.
void time_commits(const Stream& stream) {
  time_commit(stream, "fib", {{19, 17}, {18, 20}, {18, 16}, {17, 17}, {16, 3}, {16, 4}, {7, 1}});
  time_commit(stream, "sha256",
              {{18, 21}, {18, 39}, {18, 38}, {17, 17}, {16, 39}, {16, 3},  {16, 4},
               {15, 21}, {15, 23}, {14, 16}, {14, 29}, {14, 22}, {13, 16}, {12, 18},
               {12, 23}, {11, 7},  {9, 8},   {9, 22},  {9, 1},   {8, 17}});
}

void time_all(const Stream& stream) {
  for (const u32 columns : {32u, 64u}) time_lde(stream, 20, 1, columns);
  time_lde(stream, 22, 1, 64);
  for (u32 log_n = 5; log_n <= 21; ++log_n) time_lde(stream, log_n, 1, 64);
  time_lde(stream, 20, 2, 64);
  for (const u32 log_n : {23u, 24u, 25u}) time_lde(stream, log_n, 1, 16);
  time_lde(stream, 26, 1, 4);
  for (const u32 log_n : {13u, 16u, 18u, 20u, 21u}) time_halves(stream, log_n, 6);
  for (const u32 width : {24u, 32u, 64u, 128u, 200u, 400u}) time_tree(stream, 21, width);
  for (const u32 log_rows : {9u, 12u, 15u, 18u}) time_tree(stream, log_rows, 200);
  time_small(stream);
}

}  // namespace
}  // namespace epochd::cuda

/// With any argument, only what commits like an epoch.
int main(int argc, char**) {
  const epochd::cuda::Stream stream;
  if (argc == 1) epochd::cuda::time_all(stream);
  epochd::cuda::time_commits(stream);
  return 0;
}
