// epoch check-config: is this settings file, or job file, right?
#include "daemon/cli/command.hpp"
#include "daemon/pipeline/budgets.hpp"

namespace epochd {
namespace {

struct CheckOptions {
  std::string file;
  bool is_job = false;
};

nlohmann::json to_json(const Diagnostics& findings) {
  nlohmann::json list = nlohmann::json::array();
  for (const Diagnostic& finding : findings) {
    list.push_back({{"file", finding.file},
                    {"line", finding.line},
                    {"column", finding.column},
                    {"message", finding.message}});
  }
  return list;
}

/// As a starting epochd checks them.
Diagnostics check_settings(const Environment& environment, const std::string& file,
                           const std::string& text) {
  const auto parsed = parse_config(file, text);
  if (!parsed) return parsed.error();
  const auto refusal = budget_refusal(*parsed, environment);
  return refusal ? Diagnostics{{file, 0, 0, *refusal}} : Diagnostics{};
}

Diagnostics check(FileSystem& fs, const Environment& environment, const CheckOptions& options) {
  // A job file carries its kind in its name; --job says so for any other.
  const bool is_job = options.is_job || Path(options.file).filename() == "job.yaml";
  const Bytes bytes = fs.read_prefix(options.file, kConfigBytesMax + 1, Links::kFollow);
  const std::string text(bytes.begin(), bytes.end());
  if (is_job) {
    const auto parsed = parse_job(options.file, text);
    return parsed ? Diagnostics{} : parsed.error();
  }
  return check_settings(environment, options.file, text);
}

ExitCode check_config(const Session& session, const CheckOptions& options) {
  FileSystem fs;
  const Diagnostics findings = check(fs, session.environment, options);
  const bool is_good = findings.empty();
  session.answer({{"file", options.file}, {"valid", is_good}, {"findings", to_json(findings)}},
                 is_good ? options.file + ": valid" : to_text(findings));
  return is_good ? ExitCode::kOk : ExitCode::kUsage;
}

}  // namespace

void add_check_config_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<CheckOptions>();
  CLI::App* command =
      add_subcommand(app, session, "check-config", "Validate a settings file, or a job.yaml",
                     [&session, options] { return check_config(session, *options); });
  command->add_option("file", options->file, "The file to check")->required();
  command->add_flag("--job", options->is_job, "It is a job file");
}

}  // namespace epochd
