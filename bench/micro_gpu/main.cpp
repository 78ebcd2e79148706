// gpu_kernels_bench: every kernel of a proof but filling and counting, which need real records
// (epoch-gpu-stages times those), on a CUDA device.
#include "bench/micro_gpu/timing.hpp"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  epochd::bench::add_ceilings();
  epochd::bench::add_column_kernels();
  epochd::bench::add_chip_kernels();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
