// The settings file, the job file and the environment: from text to plain structs.
// Precedence: command flag, job file, environment, config file, default.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/daemon_settings.hpp"
#include "config/diagnostic.hpp"
#include "config/job_spec.hpp"
#include "config/protocol_settings.hpp"
#include "config/schema.hpp"
#include "prover/core/result.hpp"

namespace epochd {

struct Config {
  ProtocolSettings protocol;
  DaemonSettings daemon;

  bool operator==(const Config&) const = default;
};

constexpr size_t kConfigBytesMax = 1 << 20;
constexpr size_t kJobFileBytesMax = 1 << 16;

Schema config_schema(Config& target);
Schema job_schema(JobSpec& target);

/// `file` is only a name for messages. Errors: every finding of read_yaml, and a text that is too
/// long.
Result<Config, Diagnostics> parse_config(const std::string& file, const std::string& text);
Result<JobSpec, Diagnostics> parse_job(const std::string& file, const std::string& text);
/// The job file that parse_job reads back to the same spec. Pre: the spec's texts are printable.
std::string job_yaml(const JobSpec& spec);

/// Settings that a running daemon cannot take over: those of them that differ.
std::vector<std::string> keys_fixed_while_running(const Config& running, const Config& wanted);
/// `wanted`, but for those settings, which stay as they are.
Config with_fixed_settings_of(const Config& running, Config wanted);

/// The environment variables users of the benchmarks know.
struct Environment {
  ProtocolOverrides protocol;               ///< EPOCH_SIZE_LOG2, CONTINUATIONS
  std::optional<u32> tx_count;              ///< TX_COUNT: transfers in the ledger workload
  std::vector<std::string> bench_features;  ///< BENCH_FEATURES: words joined by commas or spaces
};

/// Looks a variable up; nullptr when it is unset. An empty value counts as unset.
using GetEnv = std::function<const char*(const char* name)>;
Result<Environment, Diagnostics> parse_environment(const GetEnv& get_env);

/// Layers from the weakest (the config file's value) to the strongest (the command's flags).
ProtocolSettings resolve_protocol(const ProtocolSettings& config_file,
                                  const Environment& environment, const ProtocolOverrides& job_file,
                                  const ProtocolOverrides& flags);

}  // namespace epochd
