// The order of the runs: blocks of four, ABBA or BAAB, as many of one as of the other, shuffled
// from a seed. Within a block a drift that is linear in time cancels; over blocks in balance, a
// quadratic one.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace epochd::abba {

enum class Side : uint8_t { kA, kB };
enum class Order : uint8_t { kAbba, kBaab };

inline constexpr int kRunsInBlock = 4;

/// The sides of a block's runs, in time.
constexpr std::array<Side, kRunsInBlock> sides_of(Order order) {
  return order == Order::kAbba ? std::array{Side::kA, Side::kB, Side::kB, Side::kA}
                               : std::array{Side::kB, Side::kA, Side::kA, Side::kB};
}

/// Orders of `blocks` blocks: half of each, the odd one drawn too. The same for the same seed.
std::vector<Order> make_schedule(int blocks, uint64_t seed);

}  // namespace epochd::abba
