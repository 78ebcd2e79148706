#include "bench/report/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "bench/abba/statistics.hpp"
#include "bench/abba/student_t.hpp"
#include "bench/floor/floor.hpp"

namespace epochd::bench {
namespace {

constexpr double kConfidence = 0.99;
constexpr std::string_view kCeiling = "ceiling/";

double seconds_of_unit(const std::string& unit) {
  if (unit == "ns") return 1e-9;
  if (unit == "us") return 1e-6;
  if (unit == "ms") return 1e-3;
  if (unit == "s") return 1;
  throw std::runtime_error("unknown time unit " + unit);
}

double number(const Json& object, const char* key) {
  return object.contains(key) && object[key].is_number() ? object[key].get<double>() : 0;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// One benchmark, all its repetitions.
struct Timed {
  std::string name;
  std::vector<std::vector<double>> runs;  ///< seconds, by file
  std::vector<double> seconds;            ///< what is kept of them
  std::vector<double> items_per_second;
  Work work;
  std::string threads;
};

/// Without /real_time, /manual_time, /iterations:N, /repeats:N at its end.
std::string plain_name(std::string name) {
  for (;;) {
    const size_t slash = name.rfind('/');
    const std::string last = slash == std::string::npos ? "" : name.substr(slash + 1);
    if (last != "real_time" && last != "manual_time" && !last.starts_with("iterations:") &&
        !last.starts_with("repeats:")) {
      return name;
    }
    name.resize(slash);
  }
}

void add_timed(const Json& benchmark, size_t run, std::vector<Timed>& all,
               std::map<std::string, size_t>& at) {
  for (const Json& entry : benchmark.at("benchmarks")) {
    if (entry.value("run_type", "iteration") != "iteration") continue;  // means and the like
    std::string name = plain_name(entry.at("run_name"));
    // exec_bench says the guest in a label.
    if (entry.contains("label")) name += " " + entry["label"].get<std::string>();
    if (entry.value("error_occurred", false)) {
      throw std::runtime_error(name + ": " + entry.value("error_message", "failed"));
    }
    if (at.try_emplace(name, all.size()).second) {
      Timed timed;
      timed.name = name;
      timed.work = {number(entry, "bytes"), number(entry, "multiplications"),
                    number(entry, "butterflies"), number(entry, "compressions")};
      timed.threads = std::to_string(std::max(1, static_cast<int>(number(entry, "workers"))));
      all.push_back(timed);
    }
    const double unit = seconds_of_unit(entry.value("time_unit", "ns"));
    all[at[name]].runs.resize(run + 1);
    all[at[name]].runs[run].push_back(unit * number(entry, "real_time"));
    all[at[name]].items_per_second.push_back(number(entry, "items_per_second"));
  }
}

/// Of one run every repetition; of several the best of each, which is what differs from run to run.
std::vector<double> samples_of(const std::vector<std::vector<double>>& runs) {
  std::vector<double> best;
  const std::vector<double>* last = nullptr;
  for (const std::vector<double>& run : runs) {
    if (run.empty()) continue;  // of a file without this kernel
    best.push_back(*std::min_element(run.begin(), run.end()));
    last = &run;
  }
  return best.size() == 1 ? *last : best;
}

/// The best of the benchmarks named ceiling/KIND/..., by number of threads.
std::map<std::string, Ceilings> ceilings_of(const std::vector<Timed>& all) {
  std::map<std::string, Ceilings> ceilings;
  for (const Timed& timed : all) {
    if (!timed.name.starts_with(kCeiling)) continue;
    const double best = *std::min_element(timed.seconds.begin(), timed.seconds.end());
    Ceilings& c = ceilings[timed.threads];
    c.bytes = std::max(c.bytes, timed.work.bytes / best);
    c.multiplications = std::max(c.multiplications, timed.work.multiplications / best);
    c.butterflies = std::max(c.butterflies, timed.work.butterflies / best);
    c.compressions = std::max(c.compressions, timed.work.compressions / best);
  }
  return ceilings;
}

Json ceilings_json(const std::map<std::string, Ceilings>& ceilings) {
  Json json = Json::object();
  for (const auto& [threads, c] : ceilings) {
    json["threads:" + threads] = {{"bytes", c.bytes},
                                  {"multiplications", c.multiplications},
                                  {"butterflies", c.butterflies},
                                  {"compressions", c.compressions}};
  }
  return json;
}

Json kernel_json(const Timed& timed, const std::map<std::string, Ceilings>& ceilings) {
  Json kernel = {{"name", timed.name},
                 {"threads", std::stoi(timed.threads)},
                 {"seconds", timed.seconds},
                 {"median_seconds", median(timed.seconds)}};
  const double items = median(timed.items_per_second);
  if (items > 0) kernel["items_per_second"] = items;
  const auto found = ceilings.find(timed.threads);
  if (found == ceilings.end()) return kernel;
  const Floor floor = floor_of(timed.work, found->second);
  if (floor.bound.empty()) return kernel;
  kernel["floor_seconds"] = floor.seconds;
  kernel["bound"] = floor.bound;
  return kernel;
}

std::vector<double> logs_of(const Json& kernel) {
  std::vector<double> logs;
  for (const Json& seconds : kernel.at("seconds")) logs.push_back(std::log(seconds.get<double>()));
  return logs;
}

/// Welch's interval of the difference of means.
abba::Interval welch(const std::vector<double>& before, const std::vector<double>& after) {
  const double difference = abba::mean_of(after) - abba::mean_of(before);
  if (before.size() < 2 || after.size() < 2) return {difference, difference};
  const auto share = [](const std::vector<double>& v) {
    const double deviation = abba::deviation_of(v);
    return deviation * deviation / static_cast<double>(v.size());
  };
  const double a = share(before);
  const double b = share(after);
  if (a + b == 0) return {difference, difference};
  const double freedom = (a + b) * (a + b) /
                         (a * a / static_cast<double>(before.size() - 1) +
                          b * b / static_cast<double>(after.size() - 1));
  // Rounded down: a wider interval.
  const double half =
      abba::student_t_quantile((1 + kConfidence) / 2, std::max(1, static_cast<int>(freedom))) *
      std::sqrt(a + b);
  return {difference - half, difference + half};
}

double percent(double log_ratio) {
  return 100 * std::expm1(log_ratio);
}

}  // namespace

Json kernels_from_benchmarks(const std::vector<Json>& files, const std::string& machine) {
  std::vector<Timed> all;
  std::map<std::string, size_t> at;
  for (size_t run = 0; run < files.size(); ++run) add_timed(files[run], run, all, at);
  for (Timed& timed : all) timed.seconds = samples_of(timed.runs);
  const auto ceilings = ceilings_of(all);
  Json kernels = Json::array();
  for (const Timed& timed : all) {
    if (!timed.name.starts_with(kCeiling)) kernels.push_back(kernel_json(timed, ceilings));
  }
  return {{"schema", "epoch-kernels/1"},
          {"machine", machine},
          {"started", files.at(0).at("context").value("date", "")},
          {"ceilings", ceilings_json(ceilings)},
          {"kernels", kernels}};
}

Comparison compare_kernels(const Json& before, const Json& after, double threshold_percent) {
  std::map<std::string, const Json*> old;
  for (const Json& kernel : before.at("kernels")) old[kernel.at("name")] = &kernel;
  Comparison out;
  const double bound = std::log1p(threshold_percent / 100);
  for (const Json& kernel : after.at("kernels")) {
    const std::string name = kernel.at("name");
    const auto found = old.find(name);
    if (found == old.end()) {
      out.added.push_back(name);
      continue;
    }
    const std::vector<double> was = logs_of(*found->second);
    const std::vector<double> is = logs_of(kernel);
    old.erase(found);
    const abba::Interval ends = welch(was, is);
    const Change change = {name, percent(abba::mean_of(is) - abba::mean_of(was)), percent(ends.low),
                           percent(ends.high)};
    if (ends.low > bound) {
      out.slower.push_back(change);
    } else if (ends.high < -bound) {
      out.faster.push_back(change);
    } else {
      ++out.same;
    }
  }
  for (const auto& [name, kernel] : old) out.gone.push_back(name);
  const auto rising = [](const Change& a, const Change& b) { return a.percent < b.percent; };
  std::sort(out.faster.begin(), out.faster.end(), rising);
  std::sort(out.slower.rbegin(), out.slower.rend(), rising);
  return out;
}

}  // namespace epochd::bench
