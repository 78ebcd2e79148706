#include "daemon/pipeline/resilient_prover.hpp"

#include <algorithm>
#include <new>

#include "daemon/log/log.hpp"
#include "daemon/queue/io_error.hpp"
#include "daemon/queue/reason.hpp"

namespace epochd {
namespace {

constexpr u32 kDeviceAttempts = 2;

}  // namespace

ResilientProver::ResilientProver(const Factory& make_device, Factory make_fallback, Verify verify)
    : make_fallback_(std::move(make_fallback)), verify_(std::move(verify)) {
  try {
    device_ = make_device();
  } catch (const std::exception& error) {
    if (!make_fallback_) throw JobError(Reason::kGpu, error.what());
    why_ = error.what();
    log::warn("no CUDA device proves this job; the CPU does", {{"why", why_}});
  }
}

bool ResilientProver::try_device(const std::string& what,
                                 const std::function<bool(EpochProver&)>& work) {
  for (u32 attempt = 1; device_ && attempt <= kDeviceAttempts; ++attempt) {
    if (attempt > 1) ++retries_;
    try {
      if (work(*device_)) {
        ++device_proofs_;
        return true;
      }
      ++verify_failures_;
      why_ = "its proof of " + what + " does not verify";
    } catch (const JobError&) {
      throw;
    } catch (const IoError&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      why_ = error.what();
    }
    log::warn("the device failed", {{"at", what}, {"attempt", attempt}, {"why", why_}});
  }
  return false;
}

EpochProver& ResilientProver::fall_back(const std::string& what) {
  if (!make_fallback_) {
    throw JobError(Reason::kGpu, "the device failed twice at " + what + ": " + why_ +
                                     "; look at the driver's log, or allow the CPU with the "
                                     "backend cuda-preferred (--backend auto)");
  }
  if (device_) log::error("the CPU proves what the device could not", {{"what", what}});
  if (!fallback_) fallback_ = make_fallback_();
  ++fallbacks_;
  return *fallback_;
}

EpochProof ResilientProver::prove_epoch(const EpochRecords& records, const ProveHooks& hooks) {
  const std::string what = "epoch " + std::to_string(records.public_values.label);
  EpochProof proof;
  const bool is_proved = try_device(what, [&](EpochProver& device) {
    proof = device.prove_epoch(records, hooks);
    return verify_(proof);
  });
  return is_proved ? proof : fall_back(what).prove_epoch(records, hooks);
}

bool ResilientProver::prove_global(const BoundaryStore& boundaries, const RunMemory::Ends& ends,
                                   const std::function<void(std::span<const u64>)>& emit,
                                   const std::function<bool()>& cancelled) {
  const std::string what = "the global proof";
  // What has been emitted cannot be taken back. Provers of one key give the same words, so another
  // attempt goes on after those.
  u64 emitted = 0;
  bool is_complete = false;
  const auto work = [&](EpochProver& prover) {
    u64 known = emitted;
    is_complete = prover.prove_global(
        boundaries, ends,
        [&](std::span<const u64> words) {
          const u64 skipped = std::min<u64>(known, words.size());
          known -= skipped;
          words = words.subspan(skipped);
          if (words.empty()) return;
          emit(words);
          emitted += words.size();
        },
        cancelled);
    return true;
  };
  if (!try_device(what, work)) work(fall_back(what));
  return is_complete;
}

ProverUsage ResilientProver::usage() const {
  ProverUsage usage;
  if (device_) usage = device_->usage();
  if (!device_ || (device_proofs_ == 0 && fallbacks_ > 0)) {
    usage.backend = fallback_ ? fallback_->usage().backend : "cpu";
  }
  usage.counters["epoch_retry"] = retries_;
  usage.counters["self_verify_failed"] = verify_failures_;
  usage.counters["fallback"] = fallbacks_;
  if (!device_ || fallbacks_ > 0) usage.fallback = why_;
  return usage;
}

std::pmr::memory_resource* ResilientProver::record_memory() {
  return device_ ? device_->record_memory() : std::pmr::get_default_resource();
}

}  // namespace epochd
