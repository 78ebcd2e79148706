#include "bench/report/tables.hpp"

#include <cmath>
#include <map>
#include <stdexcept>

#include "bench/abba/page.hpp"

namespace epochd::bench {
namespace {

using abba::format;
using Row = std::vector<std::string>;

std::string markdown(const Row& header, const std::vector<Row>& rows) {
  const auto line = [](const Row& cells) {
    std::string text = "|";
    for (const std::string& cell : cells) text += " " + cell + " |";
    return text + "\n";
  };
  std::string text = line(header) + "|";
  for (size_t i = 0; i < header.size(); ++i) text += "---|";
  text += "\n";
  for (const Row& row : rows) text += line(row);
  return text;
}

std::string where_and_when(const Json& results) {
  return "\n" + results.value("machine", "") + ", " + results.value("started", "") + ".\n";
}

void require_schema(const Json& results, const char* schema) {
  if (!results.is_object() || results.value("schema", "") != schema) {
    throw std::runtime_error(std::string("these results are not of schema ") + schema);
  }
}

double number(const Json& object, const char* key) {
  return object.contains(key) && object[key].is_number() ? object[key].get<double>() : 0;
}

std::string interval(const Json& pair) {
  return format("[%+.2f, %+.2f]", pair[0].get<double>(), pair[1].get<double>());
}

std::string intervals_table(const Json& results) {
  require_schema(results, "epoch-intervals/1");
  std::vector<Row> rows;
  for (const Json& one : results["comparisons"]) {
    const Json& estimate = one["estimate"];
    const Json& control = one["control"];
    rows.push_back(
        {one["title"], one["a"], one["b"],
         format("%.3f, %.3f", number(one, "typical_a"), number(one, "typical_b")),
         format("%+.2f", number(estimate, "effect_percent")),
         interval(estimate["t_interval_percent"]), interval(estimate["bootstrap_interval_percent"]),
         format("%.4f", number(estimate, "wilcoxon_p")),
         format("%.2f", number(estimate, "minimum_detectable_percent")),
         control.is_object() ? interval(control["t_interval_percent"]) : std::string("none"),
         format("%.0f", number(estimate, "blocks")), one["verdict"]});
  }
  return markdown({"what", "A", "B", "s, A and B", "A against B, %", "95 % (t)", "95 % (bootstrap)",
                   "p", "detectable, %", "control, 95 %", "blocks", "verdict"},
                  rows) +
         where_and_when(results);
}

std::string suite_table(const Json& results) {
  require_schema(results, "epoch-bench/1");
  std::vector<Row> rows;
  for (const Json& one : results["cases"]) {
    const Json& record = one["record"];
    const double threads = number(one, "threads");
    rows.push_back(
        {one["workload"], format("2^%.0f", number(one, "epoch_size_log2")),
         threads == 0 ? std::string("all") : format("%.0f", threads),
         format("%.3f", number(record, "cycles") / 1e6), format("%.0f", number(record, "epochs")),
         format("%.2f", number(record, "prove_seconds")), format("%.3f", number(one, "mhz")),
         one["of_floor"].is_number() ? format("%.0f %%", 100 * number(one, "of_floor"))
                                     : std::string(""),
         format("%.0f", number(record, "peak_rss_bytes") / (1 << 20)),
         format("%.0f", number(record, "peak_device_bytes") / (1 << 20)),
         format("%.1f, %.1f", number(record, "bytes_h2d") / 1e6, number(record, "bytes_d2h") / 1e6),
         format("%.2f", number(record, "proof_bytes") / 1e6),
         format("%.1f", 1e3 * number(record, "verify_seconds"))});
  }
  return markdown({"workload", "epoch", "threads", "Mcycles", "epochs", "prove s", "MHz",
                   "of floor", "RSS MiB", "device MiB", "MB up, down", "proof MB", "verify ms"},
                  rows) +
         where_and_when(results);
}

/// A column a case, "measured (floor)" a stage; stages in the order in which they run.
std::string stages_table(const Json& results) {
  require_schema(results, "epoch-bench/1");
  Row header = {"stage, s (floor)"};
  std::vector<Row> rows;
  for (const char* stage :
       {"fill", "commit main", "logup", "commit logup", "quotient", "commit quotient", "open",
        "deep", "fri", "grind", "gather", "prove", "replay", "global proof", "verify", "scout"}) {
    Row row = {stage};
    bool is_anywhere = false;
    for (const Json& one : results["cases"]) {
      if (one["group"] != "workloads") continue;
      const Json& stages = one["record"]["stages"];
      const Json floors = one.value("stage_floor_seconds", Json::object());
      is_anywhere = is_anywhere || stages.contains(stage);
      std::string cell = stages.contains(stage) ? format("%.3f", number(stages, stage)) : "";
      if (number(floors, stage) > 0) cell += format(" (%.3f)", number(floors, stage));
      row.push_back(cell);
    }
    if (is_anywhere) rows.push_back(row);
  }
  for (const Json& one : results["cases"]) {
    if (one["group"] != "workloads") continue;
    header.push_back(one["workload"].get<std::string>() +
                     format(", 2^%.0f", number(one, "epoch_size_log2")));
  }
  return markdown(header, rows) + where_and_when(results);
}

std::string seconds_text(double seconds) {
  if (seconds >= 1) return format("%.3g s", seconds);
  if (seconds >= 1e-3) return format("%.3g ms", seconds * 1e3);
  return seconds >= 1e-6 ? format("%.3g us", seconds * 1e6) : format("%.3g ns", seconds * 1e9);
}

std::string rate_text(double rate) {
  if (rate >= 1e12) return format("%.3g T/s", rate / 1e12);
  return rate >= 1e9 ? format("%.3g G/s", rate / 1e9) : format("%.3g M/s", rate / 1e6);
}

std::string ceilings_text(const Json& results) {
  std::string text;
  for (const auto& [threads, rates] : results["ceilings"].items()) {
    text += "- " + threads + ":";
    const char* separator = " ";
    for (const auto& [name, rate] : rates.items()) {
      text += separator + name + " " + rate_text(rate.get<double>());
      separator = ", ";
    }
    text += "\n";
  }
  return text;
}

/// A median with how many times its floor it is.
std::string over_floor(const Json& kernel) {
  const double median = number(kernel, "median_seconds");
  const double floor = number(kernel, "floor_seconds");
  return seconds_text(median) + (floor > 0 ? format(" (%.1f)", median / floor) : std::string());
}

constexpr const char* kChipColumns[] = {"constraints", "logup", "logup_quotient"};

/// Which of a chip's kernels this is; empty for a kernel of no chip.
std::string chip_column_of(const Json& kernel) {
  const std::string name = kernel["name"];
  for (const std::string column : kChipColumns) {
    if (name.starts_with(column + "/")) return column;
  }
  return "";
}

/// A row a chip: "median (times the floor)".
std::string chips_table(const Json& results) {
  require_schema(results, "epoch-kernels/1");
  std::vector<std::string> chips;
  std::map<std::string, std::map<std::string, std::string>> cells;
  for (const Json& one : results["kernels"]) {
    const std::string column = chip_column_of(one);
    if (column.empty()) continue;
    const std::string chip = one["name"].get<std::string>().substr(column.size() + 1);
    if (cells[chip].empty()) chips.push_back(chip);
    cells[chip][column] = over_floor(one);
  }
  std::vector<Row> rows;
  for (const std::string& chip : chips) {
    Row row = {chip};
    for (const char* column : kChipColumns) row.push_back(cells[chip][column]);
    rows.push_back(row);
  }
  return markdown({"chip", "constraints", "LogUp columns", "LogUp in the quotient"}, rows) +
         where_and_when(results);
}

/// Kernels that say what they get through a second.
std::string rates_table(const Json& results) {
  require_schema(results, "epoch-kernels/1");
  std::vector<Row> rows;
  for (const Json& one : results["kernels"]) {
    const double rate = number(one, "items_per_second");
    if (rate > 0) rows.push_back({one["name"], rate_text(rate)});
  }
  return markdown({"what", "instructions"}, rows) + where_and_when(results);
}

std::string kernels_table(const Json& results) {
  require_schema(results, "epoch-kernels/1");
  std::vector<Row> rows;
  for (const Json& one : results["kernels"]) {
    if (one.contains("items_per_second") || !chip_column_of(one).empty()) continue;
    const double floor = number(one, "floor_seconds");
    const double median = number(one, "median_seconds");
    rows.push_back({"`" + one["name"].get<std::string>() + "`", seconds_text(median),
                    floor > 0 ? seconds_text(floor) : std::string(""),
                    floor > 0 ? format("%.2f", median / floor) : std::string(""),
                    one.value("bound", "")});
  }
  return markdown({"kernel", "median", "floor", "times the floor", "bound"}, rows) +
         "\nCeilings, a second:\n\n" + ceilings_text(results) + where_and_when(results);
}

using Maker = std::string (*)(const Json&);
const std::map<std::string, Maker>& makers() {
  static const std::map<std::string, Maker> all = {
      {"intervals", intervals_table}, {"suite", suite_table}, {"stages", stages_table},
      {"kernels", kernels_table},     {"chips", chips_table}, {"rates", rates_table}};
  return all;
}

}  // namespace

std::vector<std::string> table_kinds() {
  std::vector<std::string> kinds;
  for (const auto& [kind, maker] : makers()) kinds.push_back(kind);
  return kinds;
}

std::string make_table(const std::string& kind, const Json& results) {
  const auto found = makers().find(kind);
  if (found == makers().end()) throw std::runtime_error("no kind of table is called " + kind);
  return found->second(results);
}

Json gather_intervals(const std::vector<Json>& results) {
  Json comparisons = Json::array();
  for (const Json& one : results) {
    if (one.value("schema", "") == "epoch-intervals/1") {
      for (const Json& gathered : one["comparisons"]) comparisons.push_back(gathered);
      continue;
    }
    require_schema(one, "epoch-abba/1");
    comparisons.push_back({{"title", one["title"]},
                           {"a", one["a"]["label"]},
                           {"b", one["b"]["label"]},
                           {"is_aa", one["is_aa"]},
                           {"metric", one["metric"]},
                           {"verdict", one["verdict"]},
                           {"because", one["because"]},
                           {"warnings", one["warnings"]},
                           {"seed", one["seed"]},
                           {"typical_a", one["typical_a"]},
                           {"typical_b", one["typical_b"]},
                           {"estimate", one["estimate"]},
                           {"control", one["control"]}});
  }
  if (results.empty()) throw std::runtime_error("no results to gather");
  return {{"schema", "epoch-intervals/1"},
          {"machine", results.front()["machine"]},
          {"started", results.front()["started"]},
          {"comparisons", comparisons}};
}

}  // namespace epochd::bench
