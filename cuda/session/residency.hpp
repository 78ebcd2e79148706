// Whether a table's trace and extension stay on the device alone, and what happens where they do
// not: the gate, the checks every stage makes before it reads, and the error of a stage that would
// read a host copy that is not there. Host code without CUDA.
#pragma once

#include <array>
#include <stdexcept>
#include <string>

#include "config/residency.hpp"
#include "prover/core/types.hpp"

namespace epochd::cuda {

/// What decides for one table. All true but `has_debug_checks`: the usual case.
struct TableFacts {
  bool is_cuda = false;              ///< the backend proves on a device
  bool is_asked_for = false;         ///< the residency wanted is device-only
  bool has_debug_checks = false;     ///< the host compares traces, so it needs them
  bool fits_plan = false;            ///< the session fits the arena
  bool is_height_supported = false;  ///< by the transforms
  bool has_fill = false;             ///< rows come from records, or the table has counters alone
  bool has_constraints = false;      ///< its chip has a constraint kernel
  bool has_fixed = false;            ///< its fixed columns, if any, are on the device
};

/// The conjunction of every precondition under which all later stages read the device's copy. An
/// epoch is device-only when all its tables' gates hold.
constexpr bool device_only_gate(const TableFacts& f) {
  return f.is_cuda && f.is_asked_for && !f.has_debug_checks && f.fits_plan &&
         f.is_height_supported && f.has_fill && f.has_constraints && f.has_fixed;
}

enum class DeviceStage : u8 { kFill, kExtend, kLogup, kQuotient, kOpen, kDeep, kGather };
inline constexpr std::array<const char*, 7> kDeviceStageNames = {
    "fill", "extend", "logup", "quotient", "open", "deep", "gather"};
constexpr const char* name_of(DeviceStage stage) {
  return kDeviceStageNames[static_cast<size_t>(stage)];
}

/// Whether a stage can work on the device's copy of this table; else it would need the host's.
/// device_only_gate implies it for every stage; a test goes through all facts.
constexpr bool reads_device(DeviceStage stage, const TableFacts& f) {
  if (!f.is_cuda || !f.fits_plan) return false;
  switch (stage) {
    case DeviceStage::kFill:
      return f.has_fill;
    case DeviceStage::kExtend:
      return f.is_height_supported;
    case DeviceStage::kLogup:
    case DeviceStage::kOpen:
    case DeviceStage::kDeep:
    case DeviceStage::kGather:
      return f.has_fixed;
    case DeviceStage::kQuotient:
      return f.has_fixed && f.has_constraints;
  }
  return false;
}

enum class ResidencyErrorKind : u8 {
  kHostTraceEmpty,  ///< a stage would have read a host copy that is not there
  kNoHostPath,      ///< the host copy is there; this stage works on a device only
  kWrongRows,       ///< a debug check: the device's rows differ from the host's
};

/// Ends the epoch: nothing is computed on zeros. Proofs are deterministic, so trying again, or
/// elsewhere, is safe.
class ResidencyError : public std::runtime_error {
 public:
  ResidencyError(ResidencyErrorKind kind, const std::string& table, DeviceStage stage,
                 const std::string& why = "");

  ResidencyErrorKind kind() const { return kind_; }
  const std::string& table() const { return table_; }
  DeviceStage stage() const { return stage_; }

 private:
  ResidencyErrorKind kind_;
  std::string table_;
  DeviceStage stage_;
};

}  // namespace epochd::cuda
