#include "tests/e2e/soak_support.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>

namespace epochd::e2e {
namespace {

constexpr size_t kBlocks = 20;
constexpr double kDay_s = 86400;

Samples block_means(const Samples& samples) {
  const size_t blocks = std::min(kBlocks, samples.size());
  Samples means;
  for (size_t block = 0; block < blocks; ++block) {
    const size_t first = samples.size() * block / blocks;
    const size_t end = samples.size() * (block + 1) / blocks;
    std::pair<double, double> sum{0, 0};
    for (size_t i = first; i < end; ++i) {
      sum.first += samples[i].first;
      sum.second += samples[i].second;
    }
    const double count = static_cast<double>(end - first);
    means.emplace_back(sum.first / count, sum.second / count);
  }
  return means;
}

}  // namespace

u64 soak_size(const char* name, u64 otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

Slope slope_of(const Samples& samples) {
  Slope slope;
  const Samples means = block_means(samples);
  const double n = static_cast<double>(means.size());
  if (means.size() < 3) return slope;
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0, residuals = 0;
  for (const auto& [x, y] : means) mean_x += x / n, mean_y += y / n;
  for (const auto& [x, y] : means) {
    xx += (x - mean_x) * (x - mean_x);
    xy += (x - mean_x) * (y - mean_y);
  }
  slope.mean = mean_y;
  slope.range = means.back().first - means.front().first;
  if (xx == 0) return slope;
  slope.per_unit = xy / xx;
  for (const auto& [x, y] : means) {
    const double residual = y - mean_y - slope.per_unit * (x - mean_x);
    residuals += residual * residual;
  }
  slope.standard_error = std::sqrt(residuals / (n - 2) / xx);
  return slope;
}

bool is_flat(const Slope& slope, double share) {
  const double rise = slope.per_unit * slope.range;
  return slope.per_unit <= 3 * slope.standard_error ||
         rise <= std::max(share * slope.mean, kAllocatorBytes);
}

nlohmann::json to_json(const Slope& slope) {
  return {{"per_unit", slope.per_unit},
          {"standard_error", slope.standard_error},
          {"mean", slope.mean},
          {"range", slope.range}};
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
}

u64 resident_bytes(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  u64 size = 0, resident = 0;
  file >> size >> resident;
  return resident * static_cast<u64>(::sysconf(_SC_PAGESIZE));
}

std::optional<double> time_of_line(const std::string& log, const std::string& text) {
  const size_t at = log.find(text);
  if (at == std::string::npos) return std::nullopt;
  const size_t newline = log.rfind('\n', at);
  const size_t start = newline == std::string::npos ? 0 : newline + 1;
  int hours = 0, minutes = 0;
  double seconds = 0;
  if (std::sscanf(log.c_str() + start, "%*d-%*d-%*dT%d:%d:%lfZ", &hours, &minutes, &seconds) != 3) {
    return std::nullopt;
  }
  return hours * 3600 + minutes * 60 + seconds;
}

double time_of_day_s() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::fmod(std::chrono::duration<double>(since).count(), kDay_s);
}

double seconds_between(double from, double to) {
  // The log has milliseconds: what was written in the one we began in may seem to come before.
  return to - from < -1 ? to - from + kDay_s : std::max(0.0, to - from);
}

size_t count_of(const std::string& log, const std::string& text) {
  size_t count = 0;
  for (size_t at = log.find(text); at != std::string::npos; at = log.find(text, at + 1)) ++count;
  return count;
}

SoakTest::SoakTest() {
  for (const char* place :
       {"tmp", "incoming", "hold", "active", "done", "failed", "quarantine", "cancelled"}) {
    std::filesystem::create_directories(queue() / place);
  }
}

void SoakTest::put_job(const std::string& id, const std::string& program, const std::string& input,
                       const std::string& job_file) const {
  const Path job = queue() / "tmp" / id;
  write_file(job / "program.elf", program);
  if (!input.empty()) write_file(job / "input", input);
  write_file(job / "job.yaml", job_file);
  std::filesystem::rename(job, queue() / "incoming" / id);
}

std::string SoakTest::fib_input(u64 epochs) {
  // Some 110 cycles around the loop, and five a turn.
  return little_endian((epochs * 128 - 115) / 5);
}

std::vector<std::string> SoakTest::places_of(const std::string& id) const {
  std::vector<std::string> places;
  for (const char* place :
       {"incoming", "hold", "active", "done", "failed", "quarantine", "cancelled"}) {
    if (std::filesystem::exists(queue() / place / id)) places.emplace_back(place);
  }
  return places;
}

std::set<std::string> SoakTest::jobs_in(const std::string& place) const {
  std::set<std::string> jobs;
  for (const auto& entry : std::filesystem::directory_iterator(queue() / place)) {
    jobs.insert(entry.path().filename().string());
  }
  return jobs;
}

size_t SoakTest::count_in(const std::string& place) const {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(queue() / place)) {
    ++count;
  }
  return count;
}

nlohmann::json SoakTest::result_of(const std::string& id) const {
  return nlohmann::json::parse(read_file(queue() / "done" / id / "result.json"), nullptr, false);
}

void SoakTest::tell(const std::string& test, nlohmann::json figures) {
  figures["soak"] = test;
  figures["shard"] = soak_size("EPOCHD_SOAK_SHARD", 0);
  const std::string line = figures.dump() + "\n";
  std::cout << line << std::flush;
  if (const char* path = std::getenv("EPOCHD_SOAK_OUT")) {
    std::ofstream(path, std::ios::app) << line << std::flush;
  }
}

}  // namespace epochd::e2e
