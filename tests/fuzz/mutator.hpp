// Damage to an input, made from a seed number: of words where the format is words, of bytes
// elsewhere. Nothing is sealed again: what a checksum or a transcript covers stays broken.
#pragma once

#include <algorithm>
#include <iterator>
#include <random>
#include <span>
#include <vector>

#include "prover/core/types.hpp"

namespace epochd::fuzz {

class Mutator {
 public:
  explicit Mutator(u64 seed) : random_(seed) {}

  u64 below(u64 count) { return random_() % count; }

  /// One to four changes to `text`. `places`: where counts, lengths and roots stand; half of the
  /// changes are made there. `honest`: what pieces are taken from. T is u8 or u64.
  template <class T>
  void damage(std::vector<T>& text, std::span<const size_t> places, std::span<const T> honest) {
    for (u64 i = 0, n = 1 + below(4); i < n; ++i) {
      if (text.empty()) text.push_back(value<T>());
      change(text, place(text.size(), places), honest);
    }
  }

 private:
  size_t place(size_t size, std::span<const size_t> places) {
    if (places.empty() || below(2) == 0) return below(size);
    return std::min(places[below(places.size())], size - 1);
  }

  template <class T>
  T value() {
    constexpr u64 kModulus = 0xffffffff00000001;
    constexpr u64 kInteresting[] = {0,          1,          2,          7,          31,
                                    63,         64,         65,         127,        128,
                                    255,        1ull << 16, 1ull << 31, 0xffffffff, 1ull << 32,
                                    1ull << 61, 1ull << 63, ~0ull,      kModulus,   kModulus - 1};
    switch (below(3)) {
      case 0:
        return static_cast<T>(kInteresting[below(std::size(kInteresting))]);
      case 1:
        return static_cast<T>(random_() >> below(64));
      default:
        return static_cast<T>(below(30) << 8 | below(30));  // a table list's entry
    }
  }

  template <class T>
  void change(std::vector<T>& text, size_t at, std::span<const T> honest) {
    const size_t length = std::min<size_t>(1 + below(below(4) == 0 ? 400 : 12), text.size() - at);
    const auto begin = text.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = begin + static_cast<std::ptrdiff_t>(length);
    switch (below(9)) {
      case 0:
        *begin = value<T>();
        break;
      case 1:
        *begin = static_cast<T>(*begin ^ T{1} << below(8 * sizeof(T)));
        break;
      case 2:
        *begin = static_cast<T>(*begin + below(5) - 2);
        break;
      case 3:
        text.erase(begin, end);
        break;
      case 4: {  // repeated
        const std::vector<T> piece(begin, end);
        text.insert(begin, piece.begin(), piece.end());
        break;
      }
      case 5: {  // swapped with another place
        const size_t other = below(text.size() - length + 1);
        for (size_t i = 0; i < length; ++i) std::swap(text[at + i], text[other + i]);
        break;
      }
      case 6: {  // taken from the honest input
        if (honest.empty()) break;
        const size_t from = below(honest.size());
        const size_t count = std::min(length, honest.size() - from);
        std::copy_n(honest.begin() + static_cast<std::ptrdiff_t>(from), count, begin);
        break;
      }
      case 7:
        std::generate(begin, end, [&] { return value<T>(); });
        break;
      default:
        if (below(4) == 0) text.resize(at);
        break;
    }
  }

  std::mt19937_64 random_;
};

}  // namespace epochd::fuzz
