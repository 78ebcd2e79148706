#include "daemon/worker/kept_pool.hpp"

#include "daemon/log/log.hpp"
#include "daemon/pipeline/guest.hpp"
#include "prover/core/cpu_features.hpp"
#include "prover/core/parallel.hpp"

namespace epochd {
namespace {

/// A job's use of the pool.
class Lease : public ProverPool {
 public:
  explicit Lease(LocalPool& pool) : pool_(pool) {}
  ~Lease() override { pool_.finish(); }

  u32 capacity() const override { return pool_.capacity(); }
  void submit(std::shared_ptr<const Capsule> capsule, Done done) override {
    pool_.submit(std::move(capsule), std::move(done));
  }
  bool prove_global(const BoundaryStore& boundaries, const RunMemory::Ends& ends,
                    const std::function<void(std::span<const u64>)>& emit,
                    const std::function<bool()>& cancelled) override {
    return pool_.prove_global(boundaries, ends, emit, cancelled);
  }
  ProverUsage usage() const override { return pool_.usage(); }

 private:
  LocalPool& pool_;
};

}  // namespace

/// A program made ready to be proved.
struct KeptPool::Program {
  explicit Program(const OpenRequest& request)
      : elf(request.elf),
        preset(request.params.preset),
        guest(elf, request.elf_name),
        key(make_key(guest, request.params, best_isa(), Parallel(request.threads))) {}
  bool is_for(const OpenRequest& request) const {
    return preset == request.params.preset && elf == request.elf;
  }

  Bytes elf;
  const prover::Preset* preset;
  Guest guest;
  ProvingKey key;
};

KeptPool::KeptPool(MakePool make) : make_(std::move(make)) {}
KeptPool::~KeptPool() = default;

bool KeptPool::suits(const OpenRequest& request) const {
  return settings_.device == request.device && settings_.params.preset == request.params.preset &&
         settings_.params.epoch_size_log2 == request.params.epoch_size_log2 &&
         settings_.residency == request.residency && settings_.in_flight == request.in_flight;
}

/// Gives the kept pool the job. False: it does not take it.
bool KeptPool::take(const PoolJob& job) {
  try {
    return pool_->rekey(job);
  } catch (const std::exception& error) {
    log::warn("the provers there are do not take another program; making new ones",
              {{"why", error.what()}});
    return false;
  }
}

std::shared_ptr<ProverPool> KeptPool::open(const OpenRequest& request) {
  if (pool_ && !suits(request)) release();
  std::unique_ptr<Program> old;  // its key is the pool's until that has another
  if (!program_ || !program_->is_for(request)) {
    auto fresh = std::make_unique<Program>(request);
    old = std::exchange(program_, std::move(fresh));
  }
  const PoolJob job{request.elf,    request.elf_name,  &program_->key,   &program_->guest.code(),
                    request.params, request.residency, request.in_flight};
  if (!pool_ || !take(job)) {
    pool_.reset();
    pool_ = make_(job, request.device);
    settings_ = {request.device, request.params, request.residency, request.in_flight};
  }
  return std::make_shared<Lease>(*pool_);
}

void KeptPool::release() {
  pool_.reset();
  program_.reset();
}

}  // namespace epochd
