#include "daemon/cli/text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>

namespace epochd {
namespace {

/// Three significant digits and the unit that keeps the number between 1 and 1000.
template <size_t n>
std::string scaled(double value, const std::array<const char*, n>& units) {
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < n) {
    value /= 1000;
    ++unit;
  }
  char text[32];
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  std::snprintf(text, sizeof(text), "%.*f %s", decimals, value, units[unit]);
  return text;
}

}  // namespace

std::string seconds_text(double seconds) {
  if (seconds < 1) return scaled<3>(seconds * 1e9, {"ns", "us", "ms"});
  return scaled<1>(seconds, {"s"});
}

std::string rate_text(double per_second) {
  return scaled<4>(per_second, {"Hz", "kHz", "MHz", "GHz"});
}

std::string bytes_text(u64 bytes) {
  return scaled<4>(static_cast<double>(bytes), {"B", "kB", "MB", "GB"});
}

std::string outputs_text(const std::vector<u64>& outputs) {
  constexpr size_t kShown = 8;
  std::string text = std::to_string(outputs.size());
  for (size_t i = 0; i < std::min(outputs.size(), kShown); ++i) {
    char word[32];
    std::snprintf(word, sizeof(word), " 0x%llx", static_cast<unsigned long long>(outputs[i]));
    text += (i == 0 ? ":" : "") + std::string(word);
  }
  return outputs.size() > kShown ? text + " ..." : text;
}

void print_guest_text(std::string_view text) {
  // What a guest says must not steer the terminal.
  std::string clean(text);
  std::replace_if(
      clean.begin(), clean.end(),
      [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f; }, '?');
  std::cerr << "guest: " << clean << (clean.empty() || clean.back() != '\n' ? "\n" : "");
}

}  // namespace epochd
