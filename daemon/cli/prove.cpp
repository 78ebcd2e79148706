// epoch prove: execute, prove, verify, write.
#include "daemon/cli/command.hpp"
#include "daemon/cli/options.hpp"
#include "daemon/cli/progress.hpp"
#include "daemon/cli/unverified_bundle.hpp"
#include "daemon/pipeline/engine_prover.hpp"
#include "daemon/pipeline/program_files.hpp"
#include "daemon/pipeline/proof_record.hpp"
#include "daemon/worker/device_worker.hpp"

namespace epochd {
namespace {

struct ProveOptions {
  std::string program, input, output, trace;
  ProtocolOverrides protocol;
  std::optional<BackendPolicy> backend;
  std::optional<Residency> residency;
  std::optional<u64> cycle_limit;
  u32 threads = 0;
};

std::string summary(const ProveOptions& options, const ProofFacts& facts,
                    const nlohmann::json& record) {
  const RunFacts& run = facts.run;
  std::string text =
      "proved     " + std::to_string(run.cycles) + " cycles in " + std::to_string(run.epochs) +
      " epochs, exit code " + std::to_string(run.exit_code) + "\noutputs    " +
      outputs_text(run.outputs) + "\ntook       " + seconds_text(facts.prove_seconds) + " (" +
      rate_text(record["cycles_per_second"].get<double>()) + "), executing " +
      seconds_text(facts.execute_seconds) + ", verifying " + seconds_text(facts.verify_seconds) +
      "\nwritten    " + options.output + ", " + bytes_text(facts.bundle_bytes);
  if (record.contains("fallback")) {
    text += "\nnote       the CPU proved " +
            std::to_string(record["counters"]["fallback"].get<u64>()) +
            " proofs: " + record["fallback"].get<std::string>();
  }
  return text;
}

ExitCode prove(const Session& session, const ProveOptions& options) {
  FileSystem fs;
  ProofRequest request;
  request.elf_name = options.program;
  request.elf = read_elf(fs, options.program, Links::kFollow);
  if (!options.input.empty()) request.input = read_input(fs, options.input, Links::kFollow);
  request.protocol = resolve_protocol({}, session.environment, {}, options.protocol);
  request.cycle_limit = options.cycle_limit.value_or(DaemonSettings{}.cycle_limit);
  request.threads = options.threads;
  request.backend = options.backend.value_or(BackendPolicy::kCudaPreferred);
  request.residency = options.residency.value_or(Residency::kDeviceOnly);

  const Path output = std::filesystem::absolute(options.output);
  UnverifiedBundle bundle(fs, output);  // before any thread starts: see RemoveOnSignal
  std::optional<TraceFile> trace;
  if (!options.trace.empty()) trace.emplace(fs, options.trace);
  DeviceWorkers workers(start_device_worker);
  const auto prover = make_engine_prover(request, print_guest_text, access_through(workers),
                                         trace ? &*trace : nullptr);
  SpoolEpochStore store(fs, output.parent_path());
  ProgressMonitor monitor;
  const ProofFacts facts = run_job(fs, *prover, store, bundle.path(), monitor);
  bundle.keep();
  if (trace) trace->close();
  share_as_umask_allows(output);
  nlohmann::json record = proof_record(request, facts, prover->usage());
  record["proof"] = options.output;
  session.answer(record, summary(options, facts, record));
  return ExitCode::kOk;
}

}  // namespace

void add_prove_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ProveOptions>();
  CLI::App* command = add_subcommand(app, session, "prove", "Prove a run of a guest",
                                     [&session, options] { return prove(session, *options); });
  command->add_option("program", options->program, "The guest, an ELF file")->required();
  command->add_option("--input", options->input, "The private input");
  command->add_option("-o,--output", options->output, "Where the bundle goes")->required();
  add_threads_option(*command, options->threads);
  add_protocol_options(*command, options->protocol);
  add_backend_options(*command, options->backend, options->residency);
  add_cycle_limit_option(*command, options->cycle_limit);
  command->add_option("--trace", options->trace,
                      "Write the times of all stages here, as JSON for chrome://tracing");
}

}  // namespace epochd
