// epoch prove-capsule: one epoch, on this machine.
#include "daemon/cli/command.hpp"
#include "daemon/cli/options.hpp"
#include "daemon/cli/progress.hpp"
#include "daemon/cli/remove_on_signal.hpp"
#include "daemon/host/host_info.hpp"
#include "daemon/pipeline/job_folder.hpp"
#include "daemon/queue/durable.hpp"
#include "daemon/queue/reason.hpp"
#include "daemon/worker/device_worker.hpp"

namespace epochd {
namespace {

struct ProveCapsuleOptions {
  std::string capsule, output;
  std::optional<BackendPolicy> backend;
  std::optional<Residency> residency;
  u32 threads = 0;
};

CapsuleFile read_capsule(FileSystem& fs, const std::string& path) {
  auto file = decode_capsule_file(fs.read_file(path, kCapsuleFileBytesMax, Links::kFollow));
  if (!file) {
    throw JobError(Reason::kInput, "'" + path +
                                       "' is no capsule that can be proved: " + file.error() +
                                       "; seal it again with `epoch execute "
                                       "--capsules`");
  }
  return *std::move(file);
}

nlohmann::json make_record(const Capsule& capsule, const ProverUsage& usage, double seconds) {
  nlohmann::json record = {
      {"epoch", capsule.label},
      {"cycles", capsule.cycles},
      {"is_final", capsule.is_final},
      {"prove_seconds", seconds},
      {"cycles_per_second", seconds > 0 ? static_cast<double>(capsule.cycles) / seconds : 0.0},
      {"peak_rss_bytes", peak_rss_bytes()},
      {"peak_device_bytes", usage.peak_device_bytes},
      {"backend", usage.backend},
      {"counters", usage.counters},
      {"bytes_h2d", usage.bytes_h2d},
      {"bytes_d2h", usage.bytes_d2h}};
  if (!usage.fallback.empty()) record["fallback"] = usage.fallback;
  return record;
}

ExitCode prove_capsule(const Session& session, const ProveCapsuleOptions& options) {
  FileSystem fs;
  CapsuleFile file = read_capsule(fs, options.capsule);
  ProofRequest request;
  request.elf_name = options.capsule;
  request.elf = std::move(file.elf);
  request.protocol = protocol_of(file.params);
  request.threads = options.threads;
  request.backend = options.backend.value_or(BackendPolicy::kCudaPreferred);
  request.residency = options.residency.value_or(Residency::kDeviceOnly);

  const Path output = std::filesystem::absolute(options.output);
  // Before any thread starts.
  const RemoveOnSignal on_signal({output.string() + std::string(kTemporarySuffix)});
  DeviceWorkers workers(start_device_worker);
  const auto engine = make_epoch_engine(request, access_through(workers));
  if (engine->program() != file.capsule.program) {
    throw JobError(Reason::kInput,
                   "'" + options.capsule + "' holds an epoch of another program than its own");
  }
  ProgressMonitor monitor;
  monitor.enter(Phase::kProving);
  const Stopwatch proving;
  const Capsule head{
      file.capsule.program, file.capsule.label,       file.capsule.pc,       file.capsule.cycles,
      file.capsule.out_in,  file.capsule.first_cycle, file.capsule.is_final, {}};
  const Bytes payload = engine->prove_capsule(std::move(file.capsule), [&] { monitor.check(); });
  const double seconds = proving.seconds();
  write_epoch_file(fs, output, head.label, file.key, payload);
  nlohmann::json record = make_record(head, engine->usage(), seconds);
  record["epoch_file"] = options.output;
  record["epoch_file_bytes"] = kSealHeaderBytes + payload.size();
  session.answer(record, "proved     epoch " + std::to_string(head.label) + ", " +
                             std::to_string(head.cycles) + " cycles\ntook       " +
                             seconds_text(seconds) + "\nwritten    " + options.output + ", " +
                             bytes_text(kSealHeaderBytes + payload.size()));
  return ExitCode::kOk;
}

}  // namespace

void add_prove_capsule_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ProveCapsuleOptions>();
  CLI::App* command = add_subcommand(
      app, session, "prove-capsule", "Prove one epoch that `epoch execute --capsules` sealed",
      [&session, options] { return prove_capsule(session, *options); });
  command->add_option("capsule", options->capsule, "The epoch, with its program")->required();
  command->add_option("-o,--output", options->output, "Where its proof goes")->required();
  add_threads_option(*command, options->threads);
  add_backend_options(*command, options->backend, options->residency);
}

}  // namespace epochd
