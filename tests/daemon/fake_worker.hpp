// What the labels of capsules mean to the scripted worker.
#pragma once

#include <chrono>

#include "prover/core/types.hpp"

namespace epochd {

constexpr u32 kErrorLabel = 101;      ///< an error, and the device works on
constexpr u32 kLostLabel = 102;       ///< an error, and the device is lost
constexpr u32 kAbortLabel = 103;      ///< the process dies without a word
constexpr u32 kHangLabel = 104;       ///< no answer, ever
constexpr u32 kGarbageLabel = 105;    ///< bytes that are no message
constexpr u32 kBadProofLabel = 106;   ///< a message about tag 1 that is no proof
constexpr u32 kStopLabel = 107;       ///< the process stops, and reads nothing either
constexpr u32 kQuietLossLabel = 108;  ///< proved; then the device is lost
constexpr u32 kSlowLabel = 109;       ///< proved, after a while

/// Between two jobs, then it gives up what it kept.
constexpr std::chrono::milliseconds kIdle(100);

}  // namespace epochd
