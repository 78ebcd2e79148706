// LogUp's columns on a device against their definition, and launches from several threads.
#include "cuda/logup/logup.hpp"

#include <thread>

#include "prover/air/logup_eval.hpp"
#include "prover/field/packed_scalar.hpp"
#include "tests/cuda/device_fixture.hpp"
#include "tests/cuda/logup/random_lookups.hpp"

namespace epochd::cuda {
namespace {

using prover::Fp;
using prover::Fp3;
using Eval = prover::LogupEval<prover::PackedScalar>;

/// Random interactions and columns on both sides.
struct RandomTable {
  u32 log_rows;
  prover::LoweredTable lowered;
  std::vector<u64> columns;
  std::vector<u64> words;
  LogupProgram program;
  DeviceArray<u64> device_columns, device_words, aux, scratch;
  DeviceArray<Fp3> block_sums, sum;

  RandomTable(RandomLookups& random, u32 log_height, u32 accesses)
      : log_rows(log_height),
        lowered(random.table(accesses)),
        columns(random_words(size_t{RandomLookups::kColumns} << log_height, accesses)),
        program(append_program(lowered, words)),
        device_columns(columns),
        device_words(words),
        aux(size_t{3 * program.pairs} << log_height),
        scratch(size_t{2 * program.pairs} << log_height),
        block_sums(blocks_of(log_height, kLogupRows)),
        sum(1) {}

  LogupJob job(u32 first_block) const {
    LogupJob j{};
    j.program = program;
    j.program.words = device_words.data();
    j.trace = {nullptr, reinterpret_cast<const Fp*>(device_columns.data()), size_t{1} << log_rows,
               0};
    j.log_rows = log_rows;
    j.first_block = first_block;
    j.inverse_rows = Fp::from_u64(u64{1} << log_rows).inverse();
    j.aux = reinterpret_cast<Fp*>(aux.data());
    j.scratch = scratch.data();
    j.block_sums = block_sums.data();
    j.sum = sum.data();
    return j;
  }

  /// Plane by plane, and the sum.
  std::pair<std::vector<u64>, Fp3> want() const {
    const size_t rows = size_t{1} << log_rows;
    const prover::TableColumns set{nullptr, as_fp(columns), rows, 0};
    std::vector<u64> planes(3 * program.pairs * rows);
    const auto put = [&](u32 pair, size_t row, const Fp3& v) {
      planes[(3 * pair) * rows + row] = v.c0.value();
      planes[(3 * pair + 1) * rows + row] = v.c1.value();
      planes[(3 * pair + 2) * rows + row] = v.c2.value();
    };
    std::vector<Fp3> before(rows);
    Fp3 all{};
    for (size_t row = 0; row < rows; ++row) {
      before[row] = all;
      for (u32 j = 0; j < program.pairs; ++j) {
        const Eval::Fraction f = Eval::pair_fraction(lowered.view(), j, set, row);
        const Fp3 numerator{f.numerator.c0.v, f.numerator.c1.v, f.numerator.c2.v};
        const Fp3 value =
            numerator * inverse(Fp3{f.denominator.c0.v, f.denominator.c1.v, f.denominator.c2.v});
        all += value;
        if (j + 1 < program.pairs) put(j, row, value);
      }
    }
    const Fp3 mean = all * Fp::from_u64(rows).inverse();
    for (size_t row = 0; row < rows; ++row) {
      put(program.pairs - 1, row, before[row] - mean * Fp::from_u64(row));
    }
    return {planes, all};
  }
};

class CudaLogup : public DeviceTest {
 protected:
  RandomLookups random_;
};

TEST_F(CudaLogup, ColumnsOfAllTablesAreTheDefinition) {
  std::vector<RandomTable> tables;
  std::vector<LogupJob> jobs;
  LogupJobs launch{};
  // Less than a block, a block, many; more than a thread of the scan sums up.
  for (const auto& [log_rows, accesses] :
       {std::pair{5u, 1u}, {6u, 7u}, {7u, 2u}, {9u, 5u}, {13u, 4u}, {18u, 1u}}) {
    tables.emplace_back(random_, log_rows, accesses);
    jobs.push_back(tables.back().job(launch.blocks));
    launch.blocks += blocks_of(log_rows, kLogupRows);
    launch.shared_bytes = std::max(launch.shared_bytes, logup_bytes(tables.back().program));
  }
  const DeviceArray<LogupJob> device(jobs);
  launch.jobs = device.data();
  launch.count = static_cast<u32>(jobs.size());
  launch_logup(launch, stream());
  synchronize();
  for (const RandomTable& t : tables) {
    const auto [planes, sum] = t.want();
    EXPECT_TRUE(t.aux.get() == planes) << "2^" << t.log_rows;
    EXPECT_EQ(t.sum.get()[0], sum) << "2^" << t.log_rows;
  }
}

TEST_F(CudaLogup, ThreadsMayLaunchTablesOfDifferentSizes) {
  const RandomTable table(random_, 5, 3);
  const DeviceArray<LogupJob> device(std::vector<LogupJob>{table.job(0)});
  const RandomTable other(random_, 5, 3);
  const DeviceArray<LogupJob> other_device(std::vector<LogupJob>{other.job(0)});
  constexpr u32 kWide = 90 << 10;  // as the widest chip
  const auto launches = [](const LogupJob* job, u32 bytes) {
    const Stream own;
    for (u32 i = 0; i < 500; ++i) launch_logup({job, 1, 1, bytes}, own.get());
    own.synchronize();
  };
  std::thread wide([&] { launches(device.data(), kWide); });
  launches(other_device.data(), logup_bytes(other.program));
  wide.join();
}

}  // namespace
}  // namespace epochd::cuda
