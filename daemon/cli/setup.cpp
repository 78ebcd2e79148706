// epoch setup: the verifying key of a program.
#include "daemon/cli/command.hpp"
#include "daemon/cli/options.hpp"
#include "daemon/cli/verifying_key.hpp"
#include "daemon/pipeline/engine_prover.hpp"
#include "daemon/queue/durable.hpp"

namespace epochd {
namespace {

struct SetupOptions {
  std::string program, output;
  SecurityPreset security = SecurityPreset::kProven100;
};

ExitCode setup(const Session& session, const SetupOptions& options) {
  FileSystem fs;
  const prover::Preset& preset = preset_of(options.security);
  const VerifyingKey key = compute_verifying_key(fs, options.program, preset);
  const std::vector<u64> words = encode_verifying_key(key);
  const std::span<const u64> all(words);
  const Path output = std::filesystem::absolute(options.output);
  replace_file(fs, output, {reinterpret_cast<const u8*>(all.data()), all.size_bytes()});
  share_as_umask_allows(output);
  const std::string digest = to_hex(key.digest());
  session.answer(
      {{"verifying_key", options.output}, {"program", digest}, {"security", preset.name}},
      "program  " + digest + "\nwritten  " + options.output + " for preset " + preset.name);
  return ExitCode::kOk;
}

}  // namespace

void add_setup_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<SetupOptions>();
  CLI::App* command = add_subcommand(app, session, "setup", "Write a program's verifying key",
                                     [&session, options] { return setup(session, *options); });
  command->add_option("program", options->program, "The guest, an ELF file")->required();
  command->add_option("-o,--output", options->output, "Where the key goes")->required();
  add_security_option(*command, options->security);
}

}  // namespace epochd
