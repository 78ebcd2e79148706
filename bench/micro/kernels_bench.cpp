// The prover's CPU kernels against the floors of the performance model: nanoseconds per field
// product, per butterfly of an LDE, and bytes per second of row hashing, by instruction set and
// threads.
//
// A butterfly is counted as it is executed: an LDE of N rows at blowup 2^b is 1 + 2^b transforms of
// N / 2 log2 N butterflies. Columns are real Fp values; output pages are touched before timing.
#include <benchmark/benchmark.h>

#include <random>
#include <string>
#include <vector>

#include "prover/core/aligned_buffer.hpp"
#include "prover/hash/domains.hpp"
#include "prover/hash/rows.hpp"
#include "prover/pcs/merkle.hpp"
#include "prover/pcs/ntt.hpp"
#include "prover/pcs/ntt_plan.hpp"

namespace epochd::prover {
namespace {

/// Aligned as the prover's matrices are: a misaligned strip touches every cache line twice.
AlignedBuffer<Fp> random_fps(size_t n) {
  std::mt19937_64 rng(1);
  AlignedBuffer<Fp> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = Fp::from_u64(rng());
  return v;
}

benchmark::Counter seconds_per(double operations) {
  return benchmark::Counter(
      operations, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

/// Multiplies a cached table by powers of a shift: one product and one store an entry.
void field_mul(benchmark::State& state, Isa isa) {
  const ntt::Kernels& kernels = isa == Isa::kAvx512 ? ntt::avx512_kernels()
                                : isa == Isa::kAvx2 ? ntt::avx2_kernels()
                                                    : ntt::scalar_kernels();
  const ntt::PlanView& plan = ntt::plan(8, false).view();
  const AlignedBuffer<Fp> shifts = random_fps(ntt::kLanes);
  AlignedBuffer<Fp> table(plan.table_size * ntt::kLanes);
  for (auto _ : state) {
    kernels.make_lane_table(plan, shifts.data(), table.data());
    benchmark::DoNotOptimize(table.data());
    benchmark::ClobberMemory();
  }
  state.counters["per_mul"] = seconds_per(static_cast<double>(table.size()));
}

void lde(benchmark::State& state, Isa isa, u32 threads, u32 log_n, u32 columns) {
  const Parallel parallel(threads);
  const size_t n = size_t{1} << log_n;
  const AlignedBuffer<Fp> in = random_fps(n * columns);
  AlignedBuffer<Fp> out = random_fps(2 * n * columns);
  for (auto _ : state) {
    coset_lde(isa, in.data(), n, out.data(), 2 * n, columns, log_n, 1, parallel);
    benchmark::ClobberMemory();
  }
  const double butterflies = 3.0 * static_cast<double>(n) / 2 * log_n * columns;
  state.counters["per_butterfly"] = seconds_per(butterflies);
}

void row_hash(benchmark::State& state, Isa isa, u32 threads, u32 width) {
  const Parallel parallel(threads);
  const size_t rows = size_t{1} << 16;
  const AlignedBuffer<Fp> data = random_fps(rows * width);
  std::vector<const Fp*> columns;
  for (u32 c = 0; c < width; ++c) columns.push_back(data.data() + c * rows);
  std::vector<Digest> out(rows);
  for (auto _ : state) {
    parallel.for_ranges(rows, 256, [&](size_t begin, size_t end) {
      hash_rows(isa, domains::kLeaf, columns.data(), width, begin, end - begin, out.data() + begin);
    });
    benchmark::ClobberMemory();
  }
  const double blocks = static_cast<double>(rows) * ((width + 7) / 8);
  state.counters["per_compression"] = seconds_per(blocks);
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * rows * width * sizeof(Fp)));
}

void tree(benchmark::State& state, Isa isa, u32 threads, u32 width) {
  const Parallel parallel(threads);
  const u32 log_rows = 18;
  const size_t rows = size_t{1} << log_rows;
  const AlignedBuffer<Fp> data = random_fps(rows * width);
  HeightColumns height{log_rows, {}};
  for (u32 c = 0; c < width; ++c) height.columns.push_back(data.data() + c * rows);
  for (auto _ : state) {
    benchmark::DoNotOptimize(MerkleTree::build(isa, {&height, 1}, parallel).root());
  }
  const double compressions = static_cast<double>(rows) * ((width + 7) / 8 + 1);
  state.counters["per_compression"] = seconds_per(compressions);
}

void scalar_hash(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        blake3::compress(domains::kLeaf, blake3::Block{}, 0, blake3::kBlockBytes, 0));
  }
}

template <class Body>
void add(const std::string& name, Body body) {
  benchmark::RegisterBenchmark(name.c_str(), body)->UseRealTime()->Unit(benchmark::kMillisecond);
}

void register_all() {
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512}) {
    if (!isa_supported(isa)) continue;
    const std::string prefix = std::string(isa_name(isa)) + "/";
    add(prefix + "field_mul", [=](benchmark::State& s) { field_mul(s, isa); });
    for (const u32 threads : {1u, 2u}) {
      const std::string suffix = "/threads:" + std::to_string(threads);
      for (const auto& [log_n, columns] :
           {std::pair{8u, 64u}, {10u, 64u}, {12u, 64u}, {14u, 64u}, {18u, 64u}, {20u, 8u}}) {
        add(prefix + "lde/2^" + std::to_string(log_n) + "x" + std::to_string(columns) + suffix,
            [=](benchmark::State& s) { lde(s, isa, threads, log_n, columns); });
      }
      add(prefix + "lde/2^18x3" + suffix,
          [=](benchmark::State& s) { lde(s, isa, threads, 18, 3); });
      for (const u32 width : {16u, 64u, 200u}) {
        add(prefix + "row_hash/" + std::to_string(width) + suffix,
            [=](benchmark::State& s) { row_hash(s, isa, threads, width); });
      }
      add(prefix + "tree/2^18x24" + suffix,
          [=](benchmark::State& s) { tree(s, isa, threads, 24); });
    }
  }
  add("scalar/compress", scalar_hash);
}

}  // namespace
}  // namespace epochd::prover

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  epochd::prover::register_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
