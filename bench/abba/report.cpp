#include "bench/abba/report.hpp"

#include <cmath>
#include <cstdio>

namespace epochd::abba {
namespace {

std::string number_text(double value, const char* format = "%.4g") {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string interval_text(const Interval& interval) {
  return "[" + percent_text(interval.low) + ", " + percent_text(interval.high) + "]";
}

std::string runs_text(const Block& block) {
  std::string text;
  for (const Run& run : block.runs) text += number_text(run.value, " %10.4g");
  return text;
}

std::string note_of(const Block& block) {
  if (block.is_warmup) return "warm-up";
  std::string note;
  for (const std::string& rule : block.broken_rules) note += (note.empty() ? "" : "; ") + rule;
  return note.empty() ? "" : "struck out: " + note;
}

std::string side_line(const Report& report, Side side) {
  const bool is_a = side == Side::kA;
  return number_text(typical_value(report, side)) + "  " + (is_a ? report.label_a : report.label_b);
}

/// The rows of the result table: what, value.
std::vector<std::pair<std::string, std::string>> result_rows(const Report& report) {
  const Estimate& e = report.estimate;
  const std::string confidence = number_text(100 * report.criteria.confidence, "%g %%");
  std::vector<std::pair<std::string, std::string>> rows = {
      {"A against B", percent_text(e.mean)},
      {confidence + " interval (t)", interval_text(e.t)},
      {confidence + " interval (bootstrap)", interval_text(e.bootstrap)},
      {"signed-rank p (exact)", number_text(e.wilcoxon_p)},
      {"minimum detectable effect", number_text(100 * std::expm1(e.minimum_detectable), "%.2f %%")},
      {"threshold", number_text(100 * report.criteria.threshold, "%g %%")},
      {"valid blocks of 4 runs", std::to_string(e.blocks)}};
  if (report.control) {
    rows.emplace_back("control (" + report.options.control + ")",
                      percent_text(report.control->mean) + " " + interval_text(report.control->t));
  }
  return rows;
}

std::vector<double> valid_ratios(const std::vector<Block>& blocks) {
  std::vector<double> ratios;
  for (const Block& block : blocks) {
    if (block.is_valid()) ratios.push_back(log_ratio_of(block));
  }
  return ratios;
}

/// Empty unless every valid block tells.
std::vector<double> control_ratios(const std::vector<Block>& blocks) {
  std::vector<double> ratios;
  for (const Block& block : blocks) {
    if (!block.is_valid()) continue;
    const auto ratio = control_log_ratio_of(block);
    if (!ratio) return {};
    ratios.push_back(*ratio);
  }
  return ratios;
}

}  // namespace

void analyse(Report& report) {
  const auto& criteria = report.criteria;
  report.estimate =
      estimate_blocks(valid_ratios(report.blocks), criteria.confidence, report.options.seed);
  const std::vector<double> control = control_ratios(report.blocks);
  if (control.size() >= 2) {
    report.control = estimate_blocks(control, criteria.confidence, report.options.seed);
  }
  int struck = 0;
  for (const Block& block : report.blocks) struck += !block.is_warmup && !block.is_valid();
  report.judgement = judge(report.estimate, report.control ? &*report.control : nullptr,
                           report.options.blocks, struck, criteria);
}

std::string percent_text(double log_ratio) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.2f %%", 100 * std::expm1(log_ratio));
  return text;
}

double typical_value(const Report& report, Side side) {
  double sum = 0;
  int count = 0;
  for (const Block& block : report.blocks) {
    if (!block.is_valid()) continue;
    for (const Run& run : block.runs) {
      if (run.side != side) continue;
      sum += std::log(run.value);
      ++count;
    }
  }
  return std::exp(sum / count);
}

std::string to_table(const Report& report) {
  std::string text = "block order " + report.options.metric + " in time\n";
  for (const Block& block : report.blocks) {
    char line[64];
    std::snprintf(line, sizeof line, "%5d %-5s", block.number,
                  block.order == Order::kAbba ? "ABBA" : "BAAB");
    const std::string note = note_of(block);
    text += line + runs_text(block) + "  " +
            (block.is_valid() ? percent_text(log_ratio_of(block)) : note) + "\n";
  }
  text += "\nA  " + side_line(report, Side::kA) + "\nB  " + side_line(report, Side::kB) + "\n\n";
  for (const auto& [what, value] : result_rows(report)) {
    char line[64];
    std::snprintf(line, sizeof line, "%-30s ", what.c_str());
    text += line + value + "\n";
  }
  for (const std::string& warning : report.judgement.warnings) text += "warning: " + warning + "\n";
  text += std::string("\n") + name_of(report.judgement.verdict) + ": " + report.judgement.because;
  return text + "\n";
}

std::string to_markdown(const Report& report) {
  std::string text = "### " + report.title + ": " + name_of(report.judgement.verdict) + " (" +
                     percent_text(report.estimate.mean) + ")\n\n";
  text += "Because " + report.judgement.because + ".\n\n| | |\n|---|---|\n";
  text += "| A | " + side_line(report, Side::kA) + " |\n";
  text += "| B | " + side_line(report, Side::kB) + " |\n";
  for (const auto& [what, value] : result_rows(report)) {
    text += "| " + what + " | " + value + " |\n";
  }
  text += "\n";
  for (const std::string& warning : report.judgement.warnings) {
    text += "- Warning: " + warning + ".\n";
  }
  return text + "\nMetric `" + report.options.metric + "`, seed " +
         std::to_string(report.options.seed) + ", " + report.machine + ", " + report.started +
         ".\n";
}

std::string to_csv(const Report& report) {
  std::string text = "block,order,warmup,valid,position,side,started_s,wall_s,value,control\n";
  for (const Block& block : report.blocks) {
    for (size_t i = 0; i < block.runs.size(); ++i) {
      const Run& run = block.runs[i];
      text += std::to_string(block.number) + (block.order == Order::kAbba ? ",ABBA," : ",BAAB,") +
              std::to_string(block.is_warmup) + "," + std::to_string(block.is_valid()) + "," +
              std::to_string(i) + (run.side == Side::kA ? ",A," : ",B,") +
              number_text(run.started, "%.3f,") + number_text(run.wall_seconds, "%.9g,") +
              number_text(run.value, "%.9g,") +
              (run.control ? number_text(*run.control, "%.9g") : "") + "\n";
    }
  }
  return text;
}

}  // namespace epochd::abba
