// epoch execute: run a guest without proving it.
#include <algorithm>
#include <chrono>
#include <map>

#include "daemon/cli/command.hpp"
#include "daemon/cli/options.hpp"
#include "daemon/cli/text.hpp"
#include "daemon/pipeline/guest.hpp"
#include "daemon/pipeline/program_files.hpp"
#include "daemon/queue/reason.hpp"
#include "epoch/capsule/stitch.hpp"
#include "epoch/chips/airs.hpp"
#include "epoch/exec/replay.hpp"

namespace epochd {
namespace {

struct ExecuteOptions {
  std::string program, input;
  ProtocolOverrides protocol;
  std::optional<u64> cycle_limit;
  bool profile = false;
};

/// Replays each epoch and counts what proving it would take.
class RowCounter {
 public:
  explicit RowCounter(const Guest& guest)
      : guest_(guest), replayer_(guest.code()), cycles_(guest.program().rows().size()) {}

  void add(const ScoutEpoch& epoch) {
    const Capsule capsule = stitch_.seal(epoch);
    if (const auto error = replayer_.run(capsule, records_)) {
      throw JobError(Reason::kInternal, "replay disagrees with the run: " + error->message);
    }
    for (u32 chip = 0; chip < kInstructionChipCount; ++chip) {
      rows_[chip] += records_.instructions[chip].size();
      for (const InstructionRecord& r : records_.instructions[chip]) ++cycles_[r.program_row];
    }
    rows_[static_cast<u32>(ChipId::kUnaligned)] += records_.unaligned.size();
    for (const UnalignedRecord& r : records_.unaligned) ++cycles_[r.base.program_row];
    rows_[static_cast<u32>(ChipId::kRefresh)] += records_.refresh.size();
    rows_[static_cast<u32>(ChipId::kBoundary)] += records_.boundary.size();
  }

  /// (chip, rows), most first, without chips that have none.
  std::vector<std::pair<std::string, u64>> rows() const {
    std::vector<std::pair<std::string, u64>> named;
    for (u32 chip = 0; chip < kChipCount; ++chip) {
      const prover::AirInfo* air = chips::find_air(static_cast<ChipId>(chip));
      if (rows_[chip] > 0 && air != nullptr) named.emplace_back(air->name, rows_[chip]);
    }
    return most_first(std::move(named));
  }

  /// (symbol, cycles), most first.
  std::vector<std::pair<std::string, u64>> profile() const {
    std::map<std::string, u64> by_symbol;
    for (size_t row = 0; row < cycles_.size(); ++row) {
      if (cycles_[row] == 0) continue;
      const auto symbol = guest_.program().elf().nearest_symbol(guest_.program().rows()[row].pc);
      const std::string name = symbol.value_or("(no symbol)");
      by_symbol[name.substr(0, name.rfind("+0x"))] += cycles_[row];
    }
    return most_first({by_symbol.begin(), by_symbol.end()});
  }

 private:
  static std::vector<std::pair<std::string, u64>> most_first(
      std::vector<std::pair<std::string, u64>> named) {
    std::stable_sort(named.begin(), named.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return named;
  }

  const Guest& guest_;
  Stitch stitch_{prover::Digest{}};
  Replayer replayer_;
  EpochRecords records_;
  std::array<u64, kChipCount> rows_{};
  std::vector<u64> cycles_;  ///< by program row
};

nlohmann::json to_json(const std::vector<std::pair<std::string, u64>>& named, const char* name,
                       const char* value) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [key, count] : named) list.push_back({{name, key}, {value, count}});
  return list;
}

std::string table(const std::string& title, const std::vector<std::pair<std::string, u64>>& named) {
  u64 total = 0;
  for (const auto& entry : named) total += entry.second;
  std::string text = "\n" + title;
  for (const auto& [name, count] : named) {
    char line[160];
    std::snprintf(line, sizeof(line), "\n  %-32s %14llu  %5.1f %%", name.substr(0, 80).c_str(),
                  static_cast<unsigned long long>(count),
                  100.0 * static_cast<double>(count) / static_cast<double>(total));
    text += line;
  }
  return text;
}

ExitCode execute(const Session& session, const ExecuteOptions& options) {
  FileSystem fs;
  const Guest guest(read_elf(fs, options.program, Links::kFollow), options.program);
  const Bytes input =
      options.input.empty() ? Bytes{} : read_input(fs, options.input, Links::kFollow);
  const ProtocolSettings protocol = resolve_protocol({}, session.environment, {}, options.protocol);
  const u64 limit = options.cycle_limit.value_or(DaemonSettings{}.cycle_limit);
  const RunParams params{&preset_of(protocol.security), protocol.epoch_size_log2};
  const GuestRun run(guest, input, limit, print_guest_text);

  RowCounter counter(guest);
  double replay_seconds = 0;
  const Stopwatch whole;
  const RunFacts facts = run.to_exit(params, [&](const ScoutEpoch& e) {
    const Stopwatch replay;
    counter.add(e);
    replay_seconds += replay.seconds();
  });
  const double seconds = whole.seconds() - replay_seconds;

  const double rate = seconds > 0 ? static_cast<double>(facts.cycles) / seconds : 0;
  const auto rows = counter.rows();
  nlohmann::json json = {{"cycles", facts.cycles},
                         {"epochs", facts.epochs},
                         {"exit_code", facts.exit_code},
                         {"outputs", facts.outputs},
                         {"execute_seconds", seconds},
                         {"cycles_per_second", rate},
                         {"epoch_size_log2", protocol.epoch_size_log2}};
  json["rows"] = to_json(rows, "chip", "rows");
  std::string text = "cycles     " + std::to_string(facts.cycles) + " in " + seconds_text(seconds) +
                     " (" + rate_text(rate) + ")\nepochs     " + std::to_string(facts.epochs) +
                     " of 2^" + std::to_string(protocol.epoch_size_log2) + " cycles\nexit code  " +
                     std::to_string(facts.exit_code) + "\noutputs    " +
                     outputs_text(facts.outputs) + table("rows by chip", rows);
  if (options.profile) {
    const auto profile = counter.profile();
    json["profile"] = to_json(profile, "symbol", "cycles");
    text += table("cycles by symbol", profile);
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
  command->add_flag("--profile", options->profile, "Show where the cycles go, by symbol");
  add_epoch_size_option(*command, options->protocol);
  add_cycle_limit_option(*command, options->cycle_limit);
}

}  // namespace epochd
