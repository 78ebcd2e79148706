// A queue that is not to be worked on: the file `drain` in its directory. A daemon on it finishes
// or checkpoints the running epoch and ends; one that is started ends at once. It works whether or
// not a daemon runs, and lasts until it is withdrawn.
#pragma once

#include "daemon/queue/layout.hpp"

namespace epochd {

constexpr std::string_view kDrainFile = "drain";

/// False when it was so already. Durable when it returns. Errors: IoError.
bool request_drain(FileSystem& fs, const Path& root);
/// False when it was not drained. Durable when it returns. Errors: IoError.
bool withdraw_drain(FileSystem& fs, const Path& root);
/// Errors: IoError.
bool is_drained(FileSystem& fs, const Path& root);

}  // namespace epochd
