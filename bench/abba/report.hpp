// One session's result, in every form it is wanted.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/abba/session.hpp"
#include "bench/abba/verdict.hpp"

namespace epochd::abba {

struct Report {
  SessionOptions options;
  Criteria criteria;
  std::string title;
  std::string label_a = "A";
  std::string label_b = "B";
  std::string machine;  ///< processor and kernel
  std::string started;  ///< UTC, ISO 8601
  std::vector<Block> blocks;
  Estimate estimate;
  std::optional<Estimate> control;
  Judgement judgement;
};

/// Estimates and judges what is in `blocks`. Pre: two valid blocks.
void analyse(Report& report);

/// A log ratio in percent of the ratio, signed, with two decimals: "-1.98 %".
std::string percent_text(double log_ratio);
/// Geometric mean of one side's runs in the valid blocks.
double typical_value(const Report& report, Side side);

/// Valid, struck-out and warm-up blocks; what the estimates are made of.
std::string to_table(const Report& report);
std::string to_markdown(const Report& report);
nlohmann::ordered_json to_json(const Report& report);
/// A line a run.
std::string to_csv(const Report& report);
/// One page without references: the verdict, the paired plot, the drift plot, the numbers.
std::string to_html(const Report& report);

}  // namespace epochd::abba
