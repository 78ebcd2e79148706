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
  /// Proves another program from now on, of the same parameters, with what is allocated; what it
  /// held of the old key is let go. False: this prover cannot take it, make another.
  /// Pre: key outlives it, or the next rekey().
  [[nodiscard]] virtual bool rekey(const ProvingKey& key) {
    static_cast<void>(key);
    return false;
  }
  /// Lets go of what it holds of its key; nothing is proved before the next rekey(). For several
  /// provers that share what they hold, and have room for one program.
  virtual void let_go() {}
  /// Where the records of an epoch are best put for this prover, which must outlive them.
  virtual std::pmr::memory_resource* record_memory() { return std::pmr::get_default_resource(); }
};

/// Over any backend, which it owns; usage() is the derived class's. Pre: key outlives it, or the
/// next rekey().
template <class Backend>
class BackendProver : public EpochProver {
 public:
  EpochProof prove_epoch(const EpochRecords& records, const ProveHooks& hooks) override {
    return epochd::prove_epoch(backend_, *key_, params_, records, hooks);
  }
  bool prove_global(const BoundaryStore& boundaries, const RunMemory::Ends& ends,
                    const std::function<void(std::span<const u64>)>& emit,
                    const std::function<bool()>& cancelled) override {
    return GlobalProver<Backend>(backend_, *key_, params_, boundaries, ends).prove(emit, cancelled);
  }
  bool rekey(const ProvingKey& key) override {
    if (key.vk.preset_id != params_.preset->id) return false;
    key_ = &key;
    return true;
  }

 protected:
  template <class... BackendArguments>
  BackendProver(const ProvingKey& key, const RunParams& params, BackendArguments&&... arguments)
      : backend_(std::forward<BackendArguments>(arguments)...), key_(&key), params_(params) {}

  const RunParams& params() const { return params_; }

  Backend backend_;

 private:
  const ProvingKey* key_;
  RunParams params_;
};

}  // namespace epochd
