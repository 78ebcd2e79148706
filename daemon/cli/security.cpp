// epoch security: how many bits each preset stands for, round by round.
#include "prover/security/bits.hpp"

#include <cmath>

#include "daemon/cli/command.hpp"
#include "daemon/pipeline/engine_prover.hpp"

namespace epochd {
namespace {

/// An infinite number of bits (a round without error) has no JSON number.
nlohmann::json bits(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

nlohmann::json to_json(const prover::Preset& preset) {
  const std::vector<prover::Row> rows = prover::security_table(preset);
  nlohmann::json list = nlohmann::json::array();
  for (const prover::Row& row : rows) {
    list.push_back({{"round", row.round},
                    {"unique_decoding_bits", bits(row.unique_decoding_bits)},
                    {"johnson_bits", bits(row.johnson_bits)},
                    {"is_round", row.is_round}});
  }
  return {{"preset", preset.name},
          {"target_bits", preset.target_bits},
          {"rounds", list},
          {"minimum_bits", bits(prover::minimum(rows).unique_decoding_bits)},
          {"sum_bits", bits(prover::sum(rows).unique_decoding_bits)}};
}

ExitCode security(const Session& session, const std::optional<SecurityPreset>& chosen) {
  nlohmann::json list = nlohmann::json::array();
  std::string text;
  for (size_t i = 0; i < kSecurityPresetNames.size(); ++i) {
    const SecurityPreset preset = static_cast<SecurityPreset>(i);
    // The test preset claims nothing; its table is shown when asked for.
    if (chosen ? preset != *chosen : preset == SecurityPreset::kTest) continue;
    list.push_back(to_json(preset_of(preset)));
    text += (text.empty() ? "" : "\n") + prover::render_security(preset_of(preset));
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  session.answer({{"presets", list}}, text);
  return ExitCode::kOk;
}

}  // namespace

void add_security_command(CLI::App& app, Session& session) {
  const auto preset = std::make_shared<std::optional<SecurityPreset>>();
  CLI::App* command =
      add_subcommand(app, session, "security", "Show the bits of security of the presets",
                     [&session, preset] { return security(session, *preset); });
  command
      ->add_option_function<std::string>(
          "--preset",
          [preset](const std::string& name) {
            const auto index = parse_choice(name, kSecurityPresetNames);
            if (!index) {
              throw CLI::ValidationError(
                  "--preset",
                  "must be " + join_choices(kSecurityPresetNames) + ", not '" + name + "'");
            }
            *preset = static_cast<SecurityPreset>(*index);
          },
          "Only this one: proven100, proven128, proven128-fast or test")
      ->type_name("");
}

}  // namespace epochd
