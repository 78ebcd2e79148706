#include "bench/micro_gpu/timing.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "bench/micro/counters.hpp"

namespace epochd::bench {
namespace {

class TimedEvent {
 public:
  TimedEvent() { EPOCHD_CUDA_CHECK(cudaEventCreate(&event_)); }
  ~TimedEvent() { cudaEventDestroy(event_); }
  TimedEvent(const TimedEvent&) = delete;
  TimedEvent& operator=(const TimedEvent&) = delete;
  void record() const { EPOCHD_CUDA_CHECK(cudaEventRecord(event_, stream().get())); }
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

std::mt19937_64& rng() {
  static std::mt19937_64 random(11);
  return random;
}

}  // namespace

const cuda::Stream& stream() {
  static const cuda::Stream one;
  return one;
}

void add_kernel(const std::string& name, const Work& work, std::function<Launch()> prepare) {
  const auto body = [work, prepare](benchmark::State& state) {
    const Launch launch = prepare();
    launch();
    stream().synchronize();
    const TimedEvent begin;
    const TimedEvent end;
    for (auto _ : state) {
      begin.record();
      launch();
      end.record();
      stream().synchronize();
      float ms = 0;
      EPOCHD_CUDA_CHECK(cudaEventElapsedTime(&ms, begin.get(), end.get()));
      state.SetIterationTime(1e-3 * static_cast<double>(ms));
    }
    set_work(state, work, 1);
  };
  benchmark::RegisterBenchmark(name.c_str(), body)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond)
      ->Iterations(10);
}

std::shared_ptr<cuda::DeviceBlock> device_memory(size_t bytes) {
  return std::make_shared<cuda::DeviceBlock>(bytes);
}

/// One MiB of them, repeated.
std::shared_ptr<cuda::DeviceBlock> random_elements(size_t count) {
  std::vector<u64> piece(std::min<size_t>(count, 1 << 17));
  for (u64& word : piece) word = random_fp().value();
  auto block = device_memory(count * sizeof(u64));
  for (size_t at = 0; at < count; at += piece.size()) {
    const size_t bytes = std::min(piece.size(), count - at) * sizeof(u64);
    EPOCHD_CUDA_CHECK(cudaMemcpy(as<u64>(block) + at, piece.data(), bytes, cudaMemcpyHostToDevice));
  }
  return block;
}

prover::Fp random_fp() {
  return prover::Fp::from_u64(rng()());
}

prover::Fp3 random_fp3() {
  return {random_fp(), random_fp(), random_fp()};
}

}  // namespace epochd::bench
