#include "bench/serve/kept_pool.hpp"

#include "cuda/prover/cuda_prover.hpp"
#include "daemon/pipeline/local_pool.hpp"

namespace epochd::bench {
namespace {

/// As the daemon's own pool of a device (daemon/pipeline/pools.cpp).
constexpr u32 kReplayThreads = 3;

/// One job's view of a pool that outlives it.
class BorrowedPool : public ProverPool {
 public:
  explicit BorrowedPool(std::shared_ptr<ProverPool> pool) : pool_(std::move(pool)) {}

  u32 capacity() const override { return pool_->capacity(); }
  void submit(std::shared_ptr<const Capsule> capsule, Done done) override {
    pool_->submit(std::move(capsule), std::move(done));
  }
  bool prove_global(const BoundaryStore& boundaries, const RunMemory::Ends& ends,
                    const std::function<void(std::span<const u64>)>& emit,
                    const std::function<bool()>& cancelled) override {
    return pool_->prove_global(boundaries, ends, emit, cancelled);
  }
  ProverUsage usage() const override { return pool_->usage(); }

 private:
  std::shared_ptr<ProverPool> pool_;
};

RunParams params_of(const ProofRequest& request) {
  return {&preset_of(request.protocol.security), request.protocol.epoch_size_log2};
}

}  // namespace

KeptDevicePool::KeptDevicePool(const ProofRequest& request, u32 in_flight)
    : in_flight_(in_flight),
      guest_(request.elf, request.elf_name),
      key_(make_key(guest_, params_of(request), best_isa(), Parallel(request.threads))) {}

DeviceAccess KeptDevicePool::access() {
  DeviceAccess access;
  access.pool = [this](const std::vector<int>&) -> PoolFactory {
    return [this](const PoolJob& job) { return open(job); };
  };
  return access;
}

std::unique_ptr<ProverPool> KeptDevicePool::open(const PoolJob& job) {
  if (!pool_) {
    PoolJob kept = job;
    kept.key = &key_;
    kept.code = &guest_.code();
    auto made = make_cuda_provers(key_, job.params, 0, job.residency, in_flight_);
    if (!made) throw std::runtime_error(made.error().message);
    const LocalPool::Threads threads{kReplayThreads, static_cast<u32>(made->size())};
    pool_ = std::make_shared<LocalPool>(kept, threads, [&] {
      std::unique_ptr<EpochProver> prover = std::move(made->back());
      made->pop_back();
      return prover;
    });
  }
  return std::make_unique<BorrowedPool>(pool_);
}

}  // namespace epochd::bench
