// One launch timed by CUDA events, as an iteration of Google Benchmark.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "bench/floor/floor.hpp"
#include "cuda/rt/memory.hpp"
#include "prover/field/fp3.hpp"

namespace epochd::bench {

/// The benchmarks' stream; the device waits for nothing else.
const cuda::Stream& stream();

/// Registers a benchmark. `prepare` is called when it is run and gives what to launch on stream(),
/// which is launched once before the first time.
using Launch = std::function<void()>;
void add_kernel(const std::string& name, const Work& work, std::function<Launch()> prepare);

/// Device memory with random elements of the base field.
std::shared_ptr<cuda::DeviceBlock> random_elements(size_t count);
std::shared_ptr<cuda::DeviceBlock> device_memory(size_t bytes);
template <class T>
std::shared_ptr<cuda::DeviceBlock> on_device(std::span<const T> values) {
  auto block = device_memory(values.size_bytes());
  EPOCHD_CUDA_CHECK(
      cudaMemcpy(block->data(), values.data(), values.size_bytes(), cudaMemcpyHostToDevice));
  return block;
}
template <class T>
T* as(const std::shared_ptr<cuda::DeviceBlock>& block) {
  return reinterpret_cast<T*>(block->data());
}

prover::Fp random_fp();
prover::Fp3 random_fp3();

void add_ceilings();
void add_column_kernels();
void add_chip_kernels();
/// Of fib.elf and sha256.elf in that folder.
void add_fill_kernels(const std::string& guests);

}  // namespace epochd::bench
