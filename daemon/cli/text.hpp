// Numbers and progress as people read them.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "prover/core/types.hpp"

namespace epochd {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::string seconds_text(double seconds);  ///< "1.23 s", "45 ms"
std::string rate_text(double per_second);  ///< "123 kHz"
std::string bytes_text(u64 bytes);         ///< "3.4 MB"
/// Output words in hexadecimal; of many, the first few.
std::string outputs_text(const std::vector<u64>& outputs);
/// The guest's debug text, on stderr.
void print_guest_text(std::string_view text);

}  // namespace epochd
