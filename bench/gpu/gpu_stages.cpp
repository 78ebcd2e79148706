// Where an epoch proof's time goes on a GPU: proves one epoch of a guest's run REPEATS times, whose
// proofs must all be the first one's bytes; prints each stage's seconds (the device is waited for
// at every stage's end, and its kernels are in an NVTX range of its name), then the rate without
// those waits. Then the sustained rate of several epochs in flight on the device: WORKERS threads,
// each with a backend (stream, arena) of its own, so that one's uploads and latency-bound tail run
// beside another's kernels.
//   epoch-gpu-stages GUEST.elf INPUT_U64 [EPOCH_SIZE_LOG2] [REPEATS] [PRESET] [WORKERS]
//                    [word|bytes] [device-only|host-mirror]
#include <cuda_runtime_api.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>

#include "cuda/rt/nvtx_stages.hpp"
#include "cuda/rt/pinned_resource.hpp"
#include "cuda/session/cuda_backend.hpp"
#include "epoch/capsule/stitch.hpp"
#include "epoch/continuation/area.hpp"
#include "epoch/continuation/prove_epoch.hpp"
#include "epoch/continuation/verify_run.hpp"
#include "epoch/exec/replay.hpp"
#include "epoch/exec/scout.hpp"
#include "prover/core/stage_fan_out.hpp"

namespace {

using namespace epochd;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class StageTimes : public StageListener {
 public:
  void stage_begins(const char*) override {
    cudaDeviceSynchronize();
    start_ = Clock::now();
  }
  void stage_ends(const char* name) override {
    cudaDeviceSynchronize();
    seconds_[name] += since(start_);
  }
  void print() const {
    for (const auto& [name, s] : seconds_) std::printf("  %-16s %8.2f ms\n", name.c_str(), s * 1e3);
  }

 private:
  Clock::time_point start_;
  std::map<std::string, double> seconds_;
};

/// A device, and what backends of it are made from.
struct Bench {
  cuda::CudaPlan plan;
  std::shared_ptr<const cuda::DeviceShared> shared;
  cuda::BackendOptions options;

  Bench(const ProvingKey& key, const RunParams& params, Residency residency)
      : plan(cuda::plan_cuda(params, residency, cuda::PlannedProgram::of(key))),
        shared(std::make_shared<const cuda::DeviceShared>(0, plan)) {
    options.residency = residency;
  }
};

void print_throughput(const Bench& bench, const ProvingKey& key, const RunParams& params,
                      const EpochRecords& records, u32 workers, u32 repeats) {
  std::barrier ready(workers + 1);
  std::vector<std::thread> threads;
  for (u32 w = 0; w < workers; ++w) {
    threads.emplace_back([&] {
      const cuda::CudaBackend backend(bench.shared, bench.plan, bench.options);
      prove_epoch(backend, key, params, records);
      ready.arrive_and_wait();
      for (u32 i = 0; i < repeats; ++i) prove_epoch(backend, key, params, records);
    });
  }
  ready.arrive_and_wait();
  const auto start = Clock::now();
  for (std::thread& t : threads) t.join();
  const double seconds = since(start) / (workers * repeats);
  std::printf("%u in flight: %.2f ms an epoch = %.2f MHz\n", workers, seconds * 1e3,
              records.public_values.cycles / seconds / 1e6);
}

int prove(const Bench& bench, const ProvingKey& key, const RunParams& params,
          const EpochRecords& records, u32 repeats, u32 workers) {
  const auto tables = plan_tables(records, key.vk, *params.preset);
  auto layout = std::make_unique<prover::Layout>();
  if (!epoch_layout(make_statement(records, tables), params, *layout)) return 1;
  const size_t bytes = cuda::session_bytes(*layout);
  const cuda::CudaBackend backend(bench.shared, bench.plan, bench.options);
  EpochProof proof = prove_epoch(backend, key, params, records);
  StageTimes times;
  cuda::NvtxStages nvtx;
  StageFanOut stages{&times, &nvtx};
  proof = prove_epoch(backend, key, params, records, {{}, &stages});
  times.print();
  const cuda::Counters before = backend.counters();
  std::vector<double> seconds;
  u32 different = 0;
  for (u32 i = 0; i < repeats; ++i) {
    const auto start = Clock::now();
    const EpochProof again = prove_epoch(backend, key, params, records);
    seconds.push_back(since(start));
    if (again.record != proof.record) ++different;
  }
  std::printf("%u proofs of the epoch, %u different from the first\n", repeats, different);
  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[seconds.size() / 2];
  const cuda::Counters& c = backend.counters();
  const u32 cycles = records.public_values.cycles;
  std::printf(
      "prove median %.2f ms (min %.2f) = %.2f MHz; session %.2f GB, planned %.2f, peak %.2f GB of "
      "%.2f; h2d %.1f MB (%.1f B/cycle), d2h %.2f MB; proof %.2f MB\n",
      median * 1e3, seconds[0] * 1e3, cycles / median / 1e6, bytes / 1e9,
      bench.plan.arena_bytes() / 1e9, cuda::peak_device_bytes() / 1e9,
      bench.plan.device_bytes() / 1e9, (c.bytes_h2d - before.bytes_h2d) / 1e6 / repeats,
      static_cast<double>(c.bytes_h2d - before.bytes_h2d) / repeats / cycles,
      (c.bytes_d2h - before.bytes_d2h) / 1e6 / repeats, proof.record.size() * 8 / 1e6);
  for (u32 w = 2; w <= workers; ++w) {
    print_throughput(bench, key, params, records, w, repeats);
  }
  auto scratch = std::make_unique<RunScratch>();
  EpochStatement statement;
  prover::Digest root;
  WordReader reader{proof.record.data(), proof.record.size()};
  const EpochPublic& p = records.public_values;
  const RunResult r =
      verify_epoch(key.vk, params, p.label, p.is_final, reader, *scratch, statement, root);
  std::printf("verify: %s\n", r.ok() ? "valid" : describe(r.error));
  return r.ok() && different == 0 ? 0 : 1;
}

int run(int argc, char** argv) {
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<u8> elf{std::istreambuf_iterator<char>(file), {}};
  auto image = parse_elf(elf);
  if (!image) {
    std::fprintf(stderr, "%s: %s\n", argv[1], image.error().message.c_str());
    return 2;
  }
  const Program program(std::move(*image));
  const Code code(program);
  RunParams params;
  params.epoch_size_log2 = argc > 3 ? static_cast<u32>(std::strtoul(argv[3], nullptr, 10)) : 20;
  const u32 repeats = argc > 4 ? static_cast<u32>(std::strtoul(argv[4], nullptr, 10)) : 11;
  const std::string preset = argc > 5 ? argv[5] : "proven100";
  for (const prover::Preset& p : prover::kPresets) {
    if (preset == p.name) params.preset = &p;
  }
  const Parallel pool(0);
  auto key = make_proving_key(program, *params.preset, best_isa(), pool);
  if (!key) return 2;
  std::vector<u8> input(8);
  const u64 n = std::strtoull(argv[2], nullptr, 10);
  std::memcpy(input.data(), &n, 8);
  // Guests that hash their input take a longer one: n bytes.
  if (argc > 7 && argv[7] == std::string("bytes")) input.assign(n, 0x5a);
  auto scout = Scout::create(code, input, epoch_area(params));
  Stitch stitch(key->vk.digest());
  cuda::PinnedResource pinned;
  EpochRecords records(&pinned);
  Replayer replayer(code);
  for (u32 e = 0; e < 2 && !scout->halted(); ++e) {
    auto epoch = scout->run_epoch(1u << params.epoch_size_log2);
    if (!epoch || replayer.run(stitch.seal(*epoch), records)) return 1;
  }
  std::printf("%s, 2^%u, %u cycles\n", argv[1], params.epoch_size_log2,
              records.public_values.cycles);
  const u32 workers = argc > 6 ? static_cast<u32>(std::strtoul(argv[6], nullptr, 10)) : 1;
  const bool has_mirror = argc > 8 && argv[8] == std::string("host-mirror");
  const Bench bench(*key, params, has_mirror ? Residency::kHostMirror : Residency::kDeviceOnly);
  return prove(bench, *key, params, records, repeats, workers);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr,
                 "usage: epoch-gpu-stages GUEST.elf INPUT_U64 [EPOCH_SIZE_LOG2] [REPEATS] [PRESET] "
                 "[WORKERS] [word|bytes] [device-only|host-mirror]\n");
    return 2;
  }
  return run(argc, argv);
}
