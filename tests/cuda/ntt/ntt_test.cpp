// Device transforms against the CPU's, which have tests of their own against definitions: the same
// bytes at every height, both with the fast kernels and with the generic ones.
#include "cuda/ntt/ntt.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "prover/pcs/ntt.hpp"
#include "tests/cuda/device_fixture.hpp"

namespace epochd::cuda {
namespace {

constexpr u64 kSeed = 40;

/// The first difference as column and row, or nothing.
std::string difference(const std::vector<u64>& got, const std::vector<u64>& want, size_t rows) {
  const auto at = std::mismatch(got.begin(), got.end(), want.begin(), want.end());
  if (at.first == got.end()) return {};
  const size_t i = static_cast<size_t>(at.first - got.begin());
  return "column " + std::to_string(i / rows) + " row " + std::to_string(i % rows) + ": got " +
         std::to_string(*at.first) + ", want " + std::to_string(*at.second);
}

class CudaNtt : public DeviceTest {
 protected:
  std::vector<u64> cpu_lde(const std::vector<u64>& in, u32 columns, u32 log_n, u32 log_blowup) {
    const size_t rows = size_t{1} << log_n;
    std::vector<u64> out(in.size() << log_blowup);
    prover::coset_lde(isa_, as_fp(in), rows, as_fp(out), rows << log_blowup, columns, log_n,
                      log_blowup, pool_);
    return out;
  }

  void check_lde(const NttTables& tables, u32 columns, u32 log_n, u32 log_blowup) {
    SCOPED_TRACE("2^" + std::to_string(log_n) + " x " + std::to_string(columns) + " blowup 2^" +
                 std::to_string(log_blowup));
    const size_t rows = size_t{1} << log_n;
    const std::vector<u64> trace = random_words(columns * rows, kSeed + log_n * 100 + columns);
    const DeviceArray<u64> in(trace);
    const DeviceArray<u64> out(trace.size() << log_blowup);
    const DeviceArray<u64> scratch(lde_scratch_words(columns, log_n, log_blowup));
    coset_lde(tables, in.data(), out.data(), scratch.data(), columns, log_n, log_blowup, stream());
    synchronize();
    const std::vector<u64> want = cpu_lde(trace, columns, log_n, log_blowup);
    EXPECT_EQ(difference(out.get(), want, rows << log_blowup), "");
    EXPECT_EQ(difference(in.get(), trace, rows), "") << "the input changed";
  }

  void check_halves(const NttTables& tables, u32 columns, u32 log_n, u32 log_blowup) {
    SCOPED_TRACE("2^" + std::to_string(log_n) + " x " + std::to_string(columns) + " blowup 2^" +
                 std::to_string(log_blowup));
    const size_t rows = size_t{1} << log_n;
    const size_t rows_out = rows << log_blowup;
    const std::vector<u64> coefficients = random_words(columns * rows, kSeed + log_n + columns);
    const DeviceArray<u64> in(coefficients);
    const DeviceArray<u64> out(coefficients.size() << log_blowup);
    lde_from_coefficients(tables, in.data(), out.data(), columns, log_n, log_blowup, stream());
    synchronize();
    std::vector<u64> want(coefficients.size() << log_blowup);
    prover::coset_lde_from_coefficients(isa_, as_fp(coefficients), rows, as_fp(want), rows_out,
                                        columns, log_n, log_blowup, pool_);
    EXPECT_EQ(difference(out.get(), want, rows_out), "");
    EXPECT_EQ(difference(in.get(), coefficients, rows), "") << "the input changed";

    std::vector<u64> values = random_words(columns * rows_out, kSeed + log_n);
    out.set(values);
    coset_interpolate(tables, out.data(), columns, log_n + log_blowup, stream());
    synchronize();
    prover::coset_interpolate_bitrev(isa_, as_fp(values), rows_out, columns, log_n + log_blowup,
                                     pool_);
    EXPECT_EQ(difference(out.get(), values, rows_out), "") << "interpolation";
  }
};

std::vector<u32> heights(u32 first, u32 last) {
  std::vector<u32> v(last - first + 1);
  std::iota(v.begin(), v.end(), first);
  return v;
}

TEST_F(CudaNtt, ExtendsLikeTheCpuAtEveryHeight) {
  for (const u32 log_blowup : {1u, 2u}) {
    const NttTables tables(heights(5, 20), log_blowup);
    for (const u32 log_n : heights(5, 20)) {
      for (const u32 columns : {1u, 3u, 17u, 64u}) {
        if (columns == 64 && log_n > 17) continue;
        check_lde(tables, columns, log_n, log_blowup);
      }
    }
  }
}

/// Every kernel once, short enough for the sanitizer's race check.
TEST_F(CudaNtt, ExtendsOneColumnOfEverySplit) {
  const NttTables tables(heights(10, 22), 1);
  for (const u32 log_n : {11u, 13u, 14u, 17u, 18u, 21u, 22u}) check_lde(tables, 1, log_n, 1);
}

TEST_F(CudaNtt, ExtendsLikeTheCpuWithoutTables) {
  // Low heights have tables anyway, but those for blowup 2 do not serve blowup 4.
  const NttTables none({}, 1);
  for (const u32 log_n : heights(5, 20)) {
    for (const u32 log_blowup : {1u, 2u}) check_lde(none, 5, log_n, log_blowup);
  }
}

TEST_F(CudaNtt, ExtendsTallColumnsLikeTheCpu) {
  const NttTables tables(heights(20, 24), 2);
  check_lde(tables, 64, 20, 1);
  for (const u32 log_n : {21u, 22u, 23u}) {
    check_lde(tables, 3, log_n, 1);
    check_lde(tables, 2, log_n, 2);
  }
  check_lde(tables, 1, 24, 2);
  // The tallest, and without tables.
  const NttTables tallest(heights(24, 26), 1);
  const NttTables none({}, 1);
  for (const u32 log_n : {24u, 25u, 26u}) check_lde(tallest, 1, log_n, 1);
  for (const u32 log_n : {23u, 24u, 26u}) check_lde(none, 1, log_n, 1);
}

TEST_F(CudaNtt, SplitsColumnsIntoBatchesThatFitTheScratch) {
  constexpr u32 kLogN = 22;
  constexpr u32 kColumns = 19;
  ASSERT_LT(lde_scratch_words(kColumns, kLogN, 1), size_t{kColumns} << (kLogN + 1));
  const u32 height[] = {kLogN};
  check_lde(NttTables(height, 1), kColumns, kLogN, 1);
}

TEST_F(CudaNtt, ExtendsSeveralMatricesBesideEachOther) {
  const NttTables tables(heights(16, 18), 1);
  const Lanes lanes;
  constexpr u32 kShapes[][2] = {{18, 9}, {17, 20}, {16, 3}, {16, 40}, {13, 5},
                                {12, 7}, {10, 64}, {9, 2},  {7, 1},   {5, 3}};
  std::vector<std::vector<u64>> traces;
  std::vector<DeviceArray<u64>> in;
  std::vector<DeviceArray<u64>> out;
  std::vector<LdeJob> jobs;
  for (const auto& [log_n, columns] : kShapes) {
    traces.push_back(random_words(size_t{columns} << log_n, kSeed + log_n + columns));
    in.emplace_back(traces.back());
    out.emplace_back(traces.back().size() * 2);
    jobs.push_back({in.back().data(), out.back().data(), columns, log_n});
  }
  const DeviceArray<u64> scratch(lde_scratch_words(jobs, 1));
  for (int run = 0; run < 3; ++run) {
    coset_lde(tables, lanes, jobs, scratch.data(), 1, stream());
    synchronize();
    for (size_t i = 0; i < jobs.size(); ++i) {
      const std::vector<u64> want = cpu_lde(traces[i], jobs[i].columns, jobs[i].log_n, 1);
      EXPECT_EQ(difference(out[i].get(), want, size_t{2} << jobs[i].log_n), "") << "matrix " << i;
      out[i].poison();
    }
  }
}

/// Half of the scratch is then in the output, where the last pass must not overwrite what it reads.
TEST_F(CudaNtt, ExtendsMoreColumnsThanALanesScratchHolds) {
  constexpr u32 kLogN = 20;
  const u32 height[] = {kLogN};
  const Lanes lanes;
  for (const auto& [log_blowup, columns] : {std::pair{1u, 40u}, {2u, 18u}}) {
    ASSERT_GT(columns, lde_batch_columns(columns, kLogN, kLaneScratchWordsMax));
    const NttTables tables(height, log_blowup);
    const std::vector<u64> trace = random_words(size_t{columns} << kLogN, kSeed + columns);
    const DeviceArray<u64> in(trace);
    const DeviceArray<u64> out(trace.size() << log_blowup);
    const LdeJob job{in.data(), out.data(), columns, kLogN};
    const DeviceArray<u64> scratch(lde_scratch_words({&job, 1}, log_blowup));
    coset_lde(tables, lanes, {&job, 1}, scratch.data(), log_blowup, stream());
    synchronize();
    const std::vector<u64> want = cpu_lde(trace, columns, kLogN, log_blowup);
    EXPECT_EQ(difference(out.get(), want, size_t{1} << (kLogN + log_blowup)), "");
  }
}

TEST_F(CudaNtt, ConvertsCoefficientsLikeTheCpuAtEveryHeight) {
  for (const u32 log_blowup : {1u, 2u}) {
    const NttTables tables(heights(5, 20), log_blowup);
    for (const u32 log_n : heights(5, 20)) {
      for (const u32 columns : {1u, 3u, 17u}) {
        if (columns == 17 && log_n > 16) continue;
        check_halves(tables, columns, log_n, log_blowup);
      }
    }
  }
}

TEST_F(CudaNtt, ConvertsCoefficientsLikeTheCpuWithoutTables) {
  const NttTables none({}, 1);
  for (const u32 log_n : heights(5, 18)) {
    for (const u32 log_blowup : {1u, 2u}) check_halves(none, 3, log_n, log_blowup);
  }
}

TEST_F(CudaNtt, ConvertsTallColumnsLikeTheCpu) {
  const NttTables tables(heights(20, 22), 1);
  for (const u32 log_n : {20u, 21u, 22u, 23u}) check_halves(tables, 2, log_n, 1);
}

TEST_F(CudaNtt, AcceptsNoColumns) {
  const NttTables tables({}, 1);
  coset_lde(tables, nullptr, nullptr, nullptr, 0, 10, 1, stream());
  lde_from_coefficients(tables, nullptr, nullptr, 0, 10, 1, stream());
  coset_interpolate(tables, nullptr, 0, 10, stream());
  EXPECT_EQ(lde_scratch_words(0, 20, 1), 0u);
}

}  // namespace
}  // namespace epochd::cuda
