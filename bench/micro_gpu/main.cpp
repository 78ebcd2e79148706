// gpu_kernels_bench: every kernel of a proof on a CUDA device, but counting lookups, which
// epoch-gpu-stages times with filling. The guests whose records are filled from are in the folder
// GUESTS says, or where the build put them.
#include <cstdlib>

#include "bench/micro_gpu/timing.hpp"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  epochd::bench::add_ceilings();
  epochd::bench::add_column_kernels();
  epochd::bench::add_chip_kernels();
  const char* guests = std::getenv("GUESTS");
  epochd::bench::add_fill_kernels(guests != nullptr ? guests : EPOCHD_GUEST_DIR);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
