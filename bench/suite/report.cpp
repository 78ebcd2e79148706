#include <algorithm>

#include "bench/abba/page.hpp"
#include "bench/suite/suite.hpp"

namespace epochd::bench {
namespace {

using abba::escape_html;
using abba::format;
using Json = nlohmann::ordered_json;

/// 0 where the record lacks the key: an older `epoch` may.
double number(const Json& record, const char* key) {
  return record.contains(key) && record[key].is_number() ? record[key].get<double>() : 0;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double hertz(const Measured& m) {
  return number(m.record, "cycles_per_second");
}

struct Column {
  const char* name;
  std::string (*text)(const Measured&);
};

constexpr double kMega = 1e6;

const std::vector<Column>& columns() {
  static const std::vector<Column> all = {
      {"workload", [](const Measured& m) { return m.what.workload; }},
      {"2^", [](const Measured& m) { return std::to_string(m.what.epoch_size_log2); }},
      {"threads",
       [](const Measured& m) {
         return m.what.threads == 0 ? std::string("all") : std::to_string(m.what.threads);
       }},
      {"Mcycles",
       [](const Measured& m) { return format("%.3f", number(m.record, "cycles") / kMega); }},
      {"epochs", [](const Measured& m) { return format("%.0f", number(m.record, "epochs")); }},
      {"prove s",
       [](const Measured& m) { return format("%.3f", number(m.record, "prove_seconds")); }},
      {"median s", [](const Measured& m) { return format("%.3f", median(m.prove_seconds)); }},
      {"MHz", [](const Measured& m) { return format("%.3f", hertz(m) / kMega); }},
      {"verify ms",
       [](const Measured& m) { return format("%.1f", 1e3 * number(m.record, "verify_seconds")); }},
      {"proof MB",
       [](const Measured& m) { return format("%.2f", number(m.record, "proof_bytes") / kMega); }},
      {"RSS MB",
       [](const Measured& m) {
         return format("%.0f", number(m.record, "peak_rss_bytes") / kMega);
       }},
      {"device MB",
       [](const Measured& m) {
         return format("%.0f", number(m.record, "peak_device_bytes") / kMega);
       }},
      {"up MB",
       [](const Measured& m) { return format("%.1f", number(m.record, "bytes_h2d") / kMega); }},
      {"down MB",
       [](const Measured& m) { return format("%.1f", number(m.record, "bytes_d2h") / kMega); }}};
  return all;
}

std::string floor_text(const SuiteReport& report, const Measured& m) {
  const std::optional<double> share = share_of_floor(report, m);
  return share ? format("%.0f %%", 100 * *share) : "";
}

bool has_floor(const SuiteReport& report) {
  return report.floor_hz || report.has_ceilings;
}

std::vector<Measured> group_of(const SuiteReport& report, const std::string& group) {
  std::vector<Measured> members;
  for (const Measured& m : report.measured) {
    if (m.what.group == group) members.push_back(m);
  }
  return members;
}

/// Speed over what the group varies, from 0.
std::string scaling_plot(const std::vector<Measured>& members, const char* key,
                         const std::string& below) {
  std::vector<double> at;
  double fastest = 0;
  for (const Measured& m : members) {
    at.push_back(key[0] == 't' ? m.what.threads : number(m.record, key));
    fastest = std::max(fastest, hertz(m) / kMega);
  }
  const abba::Scale x = abba::x_scale(*std::min_element(at.begin(), at.end()),
                                      *std::max_element(at.begin(), at.end()));
  const abba::Scale y = abba::y_scale(0, fastest);
  std::string svg = abba::svg_start() + abba::y_axis(y, "%.3g") + abba::x_labels(at, x, "%.0f");
  std::string line;
  for (size_t i = 0; i < members.size(); ++i) {
    const double mhz = hertz(members[i]) / kMega;
    line += format("%s%.1f,%.1f", i == 0 ? "" : " ", x(at[i]), y(mhz));
    svg += format("<circle class=\"a\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>", x(at[i]), y(mhz)) +
           format("%.0f: %.3f MHz</title></circle>", at[i], mhz);
  }
  svg += "<polyline class=\"mean\" fill=\"none\" points=\"" + line + "\"/>";
  return svg + abba::svg_end(below);
}

/// Stages in the order in which they run; those of proving and what is beside it.
constexpr const char* kStages[] = {
    "fill",   "commit main", "logup",  "commit logup", "quotient",    "commit quotient",
    "open",   "deep",        "fri",    "grind",        "gather",      "replay",
    "verify", "scout",       "survey", "save",         "global proof"};

/// A bar a stage, of the time of the longest, with its floor's part in it.
std::string stage_bars(const Measured& m) {
  const Json stages = m.record.value("stages", Json::object());
  double longest = 0;
  for (const char* name : kStages) longest = std::max(longest, number(stages, name));
  if (longest == 0) return "";
  constexpr double kBar = 360;
  std::string html = "<h3>" + escape_html(m.what.workload) +
                     format(", 2^%u</h3>\n<table>", m.what.epoch_size_log2) +
                     "<tr><th>stage</th><th>s</th><th>floor s</th><th></th></tr>\n";
  for (const char* name : kStages) {
    if (!stages.contains(name)) continue;
    const double seconds = number(stages, name);
    const auto floor = m.stage_floor_seconds.find(name);
    const double least = floor == m.stage_floor_seconds.end() ? 0 : floor->second;
    html += std::string("<tr><td>") + name + format("</td><td>%.4f</td><td>", seconds) +
            (least > 0 ? format("%.4f", least) : std::string()) +
            format("</td><td><svg style=\"width:%.0fpx\" viewBox=\"0 0 %.0f 12\">", kBar, kBar) +
            format("<rect class=\"band\" y=\"1\" height=\"10\" width=\"%.1f\"/>",
                   kBar * seconds / longest) +
            format("<rect class=\"a\" y=\"3\" height=\"6\" width=\"%.1f\"/></svg></td></tr>\n",
                   kBar * std::min(least, longest) / longest);
  }
  return html + "</table>\n";
}

std::string html_table(const SuiteReport& report) {
  std::string html = "<table><tr>";
  for (const Column& column : columns()) html += std::string("<th>") + column.name + "</th>";
  html += has_floor(report) ? "<th>of floor</th></tr>\n" : "</tr>\n";
  for (const Measured& m : report.measured) {
    html += "<tr>";
    for (const Column& column : columns()) html += "<td>" + escape_html(column.text(m)) + "</td>";
    if (has_floor(report)) html += "<td>" + floor_text(report, m) + "</td>";
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

}  // namespace

Json to_json(const SuiteReport& report) {
  Json cases = Json::array();
  for (const Measured& m : report.measured) {
    const std::optional<double> share = share_of_floor(report, m);
    cases.push_back({{"group", m.what.group},
                     {"workload", m.what.workload},
                     {"epoch_size_log2", m.what.epoch_size_log2},
                     {"threads", m.what.threads},
                     {"prove_seconds", m.prove_seconds},
                     {"prove_seconds_median", median(m.prove_seconds)},
                     {"mhz", hertz(m) / kMega},
                     {"of_floor", share ? Json(*share) : Json()},
                     {"stage_floor_seconds", m.stage_floor_seconds},
                     {"record", m.record}});
  }
  return {{"schema", "epoch-bench/1"},
          {"suite", report.suite},
          {"backend", report.backend},
          {"security", report.security},
          {"machine", report.machine},
          {"started", report.started},
          {"floor_hz", report.floor_hz ? Json(*report.floor_hz) : Json()},
          {"cases", cases}};
}

std::string to_table(const SuiteReport& report) {
  std::vector<std::vector<std::string>> rows(1);
  for (const Column& column : columns()) rows[0].emplace_back(column.name);
  if (has_floor(report)) rows[0].emplace_back("of floor");
  for (const Measured& m : report.measured) {
    rows.emplace_back();
    for (const Column& column : columns()) rows.back().push_back(column.text(m));
    if (has_floor(report)) rows.back().push_back(floor_text(report, m));
  }
  std::string text;
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      size_t width = 0;
      for (const auto& other : rows) width = std::max(width, other[i].size());
      text += std::string(width - row[i].size() + (i == 0 ? 0 : 2), ' ') + row[i];
    }
    text += "\n";
  }
  return text;
}

std::string to_html(const SuiteReport& report) {
  std::string html = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n";
  html += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>";
  html += "epoch-bench: " + escape_html(report.suite) + "</title>\n<style>" + abba::kPageStyle;
  html += "body { max-width: 1100px; } figure { max-width: 800px; }</style></head><body>\n";
  html += "<p class=\"soft\">" + escape_html(report.machine) + " &middot; " + report.started +
          "</p>\n<h1>" + escape_html(report.suite) + " on " + escape_html(report.backend) +
          ", preset " + escape_html(report.security) + "</h1>\n" + html_table(report);
  std::string bars;
  for (const Measured& m : group_of(report, "workloads")) bars += stage_bars(m);
  if (!bars.empty()) {
    html +=
        "<h2>Stages, all epochs together</h2>\n<p class=\"soft\">Dark: the floor. Stages of "
        "several epochs at a time, and those beside proving, overlap.</p>\n" +
        bars;
  }
  const auto epochs = group_of(report, "epochs");
  const auto threads = group_of(report, "threads");
  if (!epochs.empty()) {
    html += "<h2>MHz over the number of epochs</h2>\n<figure>" +
            scaling_plot(epochs, "epochs", "epochs") + "</figure>\n";
  }
  if (!threads.empty()) {
    html += "<h2>MHz over threads</h2>\n<figure>" + scaling_plot(threads, "threads", "threads") +
            "</figure>\n";
  }
  return html + "</body></html>\n";
}

}  // namespace epochd::bench
