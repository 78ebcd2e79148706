// How a command of `epoch` is made: it adds its subcommand to the parser and, when chosen, runs and
// returns an exit code. Errors travel as exceptions to the one place that turns them into words and
// a code.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "config/config.hpp"
#include "daemon/cli/exit_code.hpp"
#include "daemon/queue/file_system.hpp"

namespace epochd {

/// What every command has at hand.
struct Session {
  bool is_json = false;  ///< --json: one object on stdout
  Environment environment;
  std::function<ExitCode()> action;  ///< the chosen command
  nlohmann::json failure =
      nlohmann::json::object();  ///< what a failed command's object has besides

  /// Prints the answer: the object with --json, the text otherwise (with a newline after it).
  void answer(const nlohmann::json& json, const std::string& text) const;
};

/// Gives a file the user asked for the mode the user's umask allows; all others stay private.
void share_as_umask_allows(const Path& path);

/// Adds a subcommand with --json; `run` is called after parsing.
CLI::App* add_subcommand(CLI::App& app, Session& session, const std::string& name,
                         const std::string& description, std::function<ExitCode()> run);

void add_execute_command(CLI::App& app, Session& session);
void add_prove_command(CLI::App& app, Session& session);
void add_prove_capsule_command(CLI::App& app, Session& session);
void add_assemble_command(CLI::App& app, Session& session);
void add_verify_command(CLI::App& app, Session& session);
void add_setup_command(CLI::App& app, Session& session);
void add_inspect_command(CLI::App& app, Session& session);
void add_security_command(CLI::App& app, Session& session);
void add_submit_command(CLI::App& app, Session& session);
void add_status_command(CLI::App& app, Session& session);
void add_steering_commands(CLI::App& app, Session& session);
void add_drain_command(CLI::App& app, Session& session);
void add_check_config_command(CLI::App& app, Session& session);
void add_doctor_command(CLI::App& app, Session& session);

/// Parses, runs, reports. The body of main.
int run_epoch_command(int argc, const char* const* argv);

}  // namespace epochd
