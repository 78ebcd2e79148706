// epoch doctor: what is wrong with this machine, and how to mend it.
#include "daemon/cli/command.hpp"
#include "daemon/cli/doctor_checks.hpp"

namespace epochd {
namespace {

constexpr std::array<const char*, 3> kVerdictNames = {"ok", "warn", "fail"};

ExitCode doctor(const Session& session, const std::string& config_file) {
  const std::vector<Check> checks = run_checks(session.environment, config_file);
  nlohmann::json list = nlohmann::json::array();
  std::string text;
  bool is_healthy = true;
  for (const Check& check : checks) {
    const char* verdict = kVerdictNames[static_cast<size_t>(check.verdict)];
    nlohmann::json entry = {
        {"check", check.name}, {"verdict", verdict}, {"finding", check.finding}};
    if (!check.remedy.empty()) entry["remedy"] = check.remedy;
    list.push_back(std::move(entry));
    char name[40];
    std::snprintf(name, sizeof(name), "%-4s  %-13s  ", verdict, check.name.c_str());
    text += name + check.finding + "\n";
    if (!check.remedy.empty()) text += "                     -> " + check.remedy + "\n";
    is_healthy = is_healthy && check.verdict != Verdict::kFail;
  }
  text += is_healthy ? "This machine can prove." : "This machine needs mending first.";
  session.answer({{"healthy", is_healthy}, {"checks", std::move(list)}}, text);
  return is_healthy ? ExitCode::kOk : ExitCode::kIo;
}

}  // namespace

void add_doctor_command(CLI::App& app, Session& session) {
  const auto config = std::make_shared<std::string>();
  CLI::App* command =
      add_subcommand(app, session, "doctor", "Look for what would keep this machine from proving",
                     [&session, config] { return doctor(session, *config); });
  command->add_option("--config", *config, "Check this settings file and its queue as well");
}

}  // namespace epochd
