// The stages of an epoch's proof on the CPU, with all threads: what kernels_bench and chips_bench
// do not time by themselves (filling, counting, FRI, grinding, gathering), and what the kernels
// come to when they work on a real epoch. An iteration is a whole proof; its time is the one
// stage's.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "bench/floor/epoch_floor.hpp"
#include "bench/micro/counters.hpp"
#include "epoch/capsule/stitch.hpp"
#include "epoch/chips/airs.hpp"
#include "epoch/continuation/area.hpp"
#include "epoch/continuation/cpu_prover.hpp"
#include "epoch/exec/replay.hpp"
#include "epoch/exec/scout.hpp"

namespace epochd::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr u32 kLogCycles = 16;

/// Seconds by stage.
class StageSeconds : public StageListener {
 public:
  void stage_begins(const char*) override { start_ = Clock::now(); }
  void stage_ends(const char* name) override {
    seconds[name] += std::chrono::duration<double>(Clock::now() - start_).count();
  }
  std::map<std::string, double> seconds;

 private:
  Clock::time_point start_;
};

/// The second epoch of a guest's run, ready to be proved.
class Epoch {
 public:
  Epoch(const char* guest, const std::vector<u64>& input)
      : program_(load(guest)), code_(program_), backend_(best_isa(), pool_) {
    params_ = {&prover::kPresets[0], kLogCycles};
    auto key = make_proving_key(program_, *params_.preset, best_isa(), pool_);
    if (!key) std::abort();
    key_ = std::make_unique<ProvingKey>(*std::move(key));
    const std::span<const u8> bytes(reinterpret_cast<const u8*>(input.data()), 8 * input.size());
    auto scout = Scout::create(code_, bytes, epoch_area(params_));
    Stitch stitch(key_->vk.digest());
    Replayer replayer(code_);
    for (int e = 0; e < 2; ++e) {
      auto epoch = scout->run_epoch(1u << kLogCycles);
      if (!epoch || replayer.run(stitch.seal(*epoch), records_)) std::abort();
    }
    std::vector<FloorTable> tables;
    for (const TableInstance& t : plan_tables(records_, key_->vk, *params_.preset)) {
      tables.push_back({chips::find_air(t.chip), t.log_height});
    }
    work_ = epoch_work(tables, *params_.preset);
  }

  double seconds_of(const std::string& stage) const {
    StageSeconds stages;
    prove_epoch(backend_, *key_, params_, records_, {{}, &stages});
    return stages.seconds[stage];
  }
  Work work_of(const std::string& stage) const {
    const auto found = work_.find(stage);
    return found == work_.end() ? Work{} : found->second;
  }
  unsigned workers() const { return pool_.threads(); }

 private:
  static Program load(const char* name) {
    std::ifstream file(std::string(EPOCHD_GUEST_DIR "/") + name + ".elf", std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    auto image = parse_elf({reinterpret_cast<const u8*>(bytes.data()), bytes.size()});
    if (!image) {
      std::fprintf(stderr, "%s.elf: %s\n", name, image.error().message.c_str());
      std::exit(1);
    }
    return Program(*std::move(image));
  }

  Program program_;
  Code code_;
  Parallel pool_;
  prover::CpuBackend backend_;
  RunParams params_;
  std::unique_ptr<ProvingKey> key_;
  EpochRecords records_;
  StageWork work_;
};

void stage(benchmark::State& state, const Epoch& epoch, const std::string& name) {
  for (auto _ : state) state.SetIterationTime(epoch.seconds_of(name));
  set_work(state, epoch.work_of(name), epoch.workers());
}

void register_epoch(const std::string& guest, const Epoch& epoch) {
  for (const char* name : {"fill", "commit main", "logup", "commit logup", "quotient",
                           "commit quotient", "open", "deep", "fri", "grind", "gather"}) {
    benchmark::RegisterBenchmark(("stage/" + guest + "/" + name).c_str(),
                                 [&epoch, name](benchmark::State& s) { stage(s, epoch, name); })
        ->UseManualTime()
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace
}  // namespace epochd::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const epochd::bench::Epoch fib("fib", {100'000});
  const epochd::bench::Epoch sha256("sha256", std::vector<epochd::u64>(1 << 12, 7));
  epochd::bench::register_epoch("fib", fib);
  epochd::bench::register_epoch("sha256", sha256);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
