// epoch-serve: proves the same run once for every line on standard input and answers with a line of
// JSON, the record of `epoch prove --json` and `in_flight`. On a device the pool is opened for the
// first line and kept, so that later ones measure proving alone. For `epoch-abba --serve`.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench/serve/kept_pool.hpp"
#include "cuda/prover/cuda_prover.hpp"
#include "daemon/cli/options.hpp"
#include "daemon/pipeline/program_files.hpp"
#include "daemon/pipeline/proof_record.hpp"
#include "daemon/queue/durable.hpp"

namespace epochd::bench {
namespace {

constexpr int kFailed = 1;

struct Options {
  std::string program, input;
  ProtocolOverrides protocol;
  std::optional<BackendPolicy> backend;
  std::optional<Residency> residency;
  u32 threads = 0;
  u32 in_flight = kInFlightDefault;
};

/// Watches nothing.
class QuietMonitor : public JobMonitor {
 public:
  void enter(Phase) override {}
  void surveyed(u64) override {}
  void saved(u64, bool) override {}
  void check() override {}
};

/// A folder that goes away with this.
class WorkFolder {
 public:
  WorkFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "epoch-serve-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("cannot make " + path);
    path_ = path;
  }
  ~WorkFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const Path& path() const { return path_; }

 private:
  Path path_;
};

ProofRequest make_request(FileSystem& fs, const Options& options) {
  ProofRequest request;
  request.elf_name = options.program;
  request.elf = read_elf(fs, options.program, Links::kFollow);
  if (!options.input.empty()) request.input = read_input(fs, options.input, Links::kFollow);
  options.protocol.apply_to(request.protocol);
  request.cycle_limit = DaemonSettings{}.cycle_limit;
  request.threads = options.threads;
  request.backend = options.backend.value_or(BackendPolicy::kCpu);
  request.residency = options.residency.value_or(Residency::kDeviceOnly);
  return request;
}

/// The pool counts from its beginning; a run's share is the difference.
ProverUsage since(ProverUsage now, const ProverUsage& before) {
  now.bytes_h2d -= before.bytes_h2d;
  now.bytes_d2h -= before.bytes_d2h;
  for (const auto& [name, count] : before.counters) now.counters[name] -= count;
  return now;
}

void serve(const Options& options) {
  FileSystem fs;
  const ProofRequest request = make_request(fs, options);
  const WorkFolder folder;
  const Path bundle = folder.path() / "bundle";
  std::optional<KeptDevicePool> kept;
  if (request.backend != BackendPolicy::kCpu) kept.emplace(request, options.in_flight);
  ProverUsage before;
  for (std::string line; std::getline(std::cin, line);) {
    const auto prover =
        make_engine_prover(request, {}, kept ? kept->access() : DeviceAccess{}, nullptr);
    SpoolEpochStore store(fs, folder.path());
    QuietMonitor monitor;
    const ProofFacts facts = run_job(fs, *prover, store, bundle, monitor);
    const ProverUsage now = prover->usage();
    nlohmann::json record = proof_record(request, facts, kept ? since(now, before) : now);
    record["in_flight"] = kept ? options.in_flight : 1;
    before = now;
    std::cout << record.dump() << std::endl;
  }
}

int run(int argc, char** argv) {
  CLI::App app("Proves a run for every line on standard input; answers with a line of JSON.");
  Options options;
  app.add_option("program", options.program, "The guest, an ELF file")->required();
  app.add_option("--input", options.input, "The private input");
  app.add_option("--threads", options.threads, "CPU threads; default: one per hardware thread");
  app.add_option("--in-flight", options.in_flight, "Epochs at a time on a CUDA device")
      ->check(CLI::Range(1, 16));
  add_protocol_options(app, options.protocol);
  add_backend_options(app, options.backend, options.residency);
  CLI11_PARSE(app, argc, argv);
  try {
    serve(options);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "epoch-serve: " << error.what() << "\n";
    return kFailed;
  }
}

}  // namespace
}  // namespace epochd::bench

int main(int argc, char** argv) {
  return epochd::bench::run(argc, argv);
}
