// Floors of what was measured, from the tables that a bundle's epochs have.
#include <stdexcept>

#include "bench/abba/process.hpp"
#include "bench/floor/epoch_floor.hpp"
#include "bench/suite/suite.hpp"

namespace epochd::bench {
namespace {

using Json = nlohmann::ordered_json;

const prover::Preset& preset_by_name(const std::string& name) {
  for (const prover::Preset& preset : prover::kPresets) {
    if (name == preset.name) return preset;
  }
  throw std::runtime_error("no preset " + name);
}

std::vector<FloorTable> tables_of(const Json& epoch) {
  std::vector<FloorTable> tables;
  for (const Json& table : epoch.at("tables")) {
    const std::string chip = table.at("chip");
    const prover::AirInfo* air = air_by_name(chip);
    if (air == nullptr) throw std::runtime_error("no chip " + chip);
    tables.push_back({air, table.at("log2_rows").get<uint32_t>()});
  }
  return tables;
}

}  // namespace

CeilingsByThreads read_ceilings(const std::string& path) {
  const Json file = Json::parse(abba::read_text(path), nullptr, false);
  if (!file.is_object() || file.value("schema", "") != "epoch-kernels/1") {
    throw std::runtime_error(path + ": not of schema epoch-kernels/1 (epoch-report import)");
  }
  CeilingsByThreads all;
  for (const auto& [key, rates] : file.at("ceilings").items()) {
    const auto threads = static_cast<uint32_t>(std::stoul(key.substr(key.find(':') + 1)));
    all[threads] = {rates.at("bytes"), rates.at("multiplications"), rates.at("butterflies"),
                    rates.at("compressions")};
  }
  if (all.empty()) throw std::runtime_error(path + ": no ceilings in it");
  return all;
}

Ceilings ceilings_for(const CeilingsByThreads& all, uint32_t threads) {
  auto after = all.upper_bound(threads);
  return after == all.begin() ? after->second : std::prev(after)->second;
}

std::map<std::string, double> stage_floors(const Json& inspected, const std::string& preset,
                                           const Ceilings& ceilings) {
  std::map<std::string, double> floors;
  for (const Json& epoch : inspected.at("epochs")) {
    for (const auto& [stage, work] : epoch_work(tables_of(epoch), preset_by_name(preset))) {
      floors[stage] += floor_of(work, ceilings).seconds;
    }
  }
  return floors;
}

std::optional<double> share_of_floor(const SuiteReport& report, const Measured& measured) {
  const double hz = measured.record.value("cycles_per_second", 0.0);
  if (report.floor_hz) return hz / *report.floor_hz;
  double seconds = 0;
  for (const auto& [stage, floor] : measured.stage_floor_seconds) seconds += floor;
  if (seconds == 0) return std::nullopt;
  return hz * seconds / measured.record.value("cycles", 0.0);
}

}  // namespace epochd::bench
