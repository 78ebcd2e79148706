// A prover on a device whose work is checked: every epoch proof is verified before it is handed on.
// What fails or does not verify is done once more on the device, and then, where that is allowed,
// on the fallback, counted and said in the log.
#pragma once

#include <optional>

#include "epoch/continuation/epoch_prover.hpp"

namespace epochd {

class ResilientProver : public EpochProver {
 public:
  using Factory = std::function<std::unique_ptr<EpochProver>()>;
  /// Is it a proof of the epoch being proved?
  using Verify = std::function<bool(const EpochProof&)>;

  /// `make_fallback` is empty where only the device may prove, and is called when first needed.
  /// Errors: JobError(kGpu) when make_device throws and there is no fallback.
  ResilientProver(const Factory& make_device, Factory make_fallback, Verify verify);

  /// Errors: JobError(kGpu) when the device failed twice and there is no fallback. JobError,
  /// IoError and std::bad_alloc are not the device's doing and pass through.
  EpochProof prove_epoch(const EpochRecords& records, const ProveHooks& hooks) override;
  /// As above. Only the bundle's verification checks these proofs.
  bool prove_global(const BoundaryStore& boundaries, const RunMemory::Ends& ends,
                    const std::function<void(std::span<const u64>)>& emit,
                    const std::function<bool()>& cancelled) override;
  /// The device's, with the counters epoch_retry (second attempts on the device),
  /// self_verify_failed (its epoch proofs that did not verify) and fallback (proofs, the global one
  /// included, that the fallback made).
  ProverUsage usage() const override;
  std::pmr::memory_resource* record_memory() override;

 private:
  /// Runs `work`, which says whether its result is good, on the device until it is, twice at most.
  bool try_device(const std::string& what, const std::function<bool(EpochProver&)>& work);
  EpochProver& fall_back(const std::string& what);

  std::unique_ptr<EpochProver> device_;  ///< null: it could not be made
  Factory make_fallback_;
  std::unique_ptr<EpochProver> fallback_;
  Verify verify_;
  std::string why_;  ///< the device's last failure
  u64 device_proofs_ = 0;
  u64 retries_ = 0;
  u64 verify_failures_ = 0;
  u64 fallbacks_ = 0;
};

}  // namespace epochd
