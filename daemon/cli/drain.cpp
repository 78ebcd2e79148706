// epoch drain: have nothing more done on a queue, or have it worked on again.
#include "daemon/queue/drain.hpp"

#include <chrono>
#include <thread>

#include "daemon/cli/command.hpp"
#include "daemon/queue/lock.hpp"
#include "daemon/queue/owner.hpp"
#include "daemon/queue/steer.hpp"

namespace epochd {
namespace {

struct DrainOptions {
  std::string queue;
  bool undo = false;
  bool wait = false;
};

constexpr std::chrono::milliseconds kLookPause{200};

ExitCode drain(const Session& session, const DrainOptions& options) {
  FileSystem fs;
  const AsQueueOwner owner(options.queue);
  require_queue(fs, options.queue);
  const bool is_changed =
      options.undo ? withdraw_drain(fs, options.queue) : request_drain(fs, options.queue);
  while (options.wait && !options.undo && is_queue_served(options.queue)) {
    std::this_thread::sleep_for(kLookPause);
  }
  const bool is_served = is_queue_served(options.queue);
  std::string text = "the queue '" + options.queue + "' is ";
  if (options.undo) {
    text += "not drained; start epochd to have it worked on";
  } else if (is_served) {
    text += "to be drained: epochd ends when the running epoch is done";
  } else {
    text += "drained; `epoch drain --undo` has it worked on again";
  }
  session.answer({{"queue", options.queue},
                  {"drained", !options.undo},
                  {"changed", is_changed},
                  {"served", is_served}},
                 text);
  return ExitCode::kOk;
}

}  // namespace

void add_drain_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<DrainOptions>();
  CLI::App* command = add_subcommand(app, session, "drain",
                                     "End the epochd on a queue at the next epoch, and let none "
                                     "work on it until --undo",
                                     [&session, options] { return drain(session, *options); });
  command->add_option("--queue", options->queue, "The queue directory")->required();
  command->add_flag("--undo", options->undo, "Let the queue be worked on again");
  command->add_flag("--wait", options->wait, "Return when no epochd is on the queue any more");
}

}  // namespace epochd
