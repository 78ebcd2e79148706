// A short run of several epochs, proved once, for tests that damage its bundle.
#pragma once

#include "tests/epoch/continuation/small_programs.hpp"

namespace epochd::testing {

/// A straight line of so many cycles, proved in epochs of 32.
struct StraightRun {
  explicit StraightRun(u32 cycles) : guest(straight_line(cycles)) {
    guest.params.epoch_size_log2 = 5;
    epochs = run_epochs(guest, {});
    bundle = prove_run(guest, epochs);
  }
  Guest guest;
  std::vector<EpochRecords> epochs;
  std::vector<u64> bundle;
};

}  // namespace epochd::testing
