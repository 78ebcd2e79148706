// epoch execute: run a guest without proving it.
#include <optional>

#include "daemon/cli/command.hpp"
#include "daemon/cli/options.hpp"
#include "daemon/cli/profile.hpp"
#include "daemon/cli/text.hpp"
#include "daemon/pipeline/guest.hpp"
#include "daemon/pipeline/job_folder.hpp"
#include "daemon/pipeline/program_files.hpp"

namespace epochd {
namespace {

struct ExecuteOptions {
  std::string program, input;
  ProtocolOverrides protocol;
  std::optional<u64> cycle_limit;
  bool profile = false;
  std::string capsules;
};

/// Where the run's epochs go to be proved elsewhere.
std::optional<CapsuleWriter> make_writer(FileSystem& fs, const std::string& folder,
                                         const ProofRequest& request, const Guest& guest,
                                         const RunParams& params) {
  if (folder.empty()) return std::nullopt;
  const Parallel parallel(0);
  const prover::Digest program = make_key(guest, params, best_isa(), parallel).vk.digest();
  return std::optional<CapsuleWriter>(std::in_place, fs, folder, request, params, program);
}

ExitCode execute(const Session& session, const ExecuteOptions& options) {
  FileSystem fs;
  ProofRequest request;
  request.elf = read_elf(fs, options.program, Links::kFollow);
  const Guest guest(request.elf, options.program);
  if (!options.input.empty()) request.input = read_input(fs, options.input, Links::kFollow);
  request.protocol = resolve_protocol({}, session.environment, {}, options.protocol);
  request.protocol.continuations = true;
  const ProtocolSettings& protocol = request.protocol;
  const u64 limit = options.cycle_limit.value_or(DaemonSettings{}.cycle_limit);
  const RunParams params{&preset_of(protocol.security), protocol.epoch_size_log2};
  const GuestRun run(guest, request.input, limit, print_guest_text);

  std::optional<Profile> profile;
  if (options.profile) profile.emplace(guest, params);
  auto capsules = make_writer(fs, options.capsules, request, guest, params);
  double other_seconds = 0;
  const Stopwatch whole;
  const RunFacts facts = run.to_exit(params, [&](const ScoutEpoch& e) {
    if (!profile && !capsules) return;
    const Stopwatch other;
    if (profile) profile->add(e);
    if (capsules) capsules->add(e);
    other_seconds += other.seconds();
  });
  const double seconds = whole.seconds() - other_seconds;
  if (capsules) capsules->finish(facts);

  const double rate = seconds > 0 ? static_cast<double>(facts.cycles) / seconds : 0;
  nlohmann::json json = {{"cycles", facts.cycles},
                         {"epochs", facts.epochs},
                         {"exit_code", facts.exit_code},
                         {"outputs", facts.outputs},
                         {"execute_seconds", seconds},
                         {"cycles_per_second", rate},
                         {"epoch_size_log2", protocol.epoch_size_log2}};
  std::string text = "cycles     " + std::to_string(facts.cycles) + " in " + seconds_text(seconds) +
                     " (" + rate_text(rate) + ")\nepochs     " + std::to_string(facts.epochs) +
                     " of 2^" + std::to_string(protocol.epoch_size_log2) + " cycles\nexit code  " +
                     std::to_string(facts.exit_code) + "\noutputs    " +
                     outputs_text(facts.outputs);
  if (profile) {
    profile->add_to(json);
    text += profile->text();
  }
  if (capsules) {
    json["capsules"] = options.capsules;
    json["capsule_bytes"] = capsules->bytes();
    text += "\ncapsules   " + options.capsules + ", " + bytes_text(capsules->bytes());
  }
  session.answer(json, text);
  return ExitCode::kOk;
}

}  // namespace

void add_execute_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ExecuteOptions>();
  CLI::App* command = add_subcommand(app, session, "execute", "Run a guest without proving it",
                                     [&session, options] { return execute(session, *options); });
  command->add_option("program", options->program, "The guest, an ELF file")->required();
  command->add_option("--input", options->input, "The private input");
  command->add_flag("--profile", options->profile,
                    "Show where the cycles go, by symbol, and what proving takes, by chip");
  command->add_option("--capsules", options->capsules,
                      "Write every epoch here, for `epoch prove-capsule` and `epoch assemble`");
  add_epoch_size_option(*command, options->protocol);
  add_security_option(*command, options->protocol.security);
  add_cycle_limit_option(*command, options->cycle_limit);
}

}  // namespace epochd
