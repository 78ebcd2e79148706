// What a kernel benchmark says beside its time: the work of an iteration, from which `epoch-report
// import` makes its floor, and on how many threads.
#pragma once

#include <benchmark/benchmark.h>

#include "bench/floor/floor.hpp"

namespace epochd::bench {

inline void set_work(benchmark::State& state, const Work& work, unsigned workers) {
  state.counters["bytes"] = work.bytes;
  state.counters["multiplications"] = work.multiplications;
  state.counters["butterflies"] = work.butterflies;
  state.counters["compressions"] = work.compressions;
  state.counters["workers"] = workers;
}

}  // namespace epochd::bench
