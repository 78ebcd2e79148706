// epoch-fixture: writes a workload's input.
#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>

#include "bench/workloads/ledger/fixture.hpp"
#include "bench/workloads/workload.hpp"

namespace epochd::bench {
namespace {

bool write_words(const std::string& path, const std::vector<uint64_t>& words) {
  std::ofstream file(path, std::ios::binary);
  for (const uint64_t word : words) {
    char bytes[8];
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(word >> (8 * i));
    file.write(bytes, sizeof bytes);
  }
  return static_cast<bool>(file.flush());
}

int run(int argc, char** argv) {
  CLI::App app("Writes the input of a named workload, the same bytes on every machine.");
  std::string name = "ledger";
  std::string path;
  LedgerOptions ledger;
  bool list = false;
  app.add_option("workload", name, "ledger, ledger-N, fib-N (N may end in k or m), or one listed");
  app.add_option("-o,--output", path, "where to write it");
  app.add_option("--transfers", ledger.transfers, "transfers of `ledger`")
      ->envname("TX_COUNT")
      ->check(CLI::Range(uint64_t{1}, kLedgerTransfersMax));
  app.add_option("--seed", ledger.seed, "seed of the ledger's keys and transfers");
  app.add_option("--bad-signatures", ledger.bad_signatures, "transfers changed after signing");
  app.add_option("--overdrafts", ledger.overdrafts, "signed transfers of more than there is");
  app.add_flag("--list", list, "list the workloads instead");
  CLI11_PARSE(app, argc, argv);

  if (list) {
    for (const std::string& known : workload_names()) {
      const auto workload = make_workload(known);
      std::cout << known << "\t" << workload->guest << ".elf\t" << workload->about << "\n";
    }
    return 0;
  }
  auto workload = make_workload(name, ledger.transfers);
  if (!workload || path.empty()) {
    std::cerr << (path.empty() ? "epoch-fixture: where to? Give -o FILE"
                               : "epoch-fixture: no workload " + name + "; --list names them")
              << "\n";
    return 2;
  }
  if (ledger.bad_signatures + ledger.overdrafts > ledger.transfers) {
    std::cerr << "epoch-fixture: more bad transfers than transfers\n";
    return 2;
  }
  if (name == "ledger") workload->input = make_ledger_block(ledger);
  if (!write_words(path, workload->input)) {
    std::cerr << "epoch-fixture: cannot write " << path << "\n";
    return 3;
  }
  std::cout << workload->guest << ".elf\t" << workload->about << "\n";
  return 0;
}

}  // namespace
}  // namespace epochd::bench

int main(int argc, char** argv) {
  return epochd::bench::run(argc, argv);
}
