// Sums of products that are reduced once: 192 bits hold 2^64 products of 128. On a GPU a product
// added this way costs about a third of one that is reduced each time.
#pragma once

#include "prover/field/fp3.hpp"

namespace epochd::prover {

class WideSum {
 public:
  EPOCHD_HD_INLINE void add(Fp a, Fp b) {
#ifdef __CUDA_ARCH__
    asm("mad.lo.cc.u64 %0, %3, %4, %0; madc.hi.cc.u64 %1, %3, %4, %1; addc.u64 %2, %2, 0;"
        : "+l"(low_), "+l"(middle_), "+l"(high_)
        : "l"(a.value()), "l"(b.value()));
#else
    const u128 product = static_cast<u128>(a.value()) * b.value();
    const u128 before = static_cast<u128>(middle_) << 64 | low_;
    const u128 sum = before + product;
    low_ = static_cast<u64>(sum);
    middle_ = static_cast<u64>(sum >> 64);
    high_ += sum < before ? 1 : 0;
#endif
  }
  /// Pre: fewer than 2^32 products were added, so that high < 2^32.
  EPOCHD_HD_INLINE Fp value() const {
    // 2^128 = -2^32 (mod p).
    const Fp low = Fp::from_canonical(Fp::reduce128(static_cast<u128>(middle_) << 64 | low_));
    return low - Fp::from_u64(high_ << 32);
  }

 private:
  u64 low_ = 0;
  u64 middle_ = 0;
  u64 high_ = 0;
};

/// sum of w * x, w in K and x in F.
class WideSum3 {
 public:
  EPOCHD_HD_INLINE void add(const Fp3& w, Fp x) {
    c0_.add(w.c0, x);
    c1_.add(w.c1, x);
    c2_.add(w.c2, x);
  }
  EPOCHD_HD_INLINE Fp3 value() const { return {c0_.value(), c1_.value(), c2_.value()}; }

 private:
  WideSum c0_, c1_, c2_;
};

}  // namespace epochd::prover
