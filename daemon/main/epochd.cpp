#include "daemon/main/epochd.hpp"

#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <exception>
#include <iostream>

#include "daemon/host/version.hpp"
#include "daemon/log/log.hpp"
#include "daemon/main/daemon.hpp"
#include "daemon/queue/reason.hpp"

namespace epochd {
namespace {

/// Said to whoever looks at the service, too: the log may be elsewhere, or long.
int fail(ServiceManager& manager, ExitCode code, const std::string& message) {
  manager.status(message);
  if (code == ExitCode::kUsage) {  // file:line:column: message, for editors
    std::cerr << (log::is_journal() ? "<3>" : "") << message << std::endl;
  } else {
    log::error("epochd cannot run", {{"why", message}});
  }
  return static_cast<int>(code);
}

Environment load_environment() {
  const auto environment = parse_environment(std::getenv);
  if (!environment) throw UsageError(to_text(environment.error()));
  return *environment;
}

/// Settings that no job could be proved with are refused before the queue is touched. Returns the
/// devices that were seen on the way.
std::vector<DeviceInfo> check_backend(const DaemonSettings& settings, const DeviceQuery& devices) {
  std::vector<DeviceInfo> seen;
  const DeviceQuery query = [&] {
    auto found = devices();
    if (found) seen = *found;
    return found;
  };
  try {
    const BackendChoice choice = choose_backend(settings.backend, query, settings.devices);
    if (!choice.fallback.empty()) {
      log::warn("proving on the CPU although a device is preferred", {{"why", choice.fallback}});
    }
  } catch (const JobError& error) {
    if (error.reason() == Reason::kInput) throw UsageError(error.what());
    throw;
  }
  return seen;
}

ExitCode serve(const DaemonOptions& options, JobProverFactory make_prover,
               const DeviceQuery& devices, const SettingsCheck& check, ServiceManager& manager) {
  FileSystem fs;
  auto config = load_config(fs, options.config, options.queue);
  if (!config) throw UsageError(config.error());
  const Environment environment = load_environment();
  log::configure(config->daemon.log.level, config->daemon.log.format);
  if (const auto why = check ? check(*config, environment) : std::nullopt) {
    throw UsageError(options.config + ": " + *why);
  }
  std::vector<DeviceInfo> seen = check_backend(config->daemon, devices);
  Daemon daemon(options, *std::move(config), environment, std::move(make_prover), std::move(seen),
                manager);
  return daemon.run();
}

}  // namespace

int run_epochd(int argc, const char* const* argv, JobProverFactory make_prover,
               const DeviceQuery& devices, const SettingsCheck& check) {
  ::umask(077);
  Control::block_signals();
  DaemonOptions options;
  CLI::App app{"epochd: prove the jobs dropped into a queue directory", "epochd"};
  app.add_option("--config", options.config, "The settings file")->required();
  app.add_option("--queue", options.queue, "The queue directory, instead of the settings' one");
  app.add_flag("--once", options.once, "Prove what is queued and exit: 0 all done, 1 some failed");
  app.set_version_flag("--version", version_text());
  app.footer(
      "Exit codes: 0 ok; 1 some job failed (--once); 2 usage or configuration; "
      "3 I/O or device failure.\nSIGTERM: finish the running epoch and exit 0; again: end at once. "
      "SIGHUP: read the settings file again. SIGUSR1: write a heap profile.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool is_help = error.get_exit_code() == 0;
    app.exit(error);
    return static_cast<int>(is_help ? ExitCode::kOk : ExitCode::kUsage);
  }
  ServiceManager manager = ServiceManager::from_environment();
  try {
    return static_cast<int>(serve(options, std::move(make_prover), devices, check, manager));
  } catch (const UsageError& error) {
    return fail(manager, ExitCode::kUsage, error.what());
  } catch (const IoError& error) {
    return fail(manager, ExitCode::kIo,
                std::string(error.what()) + "; mend it, or choose another queue with --queue");
  } catch (const std::exception& error) {
    return fail(manager, ExitCode::kIo, error.what());
  }
}

}  // namespace epochd
