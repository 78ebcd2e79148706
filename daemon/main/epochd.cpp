#include "daemon/main/epochd.hpp"

#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <thread>

#include "daemon/cli/exit_code.hpp"
#include "daemon/host/version.hpp"
#include "daemon/log/log.hpp"
#include "daemon/pipeline/worker.hpp"
#include "daemon/queue/reason.hpp"
#include "daemon/service/control.hpp"

namespace epochd {
namespace {

struct Options {
  std::string config;
  std::string queue;
  bool once = false;
};

int fail(ExitCode code, const std::string& message) {
  log::error("epochd cannot run", {{"why", message}});
  return static_cast<int>(code);
}

Config load_config(FileSystem& fs, const Options& options) {
  Bytes text;
  try {
    text = fs.read_prefix(options.config, kConfigBytesMax + 1, Links::kFollow);
  } catch (const IoError& error) {
    throw UsageError(std::string(error.what()) + "; give the settings file with --config");
  }
  auto config = parse_config(options.config, {text.begin(), text.end()});
  if (!config) throw UsageError(to_text(config.error()));
  if (!options.queue.empty()) {
    config->daemon.queue = std::filesystem::absolute(options.queue).lexically_normal();
  }
  return *std::move(config);
}

Environment load_environment() {
  const auto environment = parse_environment(std::getenv);
  if (!environment) throw UsageError(to_text(environment.error()));
  return *environment;
}

/// Runs the worker on its own thread while this one handles signals and notification.
Worker::Report run_worker(Worker& worker, const Path& incoming, bool once) {
  Worker::Report report;
  std::exception_ptr error;
  Control control(incoming, {[&] { worker.wake(); }, [&] { worker.stop(); }});
  std::thread thread([&] {
    try {
      report = worker.run(once);
    } catch (...) {
      error = std::current_exception();
    }
    control.finish();
  });
  control.run();
  thread.join();
  if (error) std::rethrow_exception(error);
  return report;
}

/// Settings that no job could be proved with are refused before the queue is touched.
void check_backend(const DaemonSettings& settings, const DeviceQuery& devices) {
  try {
    const BackendChoice choice = choose_backend(settings.backend, settings.residency, devices);
    if (!choice.fallback.empty()) {
      log::warn("proving on the CPU although a device is preferred", {{"why", choice.fallback}});
    }
  } catch (const JobError& error) {
    if (error.reason() == Reason::kInput) throw UsageError(error.what());
    throw;
  }
}

ExitCode serve(const Options& options, JobProverFactory make_prover, const DeviceQuery& devices) {
  FileSystem fs;
  const Config config = load_config(fs, options);
  const Environment environment = load_environment();
  log::configure(config.daemon.log.level, config.daemon.log.format);
  check_backend(config.daemon, devices);
  std::atomic<bool> stop = false;
  const Clock clock;
  Queue queue(fs, config.daemon.queue);
  JobHandler handler(fs, queue, config, environment, std::move(make_prover), clock, stop);
  Worker worker(fs, queue, handler, config.daemon, stop);
  log::info(
      "epochd serves",
      {{"version", version_text()}, {"queue", queue.root().string()}, {"once", options.once}});
  const Worker::Report report =
      run_worker(worker, place_path(queue.root(), Place::kIncoming), options.once);
  log::info("epochd ends",
            {{"done", report.done}, {"failed", report.failed}, {"cancelled", report.cancelled}});
  if (!options.once || stop) return ExitCode::kOk;
  if (report.is_blocked) return ExitCode::kIo;
  return report.failed > 0 ? ExitCode::kNo : ExitCode::kOk;
}

}  // namespace

int run_epochd(int argc, const char* const* argv, JobProverFactory make_prover,
               const DeviceQuery& devices) {
  ::umask(077);
  Control::block_signals();
  Options options;
  CLI::App app{"epochd: prove the jobs dropped into a queue directory", "epochd"};
  app.add_option("--config", options.config, "The settings file")->required();
  app.add_option("--queue", options.queue, "The queue directory, instead of the settings' one");
  app.add_flag("--once", options.once, "Prove what is queued and exit: 0 all done, 1 some failed");
  app.set_version_flag("--version", version_text());
  app.footer(
      "Exit codes: 0 ok; 1 some job failed (--once); 2 usage or configuration; "
      "3 I/O or device failure.\nSIGTERM: finish the running epoch and exit 0.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool is_help = error.get_exit_code() == 0;
    app.exit(error);
    return static_cast<int>(is_help ? ExitCode::kOk : ExitCode::kUsage);
  }
  try {
    return static_cast<int>(serve(options, std::move(make_prover), devices));
  } catch (const UsageError& error) {
    std::cerr << error.what() << std::endl;
    return static_cast<int>(ExitCode::kUsage);
  } catch (const IoError& error) {
    return fail(ExitCode::kIo,
                std::string(error.what()) + "; mend it, or choose another queue with --queue");
  } catch (const std::exception& error) {
    return fail(ExitCode::kIo, error.what());
  }
}

}  // namespace epochd
