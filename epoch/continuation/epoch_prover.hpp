// Proving an epoch and the global proof, whatever does it: the one interface the pipeline sees of a
// backend. A CPU prover and a CUDA prover of the same key give the same bytes.
#pragma once

#include <memory>
#include <memory_resource>

#include "epoch/continuation/prove_global.hpp"
#include "epoch/continuation/prover_usage.hpp"

namespace epochd {

class EpochProver {
 public:
  virtual ~EpochProver() = default;
  virtual EpochProof prove_epoch(const EpochRecords& records, const ProveHooks& hooks = {}) = 0;
  /// See GlobalProver::prove.
  virtual bool prove_global(const BoundaryStore& boundaries, const RunMemory::Ends& ends,
                            const std::function<void(std::span<const u64>)>& emit,
                            const std::function<bool()>& cancelled = {}) = 0;
  virtual ProverUsage usage() const = 0;
  /// Where the records of an epoch are best put for this prover, which must outlive them.
  virtual std::pmr::memory_resource* record_memory() { return std::pmr::get_default_resource(); }
};

/// Over any backend, which it owns; usage() is the derived class's. Pre: key outlives it.
template <class Backend>
class BackendProver : public EpochProver {
 public:
  EpochProof prove_epoch(const EpochRecords& records, const ProveHooks& hooks) override {
    return epochd::prove_epoch(backend_, key_, params_, records, hooks);
  }
  bool prove_global(const BoundaryStore& boundaries, const RunMemory::Ends& ends,
                    const std::function<void(std::span<const u64>)>& emit,
                    const std::function<bool()>& cancelled) override {
    return GlobalProver<Backend>(backend_, key_, params_, boundaries, ends).prove(emit, cancelled);
  }

 protected:
  template <class... BackendArguments>
  BackendProver(const ProvingKey& key, const RunParams& params, BackendArguments&&... arguments)
      : backend_(std::forward<BackendArguments>(arguments)...), key_(key), params_(params) {}

  Backend backend_;

 private:
  const ProvingKey& key_;
  RunParams params_;
};

}  // namespace epochd
