// The page. Its plots are SVG made here, so that it can be mailed or attached as one file.
#include <algorithm>
#include <cmath>

#include "bench/abba/page.hpp"
#include "bench/abba/report.hpp"

namespace epochd::abba {
namespace {

double percent(double log_ratio) {
  return 100 * std::expm1(log_ratio);
}

/// Each block's ratio, the mean and its interval.
std::string paired_plot(const Report& report) {
  double low = percent(report.estimate.t.low);
  double high = percent(report.estimate.t.high);
  low = std::min(low, 0.0);
  high = std::max(high, 0.0);
  for (const Block& block : report.blocks) {
    if (block.is_warmup) continue;
    low = std::min(low, percent(log_ratio_of(block)));
    high = std::max(high, percent(log_ratio_of(block)));
  }
  const Scale y = y_scale(low, high);
  const Scale x = x_scale(0, static_cast<double>(report.blocks.size()) - 1);
  std::string svg = svg_start() + y_axis(y, "%+.3g %%");
  const double band_top = y(percent(report.estimate.t.high));
  const double band_bottom = y(percent(report.estimate.t.low));
  svg += format("<rect class=\"band\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
                kLeft, band_top, kWidth - kRight - kLeft, std::max(1.0, band_bottom - band_top));
  const auto line = [&](const char* kind, double at) {
    svg += format("<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", kind,
                  kLeft, kWidth - kRight, y(at), y(at));
  };
  line("mean", percent(report.estimate.mean));
  line("zero", 0);
  for (const Block& block : report.blocks) {
    if (block.is_warmup) continue;
    svg += format("<circle class=\"a%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"><title>",
                  block.is_valid() ? "" : " out", x(block.number), y(percent(log_ratio_of(block))));
    svg += format("block %d, %s: %+.2f %%</title></circle>", block.number,
                  block.order == Order::kAbba ? "ABBA" : "BAAB", percent(log_ratio_of(block)));
  }
  std::vector<double> numbers;
  const size_t step = report.blocks.size() / 40 + 1;
  for (size_t i = 0; i < report.blocks.size(); i += step) {
    numbers.push_back(static_cast<double>(i));
  }
  return svg + x_labels(numbers, x, "%.0f") + svg_end("block, in time");
}

/// Every run where it stood in time: drift, steps and outliers show.
std::string drift_plot(const Report& report) {
  double low = report.blocks.front().runs.front().value;
  double high = low;
  double end = 0;
  for (const Block& block : report.blocks) {
    for (const Run& run : block.runs) {
      low = std::min(low, run.value);
      high = std::max(high, run.value);
      end = std::max(end, run.started);
    }
  }
  const Scale y = y_scale(low, high);
  const Scale x = x_scale(0, end);
  std::string svg = svg_start() + y_axis(y, "%.4g");
  for (const Block& block : report.blocks) {
    for (const Run& run : block.runs) {
      const bool is_a = run.side == Side::kA;
      svg += format("<circle class=\"%s%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>",
                    is_a ? "a" : "b", block.is_valid() ? "" : " out", x(run.started), y(run.value));
      svg += format("%s, block %d, %.0f s: %.6g</title></circle>", is_a ? "A" : "B", block.number,
                    run.started, run.value);
    }
  }
  return svg + x_labels(ticks(x, 8), x, "%.4g") + svg_end("seconds since the start");
}

std::string row(const std::string& what, const std::string& value) {
  return "<tr><th>" + what + "</th><td>" + value + "</td></tr>\n";
}

std::string interval_text(const Interval& interval) {
  return "[" + percent_text(interval.low) + ", " + percent_text(interval.high) + "]";
}

std::string number_table(const Report& report) {
  const Estimate& e = report.estimate;
  const auto side = [&](const std::string& label, const std::string& command, Side which) {
    return format("%.6g", typical_value(report, which)) + " &middot; " + escape_html(label) +
           "<br><code>" + escape_html(command) + "</code>";
  };
  std::string html = "<table>\n";
  html += row("A", side(report.label_a, report.options.command_a, Side::kA));
  html += row("B", side(report.label_b, report.options.command_b, Side::kB));
  html += row("t interval", interval_text(e.t));
  html += row("bootstrap interval", interval_text(e.bootstrap));
  html += row("signed-rank p, exact", format("%.4g", e.wilcoxon_p));
  html += row("minimum detectable effect", percent_text(e.minimum_detectable).substr(1));
  html += row("threshold", format("%g %%", 100 * report.criteria.threshold));
  html += row("valid blocks", std::to_string(e.blocks));
  if (report.control) {
    html += row("control, " + escape_html(report.options.control),
                percent_text(report.control->mean) + " " + interval_text(report.control->t));
  }
  html += row("seed", std::to_string(report.options.seed));
  html += row("machine", escape_html(report.machine));
  return html + "</table>\n";
}

}  // namespace

std::string to_html(const Report& report) {
  const std::string verdict = name_of(report.judgement.verdict);
  std::string html = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n";
  html += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
          escape_html(report.title) + "</title>\n<style>" + kPageStyle + "</style></head><body>\n";
  html += "<p class=\"soft\">" + escape_html(report.title) + " &middot; " +
          escape_html(report.started) + "</p>\n<h1><span class=\"" + verdict + "\">" + verdict +
          "</span>: " + percent_text(report.estimate.mean) + " " +
          escape_html(report.options.metric) + "</h1>\n";
  html += "<p>Because " + escape_html(report.judgement.because) + ".</p>\n";
  for (const std::string& warning : report.judgement.warnings) {
    html += "<p class=\"inconclusive\">Warning: " + escape_html(warning) + ".</p>\n";
  }
  html += "<h2>A against B, block by block</h2>\n<figure>" + paired_plot(report) +
          "<figcaption>One dot a block of four runs; hollow: struck out by rule. The line is the "
          "mean, the band its interval.</figcaption></figure>\n";
  html += "<h2>Every run in time</h2>\n<figure>" + drift_plot(report) +
          "<figcaption><svg width=\"10\" height=\"10\" style=\"width:10px\" viewBox=\"0 0 10 10\">"
          "<circle class=\"a\" cx=\"5\" cy=\"5\" r=\"4\"/></svg> A "
          "<svg width=\"10\" height=\"10\" style=\"width:10px\" viewBox=\"0 0 10 10\">"
          "<circle class=\"b\" cx=\"5\" cy=\"5\" r=\"4\"/></svg> B; hollow: warm-up or struck out."
          "</figcaption></figure>\n";
  html += "<h2>Numbers</h2>\n" + number_table(report);
  return html + "</body></html>\n";
}

}  // namespace epochd::abba
