// The prover's CPU kernels: times, and the work that their floors are made of (bench/floor), by
// instruction set and threads. Benchmarks called ceiling/... measure how fast this machine does
// each kind of work at its best: a copy from memory to memory, arithmetic on data in the caches.
//
// A butterfly is counted as it is executed: an LDE of N rows at blowup 2^b is 1 + 2^b transforms of
// N / 2 log2 N butterflies. Columns are real Fp values; output pages are touched before timing.
#include <benchmark/benchmark.h>

#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bench/micro/counters.hpp"

#include "prover/core/aligned_buffer.hpp"
#include "prover/hash/domains.hpp"
#include "prover/hash/rows.hpp"
#include "prover/hash/wide_blake3.hpp"
#include "prover/pcs/merkle.hpp"
#include "prover/pcs/ntt.hpp"
#include "prover/pcs/ntt_plan.hpp"
#include "prover/prove/cpu/kernels.hpp"

namespace epochd::prover {
namespace {

using bench::set_work;
using bench::Work;

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
  Work work;  // the table stays in the cache
  work.multiplications = static_cast<double>(table.size());
  set_work(state, work, 1);
}

/// Every thread runs `body` on its own: the machine's rate of what stays in one core's caches.
template <class Body>
void on_each(benchmark::State& state, u32 threads, const Work& work_of_one, const Body& body) {
  const Parallel parallel(threads);
  for (auto _ : state) {
    parallel.for_ranges(threads, 1, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) body(i);
    });
    benchmark::ClobberMemory();
  }
  set_work(state, static_cast<double>(threads) * work_of_one, threads);
}

void ceiling_copy(benchmark::State& state, u32 threads) {
  constexpr size_t kElements = size_t{1} << 23;  // 64 MiB a thread: beyond the caches
  const AlignedBuffer<Fp> in = random_fps(kElements * threads);
  AlignedBuffer<Fp> out = random_fps(kElements * threads);
  Work work;
  work.bytes = 2.0 * kElements * sizeof(Fp);
  on_each(state, threads, work, [&](size_t i) {
    std::memcpy(static_cast<void*>(out.data() + i * kElements), in.data() + i * kElements,
                kElements * sizeof(Fp));
  });
}

void ceiling_butterflies(benchmark::State& state, Isa isa, u32 threads) {
  constexpr u32 kLogN = 10;
  constexpr u32 kColumns = 8;
  constexpr u32 kTimes = 64;
  const size_t n = size_t{1} << kLogN;
  const AlignedBuffer<Fp> in = random_fps(n * kColumns);
  AlignedBuffer<Fp> out = random_fps(2 * n * kColumns * threads);
  const Parallel alone(1);
  Work work;
  work.butterflies = kTimes * bench::lde_work(kColumns, kLogN, 1).butterflies;
  on_each(state, threads, work, [&](size_t i) {
    for (u32 t = 0; t < kTimes; ++t) {
      coset_lde(isa, in.data(), n, out.data() + i * 2 * n * kColumns, 2 * n, kColumns, kLogN, 1,
                alone);
    }
  });
}

void ceiling_compressions(benchmark::State& state, Isa isa, u32 threads) {
  constexpr u32 kWidth = 64;
  constexpr size_t kRows = 512;
  constexpr u32 kTimes = 32;
  const AlignedBuffer<Fp> data = random_fps(kRows * kWidth);
  std::vector<const Fp*> columns;
  for (u32 c = 0; c < kWidth; ++c) columns.push_back(data.data() + c * kRows);
  std::vector<Digest> out(kRows * threads);
  Work work;
  work.compressions = kTimes * bench::row_hash_work(kWidth, kRows).compressions;
  on_each(state, threads, work, [&](size_t i) {
    for (u32 t = 0; t < kTimes; ++t) {
      hash_rows(isa, domains::kLeaf, columns.data(), kWidth, 0, kRows, out.data() + i * kRows);
    }
  });
}

/// Products that are summed before they are reduced, as openings, DEEP and LogUp do: 3 a column and
/// row, columns in the first-level cache.
void ceiling_products(benchmark::State& state, Isa isa, u32 threads) {
  constexpr u32 kColumns = 32;
  constexpr size_t kRows = 128;
  constexpr u32 kTimes = 256;
  const AlignedBuffer<Fp> data = random_fps(kRows * (kColumns + 1));
  std::vector<const Fp*> columns;
  for (u32 c = 0; c < kColumns; ++c) columns.push_back(data.data() + c * kRows);
  std::vector<Fp3> sums(kColumns * threads);
  const Fp3 z = {Fp::from_u64(5), Fp::from_u64(6), Fp::from_u64(7)};
  Work work;
  work.multiplications = 3.0 * kTimes * kRows * kColumns;
  on_each(state, threads, work, [&](size_t i) {
    for (u32 t = 0; t < kTimes; ++t) {
      cpu::kernels(isa).open_rows(columns.data(), kColumns, data.data() + kColumns * kRows, z, 0,
                                  kRows, sums.data() + i * kColumns);
    }
  });
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
  const Work work = bench::lde_work(columns, log_n, 1);
  state.counters["per_butterfly"] = seconds_per(work.butterflies);
  set_work(state, work, threads);
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
  const Work work = bench::row_hash_work(width, static_cast<double>(rows));
  state.counters["per_compression"] = seconds_per(work.compressions);
  set_work(state, work, threads);
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
  const Work work =
      bench::row_hash_work(width, static_cast<double>(rows)) + bench::tree_levels_work(log_rows);
  state.counters["per_compression"] = seconds_per(work.compressions);
  set_work(state, work, threads);
}

void scalar_hash(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        blake3::compress(domains::kLeaf, blake3::Block{}, 0, blake3::kBlockBytes, 0));
  }
}

/// One message of 192 KiB, a group of a checkpoint's pages: bytes a second.
void long_hash(benchmark::State& state, Isa isa) {
  const std::vector<u8> message(192 << 10, 1);
  for (auto _ : state) {
    benchmark::DoNotOptimize(wide_blake3_hash(isa, message.data(), message.size()));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<i64>(message.size()));
}

template <class Body>
void add(const std::string& name, Body body) {
  benchmark::RegisterBenchmark(name.c_str(), body)->UseRealTime()->Unit(benchmark::kMillisecond);
}

std::string threads_suffix(u32 threads) {
  return "/threads:" + std::to_string(threads);
}

void register_ceilings() {
  const Isa isa = best_isa();
  for (const u32 threads : {1u, std::max(2u, std::thread::hardware_concurrency())}) {
    const std::string suffix = threads_suffix(threads);
    add("ceiling/bytes/copy" + suffix, [=](benchmark::State& s) { ceiling_copy(s, threads); });
    add("ceiling/butterflies" + suffix,
        [=](benchmark::State& s) { ceiling_butterflies(s, isa, threads); });
    add("ceiling/compressions" + suffix,
        [=](benchmark::State& s) { ceiling_compressions(s, isa, threads); });
    add("ceiling/multiplications/products" + suffix,
        [=](benchmark::State& s) { ceiling_products(s, isa, threads); });
  }
  add("ceiling/multiplications/reduced/threads:1", [=](benchmark::State& s) { field_mul(s, isa); });
}

void register_all() {
  register_ceilings();
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512}) {
    if (!isa_supported(isa)) continue;
    const std::string prefix = std::string(isa_name(isa)) + "/";
    add(prefix + "long_hash", [=](benchmark::State& s) { long_hash(s, isa); });
    add(prefix + "field_mul", [=](benchmark::State& s) { field_mul(s, isa); });
    for (const u32 threads : {1u, 2u}) {
      const std::string suffix = threads_suffix(threads);
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
