// epoch assemble: the bundle of epochs that were proved one by one.
#include "daemon/cli/command.hpp"
#include "daemon/cli/options.hpp"
#include "daemon/cli/progress.hpp"
#include "daemon/cli/unverified_bundle.hpp"
#include "daemon/pipeline/job_folder.hpp"
#include "daemon/pipeline/proof_record.hpp"
#include "daemon/queue/layout.hpp"
#include "daemon/worker/device_worker.hpp"

namespace epochd {
namespace {

struct AssembleOptions {
  std::string folder, output;
  std::optional<BackendPolicy> backend;
  std::optional<Residency> residency;
  u32 threads = 0;
};

/// Errors: NegativeAnswer.
void adopt_all(EpochEngine& engine, GatheredEpochs& epochs, JobMonitor& monitor) {
  const auto load = [&](u64 label) { return epochs.load(label).value_or(Bytes{}); };
  const auto bad = engine.adopt(epochs.facts().run, load, [&] { monitor.check(); });
  if (bad) {
    throw NegativeAnswer("the proof of epoch " + std::to_string(*bad) + " does not verify ('" +
                         epochs.name_of(*bad) + "'); prove its capsule again");
  }
}

ExitCode assemble(const Session& session, const AssembleOptions& options) {
  FileSystem fs;
  const auto start = std::chrono::steady_clock::now();
  const Path output = std::filesystem::absolute(options.output);
  UnverifiedBundle bundle(fs, output);  // before any thread starts: see RemoveOnSignal
  GatheredEpochs epochs(fs, options.folder);
  ProofRequest request;
  request.elf_name = (Path(options.folder) / kProgramFile).string();
  request.elf = epochs.elf();
  request.protocol = protocol_of(epochs.facts().params);
  request.threads = options.threads;
  request.backend = options.backend.value_or(BackendPolicy::kCudaPreferred);
  request.residency = options.residency.value_or(Residency::kDeviceOnly);

  DeviceWorkers workers(start_device_worker);
  const auto engine = make_epoch_engine(request, access_through(workers));
  ProgressMonitor monitor;
  adopt_all(*engine, epochs, monitor);
  ProofFacts facts;
  facts.run = epochs.facts().run;
  assemble_job(fs, *engine, epochs, bundle.path(), monitor, start, facts);
  bundle.keep();
  share_as_umask_allows(output);
  nlohmann::json record = proof_record(request, facts, engine->usage());
  record["proof"] = options.output;
  session.answer(record, "assembled  " + std::to_string(facts.run.cycles) + " cycles in " +
                             std::to_string(facts.run.epochs) + " epochs, exit code " +
                             std::to_string(facts.run.exit_code) + "\noutputs    " +
                             outputs_text(facts.run.outputs) + "\ntook       " +
                             seconds_text(facts.prove_seconds) + ", verifying " +
                             seconds_text(facts.verify_seconds) + "\nwritten    " + options.output +
                             ", " + bytes_text(facts.bundle_bytes));
  return ExitCode::kOk;
}

}  // namespace

void add_assemble_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<AssembleOptions>();
  CLI::App* command =
      add_subcommand(app, session, "assemble", "Join the epochs of a run that were proved apart",
                     [&session, options] { return assemble(session, *options); });
  command
      ->add_option("folder", options->folder,
                   "The directory of `epoch execute --capsules`, with the proofs in its epochs/")
      ->required();
  command->add_option("-o,--output", options->output, "Where the bundle goes")->required();
  add_threads_option(*command, options->threads);
  add_backend_options(*command, options->backend, options->residency);
}

}  // namespace epochd
