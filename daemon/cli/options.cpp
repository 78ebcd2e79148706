#include "daemon/cli/options.hpp"

#include "config/schema.hpp"

namespace epochd {
namespace {

/// An option whose value goes through the same parser and the same words as a settings key.
void add_key_option(CLI::App& command, const std::string& flag, Key key, const std::string& help) {
  command
      .add_option_function<std::string>(
          flag,
          [flag, key = std::move(key)](const std::string& text) {
            const auto wrong = key.assign({text, false});
            if (wrong) {
              throw CLI::ValidationError(flag, "must be " + key.takes + ", not '" + text + "'");
            }
          },
          help)
      ->type_name("");
}

constexpr const char* kSecurityHelp =
    "Parameter set: proven100 (default), proven128, proven128-fast or test";
constexpr std::array<std::string_view, 3> kBackendFlagNames = {"auto", "cpu", "cuda"};
constexpr std::array<BackendPolicy, 3> kBackendFlagPolicies = {
    BackendPolicy::kCudaPreferred, BackendPolicy::kCpu, BackendPolicy::kCudaRequired};

}  // namespace

void add_epoch_size_option(CLI::App& command, ProtocolOverrides& target) {
  add_key_option(command, "--epoch-size-log2",
                 integer_key("", target.epoch_size_log2, kEpochSizeLog2Min, kEpochSizeLog2Max),
                 "An epoch is 2^N cycles (5 to 26; default 20)");
}

void add_security_option(CLI::App& command, std::optional<SecurityPreset>& target) {
  add_key_option(command, "--security",
                 choice_key<SecurityPreset>("", target, kSecurityPresetNames), kSecurityHelp);
}

void add_security_option(CLI::App& command, SecurityPreset& target) {
  add_key_option(command, "--security",
                 choice_key<SecurityPreset>("", target, kSecurityPresetNames), kSecurityHelp);
}

void add_protocol_options(CLI::App& command, ProtocolOverrides& target) {
  add_epoch_size_option(command, target);
  command.add_flag_callback(
      "--no-continuations", [&target] { target.continuations = false; },
      "Prove the whole run as one epoch");
  add_security_option(command, target.security);
}

void add_backend_options(CLI::App& command, std::optional<BackendPolicy>& backend,
                         std::optional<Residency>& residency) {
  const auto store = [&backend](size_t index) { backend = kBackendFlagPolicies[index]; };
  add_key_option(command, "--backend", make_choice_key("", kBackendFlagNames, store),
                 "Where to prove: auto (a device if there is one, default), cpu or cuda");
  add_key_option(command, "--residency", choice_key<Residency>("", residency, kResidencyNames),
                 "On CUDA: device-only, or host-mirror to compare with copies");
}

void add_cycle_limit_option(CLI::App& command, std::optional<u64>& target) {
  add_key_option(command, "--max-cycles",
                 integer_key("", target, 1, static_cast<i64>(kCycleLimitMax)),
                 "Give up when the program has not exited after N cycles");
}

void add_threads_option(CLI::App& command, u32& target) {
  command.add_option("--threads", target, "CPU threads; default: one per hardware thread")
      ->check(CLI::Range(0, 1024));
}

}  // namespace epochd
