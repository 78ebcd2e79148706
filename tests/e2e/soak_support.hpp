// Long runs of the real daemon, small here and as large as the environment says elsewhere. Each
// test prints one line of JSON with what it measured.
//
//   EPOCHD_SOAK_KILLS, _JOBS, _EPOCHS, ...   sizes, see the tests
//   EPOCHD_SOAK_SHARD                        number of this run among several in parallel
//   EPOCHD_SOAK_OUT                          a file the lines are added to as well
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <utility>

#include "tests/e2e/support.hpp"

namespace epochd::e2e {

u64 soak_size(const char* name, u64 otherwise);

/// y over x by least squares. The samples are first averaged in blocks: neighbours in time are not
/// independent, and an error computed as if they were would be too small.
struct Slope {
  double per_unit = 0;
  double standard_error = 0;
  double mean = 0;
  double range = 0;  ///< of x
};
using Samples = std::vector<std::pair<double, double>>;
Slope slope_of(const Samples& samples);
/// What an allocator may hold more at one time than at another, however long it runs.
constexpr double kAllocatorBytes = 1 << 20;
/// Nothing grows: what the fitted line rises by over its length is within three standard errors, or
/// less than `share` of the mean, or than kAllocatorBytes: only long runs show small leaks.
bool is_flat(const Slope& slope, double share);
nlohmann::json to_json(const Slope& slope);

/// Pre: not empty. `share`: 0.5 for the median.
double quantile(std::vector<double> values, double share);

u64 resident_bytes(pid_t pid);

/// When a line of a daemon's log was written: seconds of the day. Nothing if there is none.
std::optional<double> time_of_line(const std::string& log, const std::string& text);
double time_of_day_s();
/// From one time of the day to a later one.
double seconds_between(double from, double to);
size_t count_of(const std::string& log, const std::string& text);

class SoakTest : public E2eTest {
 protected:
  using Time = std::chrono::steady_clock::time_point;
  static Time now() { return std::chrono::steady_clock::now(); }
  static double seconds_since(Time start) {
    return std::chrono::duration<double>(now() - start).count();
  }

  SoakTest();

  /// Renames a job into incoming/, without asking that it be durable.
  void put_job(const std::string& id, const std::string& program, const std::string& input = "",
               const std::string& job_file = "") const;
  /// A run of `epochs` epochs of fib at 2^7 cycles: its input.
  static std::string fib_input(u64 epochs);
  static std::string fib_program() { return read_file(guest("fib")); }
  /// Where a job is: "done", "active" ...
  std::vector<std::string> places_of(const std::string& id) const;
  std::set<std::string> jobs_in(const std::string& place) const;
  size_t count_in(const std::string& place) const;
  nlohmann::json result_of(const std::string& id) const;
  /// Prints the line.
  static void tell(const std::string& test, nlohmann::json figures);

  u64 shard_ = soak_size("EPOCHD_SOAK_SHARD", 0);
};

}  // namespace epochd::e2e
