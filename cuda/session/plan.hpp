// What proving takes of a device for a size of epoch, whatever runs: allocated once, never
// exceeded. Host code without CUDA, so that it can be told where there is no device.
#pragma once

#include <string>
#include <vector>

#include "config/residency.hpp"
#include "epoch/continuation/setup.hpp"
#include "epoch/continuation/worst_epoch.hpp"

namespace epochd::cuda {

/// What of a program a plan depends on.
struct PlannedProgram {
  ProgramSize size;
  u64 text_words = u64{1} << 16;  ///< from the first to the last instruction

  static PlannedProgram of(const ProvingKey& key);
  /// The larger of each.
  PlannedProgram at_least(const PlannedProgram& other) const;
  /// Whether a plan for this one serves `other`.
  bool covers(const PlannedProgram& other) const;
};

/// Units: bytes of device memory unless said otherwise. In every field the most there can be.
struct CudaPlan {
  // One a prover.
  u64 epoch_bytes = 0;       ///< the session of an epoch
  u64 global_bytes = 0;      ///< the session of a sub-proof of the global proof
  u64 descriptor_bytes = 0;  ///< small arrays that kernels read
  u64 staging_bytes = 0;     ///< page-locked host memory that small copies go through
  u64 record_bytes = 0;      ///< page-locked host memory for the records of its epochs
  u64 mirror_bytes = 0;      ///< page-locked host memory for the mirror; none if device-only
  // Shared by all provers of one device and program.
  u64 table_bytes = 0;             ///< twiddles and points
  u64 fixed_bytes = 0;             ///< fixed trees
  std::vector<u32> table_heights;  ///< with twiddles of their own
  u32 log_blowup = 0;
  u32 log_domain_max = 0;  ///< of any session

  /// An epoch and a sub-proof take turns.
  u64 arena_bytes() const { return epoch_bytes > global_bytes ? epoch_bytes : global_bytes; }
  u64 prover_bytes() const { return arena_bytes() + descriptor_bytes; }
  u64 device_bytes(u32 provers = 1) const {
    return table_bytes + fixed_bytes + provers * prover_bytes();
  }
  u64 pinned_bytes() const { return staging_bytes + record_bytes + mirror_bytes; }
};

/// Epochs whose records are made while as many are proved as there are provers.
inline constexpr u32 kReplayedAhead = 3;

/// Page-locked memory of each of so many provers, for the records of all epochs that are proved and
/// replayed. An epoch's are at most 56 bytes a cycle (a misaligned access takes 72, and the area of
/// two cycles); tables that grow take up to three times that, and leave gaps. A test fills it with
/// epochs of changing mixes. What would not fit goes to the heap, and is counted.
u64 record_bytes(const RunParams& params, u32 provers);

/// Pre: 10 <= params.epoch_size_log2 <= 26; for one prover. An upper bound over all epochs the area
/// cap lets through; a test holds sessions of many against it.
CudaPlan plan_cuda(const RunParams& params, Residency residency = Residency::kDeviceOnly,
                   const PlannedProgram& program = {});

/// Left to the driver on a device: kernels' code and stacks.
inline constexpr u64 kDriverBytes = u64{256} << 20;

/// Provers of one key that fit in this much free device memory; 0: not even one.
u32 in_flight_max(const CudaPlan& plan, u64 free_bytes);

/// Device memory of one prover by EPOCH_SIZE_LOG2, in words: "2^16 1.7, 2^17 ... GiB".
std::string describe_plans(const prover::Preset& preset, Residency residency);

/// Why a prover does not fit, in numbers, and what would. Pre: it does not.
std::string plan_refusal(const RunParams& params, Residency residency,
                         const PlannedProgram& program, u64 free_bytes);

}  // namespace epochd::cuda
