// epoch status: what is in a queue, or how one job fares.
#include "daemon/queue/status.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <thread>

#include "daemon/cli/command.hpp"
#include "daemon/queue/drain.hpp"
#include "daemon/queue/lock.hpp"
#include "daemon/queue/steer.hpp"

namespace epochd {
namespace {

struct StatusOptions {
  std::string queue, job;
  bool watch = false;
};

constexpr std::chrono::seconds kWatchPause{1};

bool is_over(const JobStatus& job) {
  return job.place == Place::kDone || job.place == Place::kFailed ||
         job.place == Place::kQuarantine || job.place == Place::kCancelled;
}

nlohmann::json to_json(const JobStatus& job) {
  nlohmann::json json = {{"job", job.id},
                         {"state", job.state},
                         {"place", kPlaceNames[static_cast<size_t>(job.place)]}};
  if (job.epoch > 0) json["epoch"] = job.epoch;
  if (job.epochs > 0) json["epochs"] = job.epochs;
  if (job.attempt > 0) json["attempt"] = job.attempt;
  if (!job.reason.empty()) json["reason"] = job.reason;
  if (!job.message.empty()) json["message"] = job.message;
  return json;
}

std::string to_line(const JobStatus& job) {
  std::ostringstream line;
  line << std::left << std::setw(44) << job.id << "  " << job.state_text();
  if (job.attempt > 1) line << "  attempt " << job.attempt;
  if (!job.message.empty()) line << "  " << job.message;
  return line.str();
}

JobStatus look_at_job(FileSystem& fs, const StatusOptions& options) {
  const auto job = job_status(fs, options.queue, options.job);
  if (job) return *job;
  throw UsageError("there is no job '" + options.job + "' in '" + options.queue +
                   "'; `epoch status --queue` without a job lists what there is");
}

ExitCode show_job(const Session& session, FileSystem& fs, const StatusOptions& options) {
  JobStatus job = look_at_job(fs, options);
  std::string shown = job.state_text();
  while (options.watch && !is_over(job)) {
    if (!session.is_json) std::cout << to_line(job) << std::endl;
    while (!is_over(job) && job.state_text() == shown) {
      std::this_thread::sleep_for(kWatchPause);
      job = look_at_job(fs, options);
    }
    shown = job.state_text();
  }
  session.answer(to_json(job), to_line(job));
  const bool is_good = !is_over(job) || job.place == Place::kDone;
  return is_good ? ExitCode::kOk : ExitCode::kNo;
}

bool show_queue(const Session& session, FileSystem& fs, const StatusOptions& options) {
  const bool is_served = is_queue_served(options.queue);
  nlohmann::json jobs = nlohmann::json::array();
  const bool has_drain = is_drained(fs, options.queue);
  std::string text = "queue " + options.queue +
                     (is_served ? ", served by a running epochd" : ", no epochd is running on it") +
                     (has_drain ? ", drained (`epoch drain --undo`)" : "");
  bool is_idle = true;
  for (const JobStatus& job : queue_status(fs, options.queue)) {
    jobs.push_back(to_json(job));
    text += "\n" + to_line(job);
    is_idle = is_idle && (is_over(job) || job.place == Place::kHold);
  }
  session.answer({{"queue", options.queue},
                  {"served", is_served},
                  {"drained", has_drain},
                  {"jobs", jobs}},
                 text);
  return is_idle;
}

ExitCode status(const Session& session, const StatusOptions& options) {
  FileSystem fs;
  if (!fs.exists(place_path(options.queue, Place::kIncoming))) {
    throw NotAQueue("'" + options.queue +
                    "' is not a queue directory; name the one epochd serves with --queue");
  }
  if (!options.job.empty()) return show_job(session, fs, options);
  bool is_idle = show_queue(session, fs, options);
  while (options.watch && !is_idle) {
    std::this_thread::sleep_for(kWatchPause);
    const bool can_clear = ::isatty(STDOUT_FILENO) == 1 && !session.is_json;
    if (can_clear) std::cout << "\033[H\033[2J";
    is_idle = show_queue(session, fs, options);
  }
  return ExitCode::kOk;
}

}  // namespace

void add_status_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<StatusOptions>();
  CLI::App* command =
      add_subcommand(app, session, "status", "Show a queue, or one job of it (exit 1: it failed)",
                     [&session, options] { return status(session, *options); });
  command->add_option("--queue", options->queue, "The queue directory")->required();
  command->add_option("job", options->job, "A job's id");
  command->add_flag("--watch", options->watch, "Go on until nothing is left to do");
}

}  // namespace epochd
