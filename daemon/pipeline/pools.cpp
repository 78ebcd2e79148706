#include "daemon/pipeline/pools.hpp"

#include "cuda/prover/cuda_prover.hpp"
#include "cuda/session/plan.hpp"
#include "daemon/pipeline/local_pool.hpp"
#include "epoch/continuation/cpu_prover.hpp"

namespace epochd {
namespace {

/// A replay thread makes records of 40 to 90 million cycles a second; a device takes 110.
constexpr u32 kReplayThreadsOfADevice = cuda::kReplayedAhead;

}  // namespace

PoolFactory cpu_pool(Isa isa, const Parallel& parallel) {
  return [isa, &parallel](const PoolJob& job) -> std::unique_ptr<ProverPool> {
    const auto make = [&] { return make_cpu_prover(*job.key, job.params, isa, parallel); };
    return std::make_unique<LocalPool>(job, LocalPool::Threads{1, 1}, make);
  };
}

std::unique_ptr<LocalPool> make_cuda_pool(const PoolJob& job, int device) {
  const u32 most = job.in_flight > 0 ? job.in_flight : kInFlightDefault;
  auto made = make_cuda_provers(*job.key, job.params, device, job.residency, most);
  if (!made) throw std::runtime_error(made.error().message);
  const LocalPool::Threads threads{kReplayThreadsOfADevice, static_cast<u32>(made->size())};
  const auto take = [&] {
    std::unique_ptr<EpochProver> prover = std::move(made->back());
    made->pop_back();
    return prover;
  };
  return std::make_unique<LocalPool>(job, threads, take);
}

PoolFactory cuda_pool(const std::vector<int>& devices) {
  return [device = devices.front()](const PoolJob& job) -> std::unique_ptr<ProverPool> {
    return make_cuda_pool(job, device);
  };
}

}  // namespace epochd
