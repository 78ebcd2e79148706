#include "daemon/cli/command.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "config/edit_distance.hpp"
#include "daemon/host/version.hpp"
#include "daemon/log/log.hpp"
#include "daemon/queue/lock.hpp"
#include "daemon/queue/reason.hpp"
#include "daemon/queue/steer.hpp"

namespace epochd {
namespace {

::mode_t users_umask = 077;

constexpr const char* kFooter =
    "Exit codes: 0 ok; 1 the answer is no (invalid proof, guest fault, failed job); "
    "2 usage or configuration; 3 I/O or device failure.\n"
    "Environment: EPOCH_SIZE_LOG2, CONTINUATIONS, TX_COUNT, BENCH_FEATURES, NO_COLOR.";

std::string dump(const nlohmann::json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

int report(const Session& session, ExitCode code, const std::string& message) {
  std::cerr << "epoch: " << message << std::endl;
  const int number = static_cast<int>(code);
  if (session.is_json) {
    nlohmann::json answer = session.failure;
    answer["error"] = message;
    answer["exit_code"] = number;
    std::cout << dump(answer) << std::endl;
  }
  return number;
}

/// What CLI11 has no words for: a command that does not exist.
std::optional<std::string> unknown_command(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  const bool is_known = std::find(names.begin(), names.end(), word) != names.end();
  if (is_known || word.empty() || word.front() == '-') return std::nullopt;
  const std::string nearest = nearest_word(word, names);
  return "there is no command '" + word + "'; " +
         (nearest.empty() ? "`epoch --help` lists them" : "did you mean '" + nearest + "'?");
}

/// A job's reason as the exit code of a command.
ExitCode exit_code_of(Reason reason) {
  switch (reason) {
    case Reason::kInput:
      return ExitCode::kUsage;
    case Reason::kGuestFault:
    case Reason::kCycleLimit:
    case Reason::kTimeout:
      return ExitCode::kNo;
    case Reason::kGpu:
    case Reason::kMemory:
    case Reason::kIo:
    case Reason::kInternal:
      return ExitCode::kIo;
  }
  return ExitCode::kIo;
}

int run_action(const Session& session) {
  try {
    const ExitCode code = session.action();
    std::cout.flush();
    if (!std::cout) return report(session, ExitCode::kIo, "cannot write to stdout");
    return static_cast<int>(code);
  } catch (const UsageError& error) {
    return report(session, ExitCode::kUsage, error.what());
  } catch (const NotAQueue& error) {
    return report(session, ExitCode::kUsage, error.what());
  } catch (const NegativeAnswer& error) {
    return report(session, ExitCode::kNo, error.what());
  } catch (const JobError& error) {
    return report(session, exit_code_of(error.reason()), error.what());
  } catch (const std::bad_alloc&) {
    return report(session, ExitCode::kIo,
                  "out of memory; free some, or choose a smaller EPOCH_SIZE_LOG2");
  } catch (const std::exception& error) {  // IoError among them
    return report(session, ExitCode::kIo, error.what());
  }
}

}  // namespace

void Session::answer(const nlohmann::json& json, const std::string& text) const {
  std::cout << (is_json ? dump(json) : text) << std::endl;
}

void share_as_umask_allows(const Path& path) {
  constexpr ::mode_t kEverybody = 0666;
  if (::chmod(path.c_str(), kEverybody & ~users_umask) != 0) throw IoError("chmod", path, errno);
}

CLI::App* add_subcommand(CLI::App& app, Session& session, const std::string& name,
                         const std::string& description, std::function<ExitCode()> run) {
  CLI::App* command = app.add_subcommand(name, description);
  command->add_flag("--json", session.is_json, "Print one JSON object on stdout");
  command->footer(kFooter);
  command->callback([&session, run = std::move(run)] { session.action = run; });
  return command;
}

int run_epoch_command(int argc, const char* const* argv) {
  users_umask = ::umask(077);
  Session session;
  CLI::App app{"epoch: prove runs of RISC-V programs, epoch by epoch, and verify the proofs",
               "epoch"};
  app.footer(kFooter);
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text());
  add_execute_command(app, session);
  add_prove_command(app, session);
  add_prove_capsule_command(app, session);
  add_assemble_command(app, session);
  add_verify_command(app, session);
  add_setup_command(app, session);
  add_inspect_command(app, session);
  add_security_command(app, session);
  add_submit_command(app, session);
  add_status_command(app, session);
  add_steering_commands(app, session);
  add_drain_command(app, session);
  add_check_config_command(app, session);
  add_doctor_command(app, session);
  if (argc > 1) {
    const auto unknown = unknown_command(app, argv[1]);
    if (unknown) return report(session, ExitCode::kUsage, *unknown);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    return report(session, ExitCode::kUsage, std::string(error.what()) + "; see --help");
  }
  const auto environment = parse_environment(std::getenv);
  if (!environment) return report(session, ExitCode::kUsage, to_text(environment.error()));
  session.environment = *environment;
  const int code = run_action(session);
  log::tell_left_out(true);
  return code;
}

}  // namespace epochd
