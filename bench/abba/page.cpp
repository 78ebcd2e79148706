#include "bench/abba/page.hpp"

#include <algorithm>
#include <cmath>

namespace epochd::abba {

const char* const kPageStyle = R"(
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

std::string escape_html(const std::string& text) {
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

Scale::Scale(double first, double last, double from_pixel, double to_pixel)
    : low(first), high(last), from(from_pixel), to(to_pixel) {
  const double air = high > low ? 0.06 * (high - low) : std::max(1e-9, 0.01 * std::fabs(high));
  low -= air;
  high += air;
}

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

std::string x_labels(const std::vector<double>& at, const Scale& x, const char* pattern) {
  std::string svg;
  for (const double value : at) {
    svg += format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", x(value),
                  kHeight - kBottom + 14) +
           format(pattern, value) + "</text>";
  }
  return svg;
}

std::string svg_end(const std::string& below) {
  return format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", (kLeft + kWidth) / 2,
                kHeight - 6) +
         below + "</text></svg>";
}

}  // namespace epochd::abba
