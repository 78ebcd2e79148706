// epoch-bench: proves a named suite with `epoch` and writes what came of it.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>

#include "bench/abba/machine.hpp"
#include "bench/abba/page.hpp"
#include "bench/abba/process.hpp"
#include "bench/suite/suite.hpp"
#include "bench/workloads/workload.hpp"

namespace epochd::bench {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Options {
  std::string suite = "workloads";
  std::string epoch = "epoch";
  std::string guests = "guests";
  std::string backend = "cpu";
  std::string security = "proven100";
  std::string flags;
  std::string json, html, ceilings;
  std::vector<std::string> only;
  uint32_t epoch_size_log2 = 20;
  int repeat = 3;
  double floor_mhz = 0;
  double timeout_seconds = 3600;
};

/// A folder that goes away with this.
class WorkFolder {
 public:
  WorkFolder() {
    std::string path = (fs::temp_directory_path() / "epoch-bench-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("cannot make " + path);
    path_ = path;
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

void write_file(const std::string& path, const std::string& bytes) {
  if (path.empty()) return;
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

std::string quoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

uint32_t hardware_threads() {
  return std::max(1u, std::thread::hardware_concurrency());
}

std::string bytes_of(const std::vector<uint64_t>& words) {
  std::string bytes;
  for (const uint64_t word : words) {
    for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(word >> (8 * i)));
  }
  return bytes;
}

/// The object that a command prints, with `key` in it. Throws std::runtime_error with what the
/// command said.
Json run_json(const std::string& command, const char* key, double timeout_seconds) {
  const abba::ProcessResult result = abba::run_shell(command, timeout_seconds);
  if (result.exit_code == abba::kTimedOut) {
    throw std::runtime_error(command + "\ntook longer than " + abba::format("%g", timeout_seconds) +
                             " s (--timeout)");
  }
  const Json record = Json::parse(result.out, nullptr, false);
  if (result.exit_code != 0 || !record.is_object() || !record.contains(key)) {
    throw std::runtime_error(command + "\nended with " + std::to_string(result.exit_code) + ": " +
                             result.err);
  }
  return record;
}

std::map<std::string, double> floors_of(const Case& what, const Options& options,
                                        const std::string& proof,
                                        const CeilingsByThreads& ceilings) {
  const uint32_t threads = options.backend == "cuda" ? 1
                           : what.threads != 0       ? what.threads
                                                     : hardware_threads();
  const Json inspected = run_json(quoted(options.epoch) + " inspect " + quoted(proof) + " --json",
                                  "epochs", options.timeout_seconds);
  return stage_floors(inspected, options.security, ceilings_for(ceilings, threads));
}

Measured measure(const Case& what, const Options& options, const WorkFolder& folder,
                 const CeilingsByThreads& ceilings) {
  const auto workload = make_workload(what.workload);
  if (!workload) throw std::runtime_error("no workload " + what.workload);
  const std::string input = folder.file("input");
  write_file(input, bytes_of(workload->input));
  std::string command =
      quoted(options.epoch) + " prove " + quoted(options.guests + "/" + workload->guest + ".elf") +
      " --input " + quoted(input) + " -o " + quoted(folder.file("proof")) + " --json --backend " +
      quoted(options.backend) + " --security " + quoted(options.security) + " --epoch-size-log2 " +
      std::to_string(what.epoch_size_log2);
  if (what.threads != 0) command += " --threads " + std::to_string(what.threads);
  if (!options.flags.empty()) command += " " + options.flags;

  Measured out;
  out.what = what;
  for (int i = 0; i < options.repeat; ++i) {
    Json record = run_json(command, "prove_seconds", options.timeout_seconds);
    const double seconds = record["prove_seconds"].get<double>();
    if (out.prove_seconds.empty() || seconds < out.record["prove_seconds"].get<double>()) {
      out.record = std::move(record);
    }
    out.prove_seconds.push_back(seconds);
  }
  if (!ceilings.empty()) {
    out.stage_floor_seconds = floors_of(what, options, folder.file("proof"), ceilings);
  }
  return out;
}

void run_suite(const Options& options, const std::vector<Case>& cases) {
  SuiteReport report;
  report.suite = options.suite;
  report.backend = options.backend;
  report.security = options.security;
  report.machine = abba::describe_machine();
  report.started = abba::utc_now();
  if (options.floor_mhz > 0) report.floor_hz = 1e6 * options.floor_mhz;
  CeilingsByThreads ceilings;
  if (!options.ceilings.empty()) ceilings = read_ceilings(options.ceilings);
  report.has_ceilings = !ceilings.empty();
  const WorkFolder folder;
  for (const Case& what : cases) {
    std::cerr << "epoch-bench: " << what.workload << ", 2^" << what.epoch_size_log2 << "\n";
    report.measured.push_back(measure(what, options, folder, ceilings));
  }
  std::cout << to_table(report);
  write_file(options.json, to_json(report).dump(2) + "\n");
  write_file(options.html, to_html(report));
}

int run(int argc, char** argv) {
  CLI::App app("Proves a named suite and writes MHz, times, bytes moved, peaks and sizes.");
  Options o;
  app.add_option("--suite", o.suite, "smoke, workloads, scaling or all");
  app.add_option("--only", o.only, "these workloads instead, by name");
  app.add_option("--epoch", o.epoch, "the epoch program");
  app.add_option("--guests", o.guests, "the folder of NAME.elf");
  app.add_option("--backend", o.backend, "cpu, cuda or auto");
  app.add_option("--security", o.security, "preset");
  app.add_option("--epoch-size-log2", o.epoch_size_log2, "cycles an epoch")
      ->envname("EPOCH_SIZE_LOG2");
  app.add_option("--repeat", o.repeat, "proofs a case; the fastest is reported")
      ->check(CLI::Range(1, 1000));
  app.add_option("--floor-mhz", o.floor_mhz, "what this machine could reach; adds a column");
  app.add_option("--ceilings", o.ceilings,
                 "this machine's kernels (epoch-report import): floors of stages and of the whole");
  app.add_option("--timeout", o.timeout_seconds, "seconds a proof may take; 0: any")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--flags", o.flags, "more flags for epoch prove");
  app.add_option("--json", o.json, "write everything as JSON");
  app.add_option("--html", o.html, "write a page with plots");
  CLI11_PARSE(app, argc, argv);

  const SuiteOptions suite = {o.epoch_size_log2, hardware_threads(), o.backend != "cuda"};
  auto cases = make_suite(o.suite, suite);
  if (!cases) {
    std::cerr << "epoch-bench: no suite " << o.suite << "\n";
    return 2;
  }
  if (!o.only.empty()) {
    o.suite = "chosen";
    cases->clear();
    for (const std::string& name : o.only) {
      cases->push_back({"workloads", name, o.epoch_size_log2, 0});
    }
  }
  try {
    run_suite(o, *cases);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "epoch-bench: " << error.what() << "\n";
    return 1;
  }
}

}  // namespace
}  // namespace epochd::bench

int main(int argc, char** argv) {
  return epochd::bench::run(argc, argv);
}
