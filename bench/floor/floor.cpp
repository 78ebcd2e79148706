#include "bench/floor/floor.hpp"

#include <algorithm>
#include <cmath>

namespace epochd::bench {

Work& Work::operator+=(const Work& more) {
  bytes += more.bytes;
  multiplications += more.multiplications;
  butterflies += more.butterflies;
  compressions += more.compressions;
  return *this;
}

Work operator*(double times, Work work) {
  work.bytes *= times;
  work.multiplications *= times;
  work.butterflies *= times;
  work.compressions *= times;
  return work;
}

Floor floor_of(const Work& work, const Ceilings& ceilings) {
  double arithmetic = 0;
  bool is_known = true;
  const auto add = [&](double count, double rate) {
    is_known = is_known && (count == 0 || rate > 0);
    if (rate > 0) arithmetic += count / rate;
  };
  add(work.multiplications, ceilings.multiplications);
  add(work.butterflies, ceilings.butterflies);
  add(work.compressions, ceilings.compressions);
  const double memory = ceilings.bytes > 0 ? work.bytes / ceilings.bytes : 0;
  is_known = is_known && (work.bytes == 0 || ceilings.bytes > 0);
  Floor floor;
  floor.seconds = std::max(memory, arithmetic);
  if (is_known && floor.seconds > 0) floor.bound = memory > arithmetic ? "memory" : "arithmetic";
  return floor;
}

Work transform_work(double columns, uint32_t log_n) {
  const double elements = columns * std::exp2(log_n);
  Work work;
  work.bytes = 2 * elements * kElementBytes;
  work.butterflies = elements / 2 * log_n;
  return work;
}

Work lde_work(double columns, uint32_t log_n, uint32_t log_blowup) {
  const double transforms = 1 + std::exp2(log_blowup);
  Work work;
  work.bytes = columns * std::exp2(log_n) * transforms * kElementBytes;
  work.butterflies = transforms * transform_work(columns, log_n).butterflies;
  return work;
}

Work row_hash_work(double width, double rows) {
  Work work;
  work.bytes = rows * (width * kElementBytes + kDigestBytes);
  work.compressions = rows * std::ceil(width / kBlockElements);
  return work;
}

Work tree_levels_work(uint32_t log_leaves) {
  const double nodes = std::exp2(log_leaves) - 1;
  Work work;
  work.bytes = 3 * nodes * kDigestBytes;
  work.compressions = nodes;
  return work;
}

Work grind_work(uint32_t bits) {
  Work work;
  work.compressions = std::exp2(bits);
  return work;
}

}  // namespace epochd::bench
