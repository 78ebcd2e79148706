// Instructions per second of the scout: fib is a register loop, sort and sha256 are heavy on
// memory. Run from anywhere: the guests are found where the build put them.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "epoch/capsule/stitch.hpp"
#include "epoch/exec/replay.hpp"
#include "epoch/exec/scout.hpp"

namespace epochd {
namespace {

constexpr u32 kCyclesPerEpoch = 1u << kEpochSizeLog2Default;

struct Workload {
  const char* name;
  std::vector<u64> input;  // words
};

const Workload kWorkloads[] = {
    {"fib", {10'000'000}}, {"sort", {1, 100'000}}, {"sha256", std::vector<u64>(1 << 16, 7)}};

Program load_guest(const char* name) {
  std::ifstream file(std::string(EPOCHD_GUEST_DIR "/") + name + ".elf", std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  auto image = parse_elf({reinterpret_cast<const u8*>(bytes.data()), bytes.size()});
  if (!image) {
    std::fprintf(stderr, "%s.elf: %s\n", name, image.error().message.c_str());
    std::exit(1);
  }
  return Program(*std::move(image));
}

std::span<const u8> bytes_of(const std::vector<u64>& words) {
  return {reinterpret_cast<const u8*>(words.data()), words.size() * 8};
}

void scout(benchmark::State& state) {
  const Workload& workload = kWorkloads[state.range(0)];
  const Program program = load_guest(workload.name);
  const Code code(program);
  u64 instructions = 0;
  u64 cells = 0;
  for (auto _ : state) {
    auto run = Scout::create(code, bytes_of(workload.input));
    while (!run->halted()) {
      const auto epoch = run->run_epoch(kCyclesPerEpoch);
      if (!epoch) std::abort();
      cells += epoch->cells.size();
    }
    instructions += run->cycles();
  }
  state.SetLabel(workload.name);
  state.SetItemsProcessed(static_cast<i64>(instructions));
  state.counters["cells/Mcycle"] =
      1e6 * static_cast<double>(cells) / static_cast<double>(instructions);
}
BENCHMARK(scout)->DenseRange(0, std::size(kWorkloads) - 1)->Unit(benchmark::kMillisecond);

// Capsules of the run's first epochs; sealing is timed with them.
std::vector<Capsule> seal_epochs(const Code& code, const Workload& workload, size_t count) {
  auto run = Scout::create(code, bytes_of(workload.input));
  Stitch stitch{prover::Digest{}};
  std::vector<Capsule> capsules;
  while (capsules.size() < count && !run->halted()) {
    const auto epoch = run->run_epoch(kCyclesPerEpoch);
    if (!epoch) std::abort();
    capsules.push_back(stitch.seal(*epoch));
  }
  return capsules;
}

void scout_and_seal(benchmark::State& state) {
  const Workload& workload = kWorkloads[state.range(0)];
  const Program program = load_guest(workload.name);
  const Code code(program);
  u64 instructions = 0;
  for (auto _ : state) {
    for (const Capsule& c : seal_epochs(code, workload, ~size_t{0})) instructions += c.cycles;
  }
  state.SetLabel(workload.name);
  state.SetItemsProcessed(static_cast<i64>(instructions));
}
BENCHMARK(scout_and_seal)->DenseRange(0, std::size(kWorkloads) - 1)->Unit(benchmark::kMillisecond);

void replay(benchmark::State& state) {
  const Workload& workload = kWorkloads[state.range(0)];
  const Program program = load_guest(workload.name);
  const Code code(program);
  const std::vector<Capsule> capsules = seal_epochs(code, workload, 4);
  Replayer replayer(code);
  EpochRecords records;
  u64 instructions = 0;
  for (auto _ : state) {
    for (const Capsule& capsule : capsules) {
      if (replayer.run(capsule, records)) std::abort();
      instructions += records.public_values.cycles;
    }
  }
  state.SetLabel(workload.name);
  state.SetItemsProcessed(static_cast<i64>(instructions));
}
BENCHMARK(replay)->DenseRange(0, std::size(kWorkloads) - 1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace epochd

BENCHMARK_MAIN();
