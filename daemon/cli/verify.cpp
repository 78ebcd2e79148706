// epoch verify: is this bundle a proof of a run of this program?
#include "daemon/cli/command.hpp"
#include "daemon/cli/options.hpp"
#include "daemon/cli/text.hpp"
#include "daemon/cli/verifying_key.hpp"
#include "daemon/pipeline/bundle_file.hpp"
#include "daemon/pipeline/engine_prover.hpp"

namespace epochd {
namespace {

struct VerifyCommandOptions {
  std::vector<std::string> files;  ///< PROG.elf OUT.proof, or OUT.proof with --vk
  std::string key;
  std::optional<SecurityPreset> security;
  std::optional<u64> exit_code;
  u32 threads = 0;
};

constexpr size_t kPresetWord = 2;  ///< of a bundle's header

/// The preset the bundle says it was made with. Errors: NegativeAnswer for one not compiled in, or
/// one that was not asked for.
const prover::Preset& preset_of_bundle(const BundleFile& bundle,
                                       const VerifyCommandOptions& options) {
  const std::span<const u64> words = bundle.words();
  const u64 id = words.size() > kPresetWord ? words[kPresetWord] : 0;
  const prover::Preset* preset =
      id <= ~u32{0} ? prover::find_preset(static_cast<u32>(id)) : nullptr;
  const bool has_header = words.size() > kPresetWord && words[0] == kBundleMagic;
  if (!has_header) throw NegativeAnswer("invalid: " + std::string(describe(RunError::kBadMagic)));
  if (words[1] != kFormatVersion) {
    throw NegativeAnswer("invalid: the bundle has format version " + std::to_string(words[1]) +
                         ", this verifier knows " + std::to_string(kFormatVersion) +
                         "; use the epoch that made it, or prove again");
  }
  if (preset == nullptr) {
    throw NegativeAnswer("invalid: the bundle was made with preset " + std::to_string(id) +
                         ", which this verifier does not know");
  }
  const bool is_asked_for = options.security && &preset_of(*options.security) == preset;
  if (options.security && !is_asked_for) {
    throw NegativeAnswer("invalid: the bundle was made with preset " + std::string(preset->name) +
                         ", and " + preset_of(*options.security).name + " was asked for");
  }
  if (preset->target_bits == 0 && !is_asked_for) {
    throw NegativeAnswer("invalid: the bundle was made with preset " + std::string(preset->name) +
                         ", which proves nothing; for tests, ask for it by name (--security " +
                         preset->name + ")");
  }
  return *preset;
}

void check_exit_code(const RunResult& result, const VerifyCommandOptions& options) {
  const u64 wanted = options.exit_code.value_or(0);
  if (result.exit_code == wanted) return;
  throw NegativeAnswer("the proof is valid, but the program ended with exit code " +
                       std::to_string(result.exit_code) + ", not " + std::to_string(wanted) +
                       (options.exit_code ? "" : "; allow it with --allow-exit-code"));
}

ExitCode verify(const Session& session, const VerifyCommandOptions& options) {
  const size_t files_wanted = options.key.empty() ? 2 : 1;
  if (options.files.size() != files_wanted) {
    throw UsageError("give PROG.elf OUT.proof, or --vk F OUT.proof");
  }
  exit_when_a_mapped_file_is_cut(static_cast<int>(ExitCode::kIo));
  FileSystem fs;
  const BundleFile bundle(fs, options.files.back(), Links::kFollow);
  const prover::Preset& preset = preset_of_bundle(bundle, options);
  const VerifyingKey key = options.key.empty()
                               ? compute_verifying_key(fs, options.files.front(), preset)
                               : read_verifying_key(fs, options.key);
  const Parallel parallel(options.threads);
  const Stopwatch stopwatch;
  const Verdict verdict = verify_bundle(key, bundle, preset.target_bits == 0, parallel);
  const double seconds = stopwatch.seconds();
  const RunResult& result = verdict.result;
  if (!result.ok()) throw NegativeAnswer("invalid: " + describe_failure(result));
  check_exit_code(result, options);
  session.answer({{"valid", true},
                  {"cycles", result.cycles},
                  {"epochs", result.epochs},
                  {"exit_code", result.exit_code},
                  {"outputs", verdict.outputs},
                  {"security", preset.name},
                  {"program", to_hex(key.digest())},
                  {"proof_bytes", bundle.bytes()},
                  {"verify_seconds", seconds}},
                 "valid: " + std::to_string(result.cycles) + " cycles in " +
                     std::to_string(result.epochs) + " epochs, exit code " +
                     std::to_string(result.exit_code) + ", preset " + preset.name + " (" +
                     seconds_text(seconds) + ")\noutputs: " + outputs_text(verdict.outputs));
  return ExitCode::kOk;
}

}  // namespace

void add_verify_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<VerifyCommandOptions>();
  CLI::App* command =
      add_subcommand(app, session, "verify",
                     "Verify a bundle: exit 0 only for a valid proof of a run that exited with 0",
                     [&session, options] {
                       session.failure = {{"valid", false}};
                       return verify(session, *options);
                     });
  command->add_option("files", options->files, "PROG.elf OUT.proof, or OUT.proof with --vk")
      ->required();
  command->add_option("--vk", options->key, "A key made by `epoch setup`, instead of the ELF");
  command->add_option("--allow-exit-code", options->exit_code,
                      "Accept this exit code instead of 0");
  add_security_option(*command, options->security);
  add_threads_option(*command, options->threads);
}

}  // namespace epochd
