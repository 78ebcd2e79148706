#include "config/edit_distance.hpp"

#include <algorithm>

namespace epochd {

u32 edit_distance(std::string_view a, std::string_view b) {
  const size_t width = b.size() + 1;
  std::vector<u32> table((a.size() + 1) * width);
  const auto at = [&](size_t i, size_t j) -> u32& { return table[i * width + j]; };
  for (size_t i = 0; i <= a.size(); ++i) at(i, 0) = static_cast<u32>(i);
  for (size_t j = 0; j <= b.size(); ++j) at(0, j) = static_cast<u32>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const u32 substitution = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
      u32 best = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, substitution});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) best = std::min(best, at(i - 2, j - 2) + 1);
      at(i, j) = best;
    }
  }
  return at(a.size(), b.size());
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
  // A key nobody could have meant is worse than none: at most half of the letters may differ. The
  // cap on the length keeps a hostile file from making the table large.
  constexpr size_t kLongestWord = 100;
  if (word.size() > kLongestWord) return "";
  std::string nearest;
  u32 distance_min = static_cast<u32>(std::max<size_t>(word.size(), 2)) / 2 + 1;
  for (const std::string& candidate : known) {
    const u32 distance = edit_distance(word, candidate);
    if (distance >= distance_min) continue;
    distance_min = distance;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace epochd
