#include "bench/abba/schedule.hpp"

#include <random>
#include <utility>

namespace epochd::abba {

std::vector<Order> make_schedule(int blocks, uint64_t seed) {
  std::mt19937_64 random(seed);
  const bool odd_one_is_abba = (random() & 1) != 0;
  std::vector<Order> orders;
  for (int i = 0; i < blocks; ++i) {
    orders.push_back((i % 2 == 0) == odd_one_is_abba ? Order::kAbba : Order::kBaab);
  }
  // Fisher and Yates; std::shuffle differs between standard libraries.
  for (size_t i = orders.size(); i > 1; --i) std::swap(orders[i - 1], orders[random() % i]);
  return orders;
}

}  // namespace epochd::abba
