// The floor: what a piece of the prover could take at least on a machine whose ceilings were
// measured (docs/protocol.md, "Performance model"). Work is counted here and nowhere else: kernel
// benchmarks, epoch-bench and reports all divide these counts by measured rates.
#pragma once

#include <cstdint>
#include <string>

namespace epochd::bench {

/// What has to be done, whoever does it. Operations on the base field; bytes of main memory, each
/// input read once and each output written once.
struct Work {
  double bytes = 0;
  double multiplications = 0;
  double butterflies = 0;   ///< radix 2: a product, a sum and a difference
  double compressions = 0;  ///< of BLAKE3

  Work& operator+=(const Work& more);
  friend Work operator+(Work a, const Work& b) { return a += b; }
  friend Work operator*(double times, Work work);
};

/// Rates a second, measured on the machine with as many threads as do the work. 0: not known.
struct Ceilings {
  double bytes = 0;
  double multiplications = 0;
  double butterflies = 0;
  double compressions = 0;
};

struct Floor {
  double seconds = 0;
  std::string bound;  ///< "memory" or "arithmetic"; empty where a ceiling that matters is unknown
};

/// Bytes and arithmetic run beside each other, arithmetic of different kinds does not: the larger
/// of bytes over their rate and the sum of operations over theirs.
Floor floor_of(const Work& work, const Ceilings& ceilings);

// The counts. Rows and columns of base field elements; log_n is of the trace.

constexpr double kElementBytes = 8;
constexpr double kDigestBytes = 32;
/// Elements that one compression hashes.
constexpr double kBlockElements = 8;

/// One transform of `columns` columns of 2^log_n: reads and writes them.
Work transform_work(double columns, uint32_t log_n);
/// Interpolation, then 2^log_blowup transforms; reads the trace, writes the extension.
Work lde_work(double columns, uint32_t log_n, uint32_t log_blowup);
/// Leaf digests of rows of `width` elements.
Work row_hash_work(double width, double rows);
/// The levels above 2^log_leaves digests.
Work tree_levels_work(uint32_t log_leaves);
/// The smallest nonce among 2^bits on average.
Work grind_work(uint32_t bits);

}  // namespace epochd::bench
