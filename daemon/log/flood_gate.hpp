// Keeps one message from filling the log: of records with the same message, so many in a while are
// written, the rest are counted.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "prover/core/types.hpp"

namespace epochd::log {

class FloodGate {
 public:
  static constexpr double kWindow_s = 10;
  static constexpr u64 kBurst = 20;  ///< records of a message in a window

  struct LeftOut {
    std::string message;
    u64 count = 0;
  };

  /// May this record be written? Pre: messages are constants of the program, so there are few.
  bool pass(std::string_view message, double now_s);
  /// What was left out in windows that are over, or in all. Each is told once.
  std::vector<LeftOut> take_left_out(double now_s, bool all = false);
  u64 left_out_total() const { return total_; }

 private:
  struct Window {
    double start_s = 0;
    u64 written = 0;
    u64 left_out = 0;
  };
  std::map<std::string, Window, std::less<>> windows_;
  u64 total_ = 0;
};

}  // namespace epochd::log
