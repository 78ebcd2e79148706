// The row kernels of every chip on one core, with the best instruction set: the chip's constraints,
// its LogUp columns and its LogUp constraints in the quotient; and what all chips share, dot
// products with openings' weights and DEEP. Columns hold random values, which cost what any others
// do. Rows fit the second-level cache, so that the kernels and not the memory are measured.
#include <benchmark/benchmark.h>

#include <random>
#include <string>
#include <vector>

#include "bench/floor/epoch_floor.hpp"
#include "bench/micro/counters.hpp"
#include "epoch/chips/airs.hpp"
#include "epoch/chips/kernels.hpp"
#include "prover/core/aligned_buffer.hpp"
#include "prover/prove/cpu/kernels.hpp"

namespace epochd::bench {
namespace {

using namespace prover;

constexpr u32 kLogRows = 11;
constexpr size_t kRows = size_t{1} << kLogRows;

std::mt19937_64& rng() {
  static std::mt19937_64 random(3);
  return random;
}
AlignedBuffer<Fp> random_columns(size_t columns) {
  AlignedBuffer<Fp> v(columns * kRows);
  for (size_t i = 0; i < v.size(); ++i) v[i] = Fp::from_u64(rng()());
  return v;
}
Fp3 random_fp3() {
  return {Fp::from_u64(rng()()), Fp::from_u64(rng()()), Fp::from_u64(rng()())};
}

/// One chip's columns, random.
struct ChipData {
  const AirInfo* air;
  AlignedBuffer<Fp> columns;
  cpu::PreparedLogup logup;

  explicit ChipData(const AirInfo* of)
      : air(of),
        columns(random_columns(of->fixed_width + of->main_width)),
        logup(lowered(of), of->fixed_width + of->main_width) {}
  TableColumns view() const {
    return {columns.data(), columns.data() + air->fixed_width * kRows, kRows, air->fixed_width};
  }

 private:
  static LoweredTable lowered(const AirInfo* air) {
    TableShape shape;
    shape.air = air;
    shape.log_height = kLogRows;
    for (Fp& param : shape.params) param = Fp::from_u64(rng()());
    return lower_table(shape, random_fp3(), random_fp3());
  }
};

void constraints(benchmark::State& state, ChipId chip) {
  const ChipData data(chips::find_air(chip));
  const FoldRows fold = chips::air_kernels(chip).fold[static_cast<size_t>(best_isa())];
  std::vector<Fp3> alphas(data.air->total_constraints(), random_fp3());
  FoldArgs args{data.view(), {}, alphas.data()};
  AlignedBuffer<Fp> out = random_columns(3);
  for (auto _ : state) {
    fold(args, 0, kRows, out.data(), kRows);
    benchmark::ClobberMemory();
  }
  set_work(state, constraints_work(*data.air, kRows), 1);
}

void logup_columns(benchmark::State& state, ChipId chip) {
  const ChipData data(chips::find_air(chip));
  const cpu::Kernels& kernels = cpu::kernels(best_isa());
  AlignedBuffer<Fp> aux = random_columns(3 * data.air->aux_columns());
  AlignedBuffer<Fp> totals = random_columns(3);
  for (auto _ : state) {
    kernels.logup_rows(data.logup.view(), data.view(), 0, kRows, aux.data(), kRows,
                       {totals.data(), kRows});
    benchmark::ClobberMemory();
  }
  set_work(state, logup_work(*data.air, kRows), 1);
}

void logup_quotient(benchmark::State& state, ChipId chip) {
  const ChipData data(chips::find_air(chip));
  const u32 pairs = data.air->aux_columns();
  const AlignedBuffer<Fp> aux = random_columns(3 * pairs);
  const std::vector<cpu::SplitProduct> alphas(pairs, cpu::SplitProduct(random_fp3()));
  const cpu::LogupFold fold = {data.logup.view(), data.view(),  aux.data(),   kRows,
                               kLogRows - 1,      random_fp3(), alphas.data()};
  AlignedBuffer<Fp> out = random_columns(3);
  for (auto _ : state) {
    cpu::kernels(best_isa()).logup_quotient(fold, 0, kRows, {out.data(), kRows});
    benchmark::ClobberMemory();
  }
  set_work(state, logup_quotient_work(*data.air, kRows), 1);
}

constexpr u32 kOpenColumns = 40;

void open_rows(benchmark::State& state) {
  const AlignedBuffer<Fp> data = random_columns(kOpenColumns);
  const AlignedBuffer<Fp> x = random_columns(1);
  std::vector<const Fp*> columns;
  for (u32 c = 0; c < kOpenColumns; ++c) columns.push_back(data.data() + c * kRows);
  std::vector<Fp3> sums(kOpenColumns);
  const Fp3 z = random_fp3();
  for (auto _ : state) {
    cpu::kernels(best_isa())
        .open_rows(columns.data(), kOpenColumns, x.data(), z, 0, kRows, sums.data());
    benchmark::ClobberMemory();
  }
  set_work(state, open_work(kOpenColumns, kRows), 1);
}

void deep_rows(benchmark::State& state) {
  const AlignedBuffer<Fp> data = random_columns(kOpenColumns);
  const AlignedBuffer<Fp> x = random_columns(1);
  std::vector<cpu::WeightedColumn> columns;
  for (u32 c = 0; c < kOpenColumns; ++c) {
    columns.push_back({data.data() + c * kRows, SplitFactor3(random_fp3())});
  }
  const cpu::DeepPoint points[cpu::kDeepPoints] = {
      {columns.data(), kOpenColumns, random_fp3(), random_fp3()},
      {nullptr, 0, random_fp3(), random_fp3()}};
  AlignedBuffer<Fp> out = random_columns(3);
  for (auto _ : state) {
    cpu::kernels(best_isa()).deep_rows(points, x.data(), 0, kRows, {out.data(), kRows});
    benchmark::ClobberMemory();
  }
  set_work(state, deep_work(kOpenColumns, kRows), 1);
}

void register_all() {
  for (u32 id = 0; id < kChipCount; ++id) {
    const ChipId chip = static_cast<ChipId>(id);
    const AirInfo* air = chips::find_air(chip);
    if (air == nullptr) continue;
    const std::string name = air->name;
    const auto add = [&](const std::string& what, auto body) {
      benchmark::RegisterBenchmark((what + "/" + name).c_str(),
                                   [=](benchmark::State& s) { body(s, chip); });
    };
    if (air->constraint_count > 0) add("constraints", constraints);
    add("logup", logup_columns);
    add("logup_quotient", logup_quotient);
  }
  benchmark::RegisterBenchmark("open/40", open_rows);
  benchmark::RegisterBenchmark("deep/40", deep_rows);
}

}  // namespace
}  // namespace epochd::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  epochd::bench::register_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
