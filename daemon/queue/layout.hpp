// The names in a queue directory. They are a contract with whoever drops and collects jobs.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "daemon/queue/file_system.hpp"

namespace epochd {

/// Where a job is. The order is the order in which a move can leave them.
enum class Place : u8 { kIncoming, kHold, kActive, kDone, kFailed, kQuarantine, kCancelled };
constexpr std::array<std::string_view, 7> kPlaceNames = {
    "incoming", "hold", "active", "done", "failed", "quarantine", "cancelled"};
constexpr std::string_view kTmpName = "tmp";
constexpr std::string_view kLockName = "lock";

inline Path place_path(const Path& root, Place place) {
  return root / kPlaceNames[static_cast<size_t>(place)];
}

// Files of a job directory. The submitter's:
constexpr std::string_view kJobFile = "job.yaml";
constexpr std::string_view kProgramFile = "program.elf";
constexpr std::string_view kInputFile = "input";
// ... its answer:
constexpr std::string_view kBundleFile = "bundle.proof";
constexpr std::string_view kResultFile = "result.json";
constexpr std::string_view kReasonFile = "reason.json";
// ... and what the daemon keeps while it works:
constexpr std::string_view kAttemptsFile = "attempts.json";
constexpr std::string_view kRunningFile = "running";  ///< holds the number of the attempt under way
constexpr std::string_view kStateFile = "state.json";
constexpr std::string_view kCancelFile = "cancel";  ///< put there by `epoch cancel`
constexpr std::string_view kEpochsName = "epochs";

/// Lone NAME.elf files become job directories in tmp/ under this prefix.
constexpr std::string_view kIntakePrefix = ".intake-";

}  // namespace epochd
