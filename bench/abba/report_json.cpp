#include <cmath>

#include "bench/abba/report.hpp"

namespace epochd::abba {
namespace {

using Json = nlohmann::ordered_json;

/// Ratios leave as A / B - 1 in percent: nobody reads logarithms.
double percent(double log_ratio) {
  return 100 * std::expm1(log_ratio);
}

Json percents(const Interval& interval) {
  return {percent(interval.low), percent(interval.high)};
}

Json to_json(const Estimate& estimate) {
  return {{"blocks", estimate.blocks},
          {"effect_percent", percent(estimate.mean)},
          {"t_interval_percent", percents(estimate.t)},
          {"bootstrap_interval_percent", percents(estimate.bootstrap)},
          {"wilcoxon_p", estimate.wilcoxon_p},
          {"minimum_detectable_percent", percent(estimate.minimum_detectable)},
          {"log_ratio_mean", estimate.mean},
          {"log_ratio_deviation", estimate.deviation}};
}

Json to_json(const Block& block) {
  Json runs = Json::array();
  for (const Run& run : block.runs) {
    runs.push_back({{"side", run.side == Side::kA ? "A" : "B"},
                    {"started_seconds", run.started},
                    {"wall_seconds", run.wall_seconds},
                    {"value", run.value},
                    {"control", run.control ? Json(*run.control) : Json(nullptr)}});
  }
  return {
      {"number", block.number},           {"order", block.order == Order::kAbba ? "ABBA" : "BAAB"},
      {"warmup", block.is_warmup},        {"broken_rules", block.broken_rules},
      {"log_ratio", log_ratio_of(block)}, {"runs", runs}};
}

}  // namespace

nlohmann::ordered_json to_json(const Report& report) {
  Json blocks = Json::array();
  for (const Block& block : report.blocks) blocks.push_back(to_json(block));
  const SessionOptions& o = report.options;
  const Criteria& c = report.criteria;
  return {{"schema", "epoch-abba/1"},
          {"title", report.title},
          {"verdict", name_of(report.judgement.verdict)},
          {"exit_code", exit_code_of(report.judgement.verdict)},
          {"because", report.judgement.because},
          {"warnings", report.judgement.warnings},
          {"started", report.started},
          {"machine", report.machine},
          {"a", {{"label", report.label_a}, {"command", o.command_a}}},
          {"b", {{"label", report.label_b}, {"command", o.command_b}}},
          {"metric", o.metric},
          {"higher_is_better", c.higher_is_better},
          {"is_aa", c.is_aa},
          {"threshold_percent", 100 * c.threshold},
          {"confidence", c.confidence},
          {"seed", o.seed},
          {"blocks_planned", o.blocks},
          {"warmup_blocks", o.warmup},
          {"typical_a", typical_value(report, Side::kA)},
          {"typical_b", typical_value(report, Side::kB)},
          {"estimate", to_json(report.estimate)},
          {"served", o.is_served},
          {"control_metric", o.control},
          {"control_command", o.control_command},
          {"control", report.control ? to_json(*report.control) : Json(nullptr)},
          {"blocks", blocks}};
}

}  // namespace epochd::abba
