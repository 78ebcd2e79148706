#include "daemon/main/daemon.hpp"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <thread>

#include "daemon/host/version.hpp"
#include "daemon/log/log.hpp"
#include "daemon/queue/attempts.hpp"
#include "daemon/queue/drain.hpp"
#include "daemon/service/memory.hpp"

namespace epochd {
namespace {

using Micros = std::chrono::microseconds;

constexpr Micros kTick = std::chrono::seconds(1);
constexpr Micros kTickMin = std::chrono::milliseconds(10);
constexpr double kSamplePause_s = 5;

/// The manager is told of progress four times in its period: what stands still for three quarters
/// of it is found.
Micros tick_period(Micros watchdog) {
  if (watchdog == Micros(0)) return kTick;
  return std::clamp(watchdog / 4, kTickMin, kTick);
}

}  // namespace

Daemon::Daemon(DaemonOptions options, Config config, Environment environment,
               JobProverFactory make_prover, std::vector<DeviceInfo> devices,
               ServiceManager& manager)
    : options_(std::move(options)),
      manager_(manager),
      config_(std::move(config)),
      queue_(fs_, config_.latest().daemon.queue),
      observer_({board_, metrics_, config_, clock_, [this] { device_lost(); }}),
      handler_(
          fs_, queue_, [this] { return config_.latest(); }, std::move(environment),
          observer_.observe(std::move(make_prover)), clock_, stop_),
      worker_(
          fs_, queue_, handler_, [this] { return config_.latest().daemon; }, stop_, &observer_),
      control_(place_path(queue_.root(), Place::kIncoming), handlers(),
               tick_period(manager_.watchdog())) {
  board_.set_devices(std::move(devices));
  handler_.set_energy(nvml_energy());
}

Control::Handlers Daemon::handlers() {
  Control::Handlers handlers;
  handlers.queue_changed = [this] { worker_.wake(); };
  handlers.stop = [this] { stop("a signal"); };
  handlers.stop_at_once = [this] { stop_at_once(); };
  handlers.reload = [this] { reload(); };
  handlers.dump_heap = [this] { dump_heap(); };
  handlers.tick = [this] { tick(); };
  return handlers;
}

ExitCode Daemon::run() {
  if (is_drained(fs_, queue_.root())) {
    log::warn("the queue is drained: nothing is done until `epoch drain --undo`",
              {{"queue", queue_.root().string()}});
    manager_.ready("drained");
    manager_.stopping("drained");
    return ExitCode::kOk;
  }
  const DaemonSettings settings = config_.latest().daemon;
  const bool is_background = settings.jemalloc.background_threads;
  if (is_background && allocator_stats() && !start_background_purging()) {
    log::warn("jemalloc does not purge in the background here");
  }
  if (settings.http.enabled) serve_http(settings.http);
  const Housekeeper housekeeper(
      Housekeeper::Ends{fs_, queue_.root(), config_, board_, metrics_, clock_});
  log::info(
      "epochd serves",
      {{"version", version_text()}, {"queue", queue_.root().string()}, {"once", options_.once}});
  manager_.ready(board_.summary());
  const Worker::Report report = run_worker();
  manager_.stopping("nothing is under way any more");
  log::info("epochd ends",
            {{"done", report.done}, {"failed", report.failed}, {"cancelled", report.cancelled}});
  log::tell_left_out(true);
  return exit_code(report);
}

/// Proving goes on without pages when the address is taken.
void Daemon::serve_http(const HttpSettings& settings) {
  try {
    http_ = std::make_unique<HttpServer>(
        control_.io(), settings, [this](std::string_view path) { return pages_.get(path); },
        [this](unsigned status) { metrics_.count_http(status); });
    log::info("http listens", {{"address", settings.address}, {"port", http_->port()}});
  } catch (const std::runtime_error& error) {
    log::error("no pages over http; choose another http.port, or http.enabled: false",
               {{"why", error.what()}});
  }
}

/// Runs the worker on a thread of its own while this one handles events.
Worker::Report Daemon::run_worker() {
  Worker::Report report;
  std::exception_ptr error;
  std::thread thread([&] {
    try {
      report = worker_.run(options_.once);
    } catch (...) {
      error = std::current_exception();
    }
    control_.finish();
  });
  control_.run();
  thread.join();
  if (error) std::rethrow_exception(error);
  return report;
}

ExitCode Daemon::exit_code(const Worker::Report& report) const {
  if (is_device_lost_) return ExitCode::kIo;
  if (!options_.once || stop_) return ExitCode::kOk;
  if (report.is_blocked) return ExitCode::kIo;
  return report.failed > 0 ? ExitCode::kNo : ExitCode::kOk;
}

void Daemon::stop(const std::string& why) {
  board_.set_draining();
  manager_.stopping("stopping because of " + why + "; " + board_.summary());
  worker_.stop();
}

/// The process ends after this, wherever the worker is: as in a crash, but for the blame.
void Daemon::stop_at_once() {
  for (const RunningJob& job : board_.view().jobs) {
    try {
      end_attempt(fs_, queue_.active_path(job.id));
    } catch (const IoError& error) {
      log::warn("the job will be charged with a crash", {{"job", job.id}, {"why", error.what()}});
    }
  }
}

void Daemon::reload() {
  manager_.reloading();
  const auto fixed = reload_config(fs_, options_.config, options_.queue, config_);
  metrics_.count_reload(fixed.has_value());
  if (!fixed) {
    log::error("the settings stay as they were", {{"why", fixed.error()}});
    board_.set_refused(fixed.error());
    manager_.ready(board_.summary());
    return;
  }
  board_.set_refused("");
  for (const std::string& key : *fixed) {
    log::warn("this setting changes when the daemon is started again", {{"key", key}});
  }
  const LogSettings logging = config_.latest().daemon.log;
  log::configure(logging.level, logging.format);
  log::info("new settings; those of jobs hold from the next one on",
            {{"file", options_.config}, {"left_out", fixed->size()}});
  manager_.ready(board_.summary());
  worker_.wake();
}

void Daemon::dump_heap() {
  const std::string name =
      "heap-" + std::to_string(::getpid()) + "-" + std::to_string(++heap_profiles_) + ".prof";
  const Path path = queue_.root() / kTmpName / name;
  const std::optional<std::string> why = dump_heap_profile(path);
  if (why) return log::warn("no heap profile", {{"why", *why}});
  log::info("heap profile written", {{"file", path.string()}});
}

void Daemon::tick() {
  tell_progress();
  sample();
  log::tell_left_out();
  if (stop_) return;
  try {
    if (is_drained(fs_, queue_.root())) {
      log::info("the queue is to be drained; finishing the running epochs");
      stop("`epoch drain`");
    }
  } catch (const IoError& error) {
    log::warn("cannot look at the queue", {{"why", error.what()}});
  }
}

void Daemon::tell_progress() {
  if (board_.take_progress()) manager_.alive();
  std::string status = board_.summary();
  if (status == status_) return;
  manager_.status(status);
  status_ = std::move(status);
}

void Daemon::sample() {
  if (clock_.seconds() - sampled_s_ < kSamplePause_s) return;
  sampled_s_ = clock_.seconds();
  board_.sample(metrics_.epochs_proved.value(), resident_bytes());
}

void Daemon::device_lost() {
  log::error("the device proved before and fails now; only a new process can tell whether for good",
             {{"restart", manager_.watchdog() > Micros(0)}});
  if (manager_.watchdog() == Micros(0)) return;
  is_device_lost_ = true;
  worker_.stop();  // no job is begun that the manager would cut off
  control_.post([this] { manager_.failed("a device is given up; to be started again"); });
}

}  // namespace epochd
