// Times of kernels on one machine, with their floors, and what got slower between two such files.
// The file's schema is kernels.schema.json; files themselves stay out of the repository
// (bench/machines/), but for those that documents are made from.
#pragma once

#include <string>
#include <vector>

#include "bench/report/json_file.hpp"

namespace epochd::bench {

/// From files that Google Benchmark writes with --benchmark_out, best with --benchmark_repetitions.
/// Counters of a benchmark say its work (floor.hpp): bytes, multiplications, butterflies,
/// compressions an iteration, and `threads`. Benchmarks called ceiling/KIND/... measure how much of
/// one KIND the machine does; they are not kernels. The time is the first file's. Names lose what
/// Google Benchmark adds of how they were timed. A kernel that several files have was run several
/// times: then the best of each run is kept, else every repetition. Errors: std::runtime_error.
Json kernels_from_benchmarks(const std::vector<Json>& files, const std::string& machine);

struct Change {
  std::string name;
  double percent = 0;      ///< of the time, new against old
  double percent_low = 0;  ///< ends of the 99 % interval; of the single times where one has no more
  double percent_high = 0;
};

struct Comparison {
  std::vector<Change> slower;  ///< worst first
  std::vector<Change> faster;  ///< best first
  std::vector<std::string> gone, added;
  int same = 0;
};

/// A kernel is slower, or faster, when the whole 99 % interval of the ratio of mean log times
/// (Welch's) is beyond the threshold. Repetitions within one run do not see what differs from run
/// to run: import three runs or more of each side where that matters.
Comparison compare_kernels(const Json& before, const Json& after, double threshold_percent);

}  // namespace epochd::bench
