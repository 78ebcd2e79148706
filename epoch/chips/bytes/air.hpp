// bytes: the table of byte pairs and their AND, OR, XOR.
//
// Row x + 256 y, for bytes x and y, is fixed: x, y, x & y, x | y, x ^ y. Four multiplicities, in
// ByteOp order, say how often the pair is looked up: (range, x, y, 0) proves both are bytes, the
// others prove the operation too. They are free, as in range16.
//
// No constraints: every cell a meaning hangs on is fixed, its root computed by the verifier.
#pragma once

#include "epoch/chips/gadgets.hpp"

namespace epochd::chips {

struct BytesAir {
  static constexpr const char* kName = "bytes";
  enum FixedCol : u32 { kX, kY, kAnd, kOr, kXor, kFixedCount };
  enum Col : u32 { kRangeCount, kAndCount, kOrCount, kXorCount, kWidth };
  static constexpr u32 kFixedWidth = kFixedCount, kMainWidth = kWidth, kParams = 0;
  static constexpr u32 kConstraints = 0, kInteractions = 4;
  static constexpr u32 kLog2Height = 16;

  template <class C>
  EPOCHD_HD static constexpr void eval(C& c) {
    const auto x = c.fixed(kX);
    const auto y = c.fixed(kY);
    const auto op = [&](ByteOp o) { return c.constant(static_cast<u64>(o)); };
    c.receive(Bus::kBytes, "range", c.local(kRangeCount), op(ByteOp::kRange), x, y, c.constant(0));
    c.receive(Bus::kBytes, "and", c.local(kAndCount), op(ByteOp::kAnd), x, y, c.fixed(kAnd));
    c.receive(Bus::kBytes, "or", c.local(kOrCount), op(ByteOp::kOr), x, y, c.fixed(kOr));
    c.receive(Bus::kBytes, "xor", c.local(kXorCount), op(ByteOp::kXor), x, y, c.fixed(kXor));
  }
};

}  // namespace epochd::chips
