// epoch submit: drop a job into a queue the atomic way.
#include "config/schema.hpp"
#include "config/time_text.hpp"
#include "daemon/cli/command.hpp"
#include "daemon/cli/options.hpp"
#include "daemon/pipeline/program_files.hpp"
#include "daemon/queue/steer.hpp"

namespace epochd {
namespace {

struct SubmitOptions {
  std::string queue, program, input, deadline;
  JobSpec spec;
};

ExitCode submit(const Session& session, SubmitOptions options) {
  FileSystem fs;
  if (!options.deadline.empty()) {
    options.spec.deadline_unix = parse_utc_time(options.deadline);
    if (!options.spec.deadline_unix) {
      throw UsageError("--deadline must be a UTC time such as 2026-12-01T10:00:00Z, not '" +
                       options.deadline + "'");
    }
  }
  std::string ignored;
  const auto wrong =
      make_text_key("--name", kJobNameBytesMax, ignored).assign({options.spec.name, false});
  if (wrong) throw UsageError(*wrong);
  // Told now rather than by a failed job.
  load_program(fs, options.program, Links::kFollow);
  SubmitRequest request{options.program, std::nullopt, options.spec};
  if (!options.input.empty()) {
    check_input_size(fs, options.input, Links::kFollow);
    request.input = options.input;
  }
  const std::string id = submit_job(fs, options.queue, request);
  session.answer({{"job", id}, {"queue", options.queue}}, id);
  return ExitCode::kOk;
}

}  // namespace

void add_submit_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<SubmitOptions>();
  CLI::App* command =
      add_subcommand(app, session, "submit", "Put a job into a queue and print its id",
                     [&session, options] { return submit(session, *options); });
  command->add_option("program", options->program, "The guest, an ELF file")->required();
  command->add_option("--queue", options->queue, "The queue directory")->required();
  command->add_option("--input", options->input, "The private input");
  command->add_option("--name", options->spec.name, "A name for the job's id and status");
  command->add_option("--priority", options->spec.priority, "Higher first; default 0")
      ->check(CLI::Range(kPriorityMin, kPriorityMax));
  command->add_option("--deadline", options->deadline,
                      "Fail the job at this UTC time, such as 2026-12-01T10:00:00Z");
  add_protocol_options(*command, options->spec.protocol);
  add_backend_options(*command, options->spec.backend, options->spec.residency);
  add_cycle_limit_option(*command, options->spec.cycle_limit);
}

}  // namespace epochd
