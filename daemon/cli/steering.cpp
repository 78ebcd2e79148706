// epoch cancel, retry, hold, release: thin over daemon/queue/steer.hpp.
#include "daemon/cli/command.hpp"
#include "daemon/queue/owner.hpp"
#include "daemon/queue/steer.hpp"

namespace epochd {
namespace {

using Steer = Steered (*)(FileSystem&, const Path&, const std::string&);

struct SteerOptions {
  std::string queue, job;
};

constexpr std::array<const char*, 5> kOutcomeNames = {"done", "requested", "already", "refused",
                                                      "unknown"};

ExitCode steer(const Session& session, Steer act, const SteerOptions& options) {
  FileSystem fs;
  const AsQueueOwner owner(options.queue);
  require_queue(fs, options.queue);
  const Steered steered = act(fs, options.queue, options.job);
  if (steered.outcome == Steered::Outcome::kUnknown) throw UsageError(steered.message);
  if (steered.outcome == Steered::Outcome::kRefused) throw NegativeAnswer(steered.message);
  session.answer({{"job", options.job},
                  {"outcome", kOutcomeNames[static_cast<size_t>(steered.outcome)]},
                  {"message", steered.message}},
                 steered.message);
  return ExitCode::kOk;
}

void add_steering(CLI::App& app, Session& session, const char* name, const char* description,
                  Steer act) {
  const auto options = std::make_shared<SteerOptions>();
  CLI::App* command = add_subcommand(app, session, name, description, [&session, act, options] {
    return steer(session, act, *options);
  });
  command->add_option("--queue", options->queue, "The queue directory")->required();
  command->add_option("job", options->job, "The job's id")->required();
}

}  // namespace

void add_steering_commands(CLI::App& app, Session& session) {
  add_steering(app, session, "cancel", "Cancel a job that waits or runs", cancel_job);
  add_steering(app, session, "retry", "Queue a failed or cancelled job again", retry_job);
  add_steering(app, session, "hold", "Keep a waiting job from being started", hold_job);
  add_steering(app, session, "release", "Queue a held job", release_job);
}

}  // namespace epochd
