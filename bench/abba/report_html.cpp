// The page. Its plots are SVG made here, so that it can be mailed or attached as one file.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bench/abba/report.hpp"

namespace epochd::abba {
namespace {

constexpr double kWidth = 760;
constexpr double kHeight = 260;
constexpr double kLeft = 64;
constexpr double kRight = 16;
constexpr double kTop = 16;
constexpr double kBottom = 34;

constexpr const char* kStyle = R"(
:root { --ink: #1c2330; --soft: #5b6577; --line: #d8dde6; --paper: #fff; --a: #1f6fb2; --b: #c2571a;
  --good: #1a7f4b; --bad: #b3261e; --band: #1f6fb222; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf2; --soft: #9aa5b8; --line: #333c4d;
  --paper: #151a23; --a: #6cb4ee; --b: #f0955c; --good: #62c894; --bad: #f2867f;
  --band: #6cb4ee33; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 800px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
.improvement, .equivalent { color: var(--good); } .regression { color: var(--bad); }
.inconclusive, .unproven { color: var(--b); }
p.soft, figcaption, th { color: var(--soft); font-weight: normal; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid var(--line); }
code { overflow-wrap: anywhere; } figure { margin: 0; }
svg { width: 100%; height: auto; } svg text { fill: var(--soft); font-size: 12px; }
.axis { stroke: var(--line); } .zero { stroke: var(--soft); stroke-dasharray: 4 3; }
.a { fill: var(--a); stroke: var(--a); } .b { fill: var(--b); stroke: var(--b); }
.out { fill: none; stroke-opacity: .7; } .band { fill: var(--band); } .mean { stroke: var(--a); }
)";

std::string escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

/// Maps data to the drawing; a little air on both ends.
struct Scale {
  double low, high, from, to;

  Scale(double first, double last, double from_pixel, double to_pixel)
      : low(first), high(last), from(from_pixel), to(to_pixel) {
    const double air = high > low ? 0.06 * (high - low) : std::max(1e-9, 0.01 * std::fabs(high));
    low -= air;
    high += air;
  }
  double operator()(double value) const {
    return from + (value - low) / (high - low) * (to - from);
  }
};

/// Numbers of 1, 2 or 5 times a power of ten that divide the range in about `count`.
std::vector<double> ticks(const Scale& scale, int count) {
  const double raw = (scale.high - scale.low) / count;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  double step = power;
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    step = factor * power;
    if (step >= raw) break;
  }
  std::vector<double> out;
  for (double at = std::ceil(scale.low / step) * step; at <= scale.high; at += step) {
    out.push_back(std::fabs(at) < step / 1e6 ? 0 : at);
  }
  return out;
}

std::string y_axis(const Scale& y, const char* pattern) {
  std::string svg;
  for (const double tick : ticks(y, 5)) {
    svg += format("<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", kLeft,
                  kWidth - kRight, y(tick), y(tick));
    svg += format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", kLeft - 8, y(tick) + 4);
    svg += format(pattern, tick) + "</text>";
  }
  return svg;
}

std::string svg_start() {
  return format("<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\">", kWidth, kHeight);
}

std::string svg_end(const std::string& below) {
  return format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", (kLeft + kWidth) / 2,
                kHeight - 6) +
         below + "</text></svg>";
}

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
  const Scale y(low, high, kHeight - kBottom, kTop);
  const Scale x(0, static_cast<double>(report.blocks.size()) - 1, kLeft, kWidth - kRight);
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
  return svg + svg_end("block, in time");
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
  const Scale y(low, high, kHeight - kBottom, kTop);
  const Scale x(0, end, kLeft, kWidth - kRight);
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
  return svg + svg_end("seconds since the start");
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
    return format("%.6g", typical_value(report, which)) + " &middot; " + escape(label) +
           "<br><code>" + escape(command) + "</code>";
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
    html += row("control, " + escape(report.options.control),
                percent_text(report.control->mean) + " " + interval_text(report.control->t));
  }
  html += row("seed", std::to_string(report.options.seed));
  html += row("machine", escape(report.machine));
  return html + "</table>\n";
}

}  // namespace

std::string to_html(const Report& report) {
  const std::string verdict = name_of(report.judgement.verdict);
  std::string html = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n";
  html += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
          escape(report.title) + "</title>\n<style>" + kStyle + "</style></head><body>\n";
  html += "<p class=\"soft\">" + escape(report.title) + " &middot; " + escape(report.started) +
          "</p>\n<h1><span class=\"" + verdict + "\">" + verdict +
          "</span>: " + percent_text(report.estimate.mean) + " " + escape(report.options.metric) +
          "</h1>\n";
  html += "<p>" + escape(report.judgement.because) + ".</p>\n";
  for (const std::string& warning : report.judgement.warnings) {
    html += "<p class=\"inconclusive\">Warning: " + escape(warning) + ".</p>\n";
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
