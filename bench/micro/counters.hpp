// What a kernel benchmark says beside its time: the work of an iteration, from which `epoch-report
// import` makes its floor, and on how many threads.
#pragma once

#include <benchmark/benchmark.h>

#include "bench/floor/floor.hpp"

namespace epochd::bench {

/// Only what there is of it: of zeros, Google Benchmark would write spreads that are no JSON.
inline void set_work(benchmark::State& state, const Work& work, unsigned workers) {
  const auto set = [&](const char* name, double count) {
    if (count > 0) state.counters[name] = count;
  };
  set("bytes", work.bytes);
  set("multiplications", work.multiplications);
  set("butterflies", work.butterflies);
  set("compressions", work.compressions);
  set("workers", workers);
}

}  // namespace epochd::bench
