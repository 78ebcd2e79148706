// Flags that several commands share.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "config/job_spec.hpp"

namespace epochd {

/// --epoch-size-log2, --no-continuations, --security
void add_protocol_options(CLI::App& command, ProtocolOverrides& target);
/// --epoch-size-log2
void add_epoch_size_option(CLI::App& command, ProtocolOverrides& target);
/// --security
void add_security_option(CLI::App& command, std::optional<SecurityPreset>& target);
void add_security_option(CLI::App& command, SecurityPreset& target);
/// --backend auto|cpu|cuda, --residency
void add_backend_options(CLI::App& command, std::optional<BackendPolicy>& backend,
                         std::optional<Residency>& residency);
/// --max-cycles
void add_cycle_limit_option(CLI::App& command, std::optional<u64>& target);
/// --threads; 0: one per hardware thread
void add_threads_option(CLI::App& command, u32& target);

}  // namespace epochd
