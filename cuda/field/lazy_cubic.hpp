// Arithmetic of F and K for kernels over rows, reduced as seldom as possible: values are "loose"
// (any u64, congruent to the element), sums of products are reduced once. On a device a product
// added to a sum costs about a third of one that is reduced; the host version is for tests.
#pragma once

#include "prover/field/fp3.hpp"
#ifdef __CUDACC__
#include "cuda/ntt/field.cuh"
#endif

namespace epochd::cuda {

namespace loose {

using prover::Fp;

EPOCHD_HD_INLINE u64 canonical(u64 x) {
  return x >= Fp::kModulus ? x - Fp::kModulus : x;
}
EPOCHD_HD_INLINE u64 add(u64 x, u64 y) {
#ifdef __CUDA_ARCH__
  return gl::norm(gl::add(x, y));
#else
  return Fp::reduce128(static_cast<u128>(x) + y);
#endif
}
EPOCHD_HD_INLINE u64 negate(u64 x) {
#ifdef __CUDA_ARCH__
  // p - x, and eps less where that borrowed.
  u32 r0, r1;
  asm("{.reg .u32 g; sub.cc.u32 %0,1,%2; subc.cc.u32 %1,0xffffffff,%3; subc.u32 g,0,0;"
      " sub.cc.u32 %0,%0,g; subc.u32 %1,%1,0;}"
      : "=&r"(r0), "=&r"(r1)
      : "r"(gl::lo(x)), "r"(gl::hi(x)));
  return gl::pack(r0, r1);
#else
  return (-Fp::from_u64(x)).value();
#endif
}
EPOCHD_HD_INLINE u64 sub(u64 x, u64 y) {
  return add(x, negate(y));
}
EPOCHD_HD_INLINE u64 mul(u64 x, u64 y) {
#ifdef __CUDA_ARCH__
  return gl::mul(x, y);
#else
  return Fp::reduce128(static_cast<u128>(x) * y);
#endif
}
EPOCHD_HD_INLINE u64 square_times(u64 x, u32 squarings, u64 y) {
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (u32 i = 0; i < squarings; ++i) x = mul(x, x);
  return mul(x, y);
}
/// 1 / x; 0 for 0. x^(p - 2), p - 2 = 2^33 (2^31 - 1) + 2^32 - 1: 73 multiplications.
EPOCHD_HD_INLINE u64 inverse(u64 x) {
  const u64 ones2 = square_times(x, 1, x);
  const u64 ones3 = square_times(ones2, 1, x);
  const u64 ones6 = square_times(ones3, 3, ones3);
  const u64 ones12 = square_times(ones6, 6, ones6);
  const u64 ones24 = square_times(ones12, 12, ones12);
  const u64 ones30 = square_times(ones24, 6, ones6);
  const u64 ones31 = square_times(ones30, 1, x);
  const u64 ones32 = square_times(ones31, 1, x);
  return square_times(ones31, 33, ones32);
}

}  // namespace loose

/// An element of K with loose components.
struct LooseCubic {
  u64 c0, c1, c2;

  EPOCHD_HD_INLINE static LooseCubic of(const prover::Fp3& x) {
    return {x.c0.value(), x.c1.value(), x.c2.value()};
  }
  EPOCHD_HD_INLINE prover::Fp3 canonical() const {
    return {prover::Fp::from_canonical(loose::canonical(c0)),
            prover::Fp::from_canonical(loose::canonical(c1)),
            prover::Fp::from_canonical(loose::canonical(c2))};
  }
};

/// A factor of products in K, with what w^3 = 2 doubles.
struct LooseFactor {
  u64 c0, c1, c2, twice_c1, twice_c2;

  EPOCHD_HD_INLINE static LooseFactor of(const LooseCubic& x) {
    return {x.c0, x.c1, x.c2, loose::add(x.c1, x.c1), loose::add(x.c2, x.c2)};
  }
};

/// A sum of at most 30 loose values.
class LooseSum {
 public:
  EPOCHD_HD_INLINE void add(u64 x) {
#ifdef __CUDA_ARCH__
    asm("add.cc.u32 %0,%0,%3; addc.cc.u32 %1,%1,%4; addc.u32 %2,%2,0;"
        : "+r"(words_[0]), "+r"(words_[1]), "+r"(words_[2])
        : "r"(gl::lo(x)), "r"(gl::hi(x)));
#else
    const u128 sum = (static_cast<u128>(words_[2]) << 64 | u64{words_[1]} << 32 | words_[0]) + x;
    for (u32 i = 0; i < 3; ++i) words_[i] = static_cast<u32>(sum >> (32 * i));
#endif
  }
  /// Loose.
  EPOCHD_HD_INLINE u64 value() const {
#ifdef __CUDA_ARCH__
    return gl::norm(gl::W3{words_[0], words_[1], words_[2]});
#else
    return prover::Fp::reduce128(static_cast<u128>(words_[2]) << 64 | u64{words_[1]} << 32 |
                                 words_[0]);
#endif
  }

 private:
  u32 words_[3] = {};
};

/// A sum of loose values and of products of two, less than 2^31 of them.
class LazySum {
 public:
  LazySum() = default;
  /// Begins with x.
  EPOCHD_HD_INLINE explicit LazySum(u64 x)
      : even_{static_cast<u32>(x), static_cast<u32>(x >> 32)} {}
  /// Begins with x * y.
  EPOCHD_HD_INLINE LazySum(u64 x, u64 y) {
#ifdef __CUDA_ARCH__
    asm("mul.lo.u32 %0,%7,%9; mul.hi.u32 %1,%7,%9; mul.lo.u32 %2,%8,%10; mul.hi.u32 %3,%8,%10;"
        " mul.lo.u32 %4,%7,%10; mul.hi.u32 %5,%7,%10;"
        " mad.lo.cc.u32 %4,%8,%9,%4; madc.hi.cc.u32 %5,%8,%9,%5; addc.u32 %6,0,0;"
        : "=&r"(even_[0]), "=&r"(even_[1]), "=&r"(even_[2]), "=&r"(even_[3]), "=&r"(odd_[0]),
          "=&r"(odd_[1]), "=&r"(odd_[2])
        : "r"(gl::lo(x)), "r"(gl::hi(x)), "r"(gl::lo(y)), "r"(gl::hi(y)));
#else
    add_wide(static_cast<u128>(x) * y);
#endif
  }
  /// Adds to what is less than 2^96 yet: a sum of loose values.
  EPOCHD_HD_INLINE void add_early(u64 x) {
#ifdef __CUDA_ARCH__
    asm("add.cc.u32 %0,%0,%3; addc.cc.u32 %1,%1,%4; addc.u32 %2,%2,0;"
        : "+r"(even_[0]), "+r"(even_[1]), "+r"(even_[2])
        : "r"(gl::lo(x)), "r"(gl::hi(x)));
#else
    add_wide(x);
#endif
  }
  EPOCHD_HD_INLINE void add(u64 x, u64 y) {
#ifdef __CUDA_ARCH__
    asm("mad.lo.cc.u32 %0,%8,%10,%0; madc.hi.cc.u32 %1,%8,%10,%1;"
        " madc.lo.cc.u32 %2,%9,%11,%2; madc.hi.cc.u32 %3,%9,%11,%3; addc.u32 %4,%4,0;"
        " mad.lo.cc.u32 %5,%8,%11,%5; madc.hi.cc.u32 %6,%8,%11,%6; addc.u32 %7,%7,0;"
        " mad.lo.cc.u32 %5,%9,%10,%5; madc.hi.cc.u32 %6,%9,%10,%6; addc.u32 %7,%7,0;"
        : "+r"(even_[0]), "+r"(even_[1]), "+r"(even_[2]), "+r"(even_[3]), "+r"(even_[4]),
          "+r"(odd_[0]), "+r"(odd_[1]), "+r"(odd_[2])
        : "r"(gl::lo(x)), "r"(gl::hi(x)), "r"(gl::lo(y)), "r"(gl::hi(y)));
#else
    add_wide(static_cast<u128>(x) * y);
#endif
  }
  /// Loose.
  EPOCHD_HD_INLINE u64 value() const {
#ifdef __CUDA_ARCH__
    u32 l1, l2, l3, l4;
    asm("add.cc.u32 %0,%4,%8; addc.cc.u32 %1,%5,%9; addc.cc.u32 %2,%6,%10; addc.u32 %3,%7,0;"
        : "=&r"(l1), "=&r"(l2), "=&r"(l3), "=&r"(l4)
        : "r"(even_[1]), "r"(even_[2]), "r"(even_[3]), "r"(even_[4]), "r"(odd_[0]), "r"(odd_[1]),
          "r"(odd_[2]));
    const u64 x = gl::reduce(even_[0], l1, l2, l3);
    // 2^128 = -2^32, and eps less where that borrows.
    u32 r0, r1;
    asm("{.reg .u32 g; sub.cc.u32 %1,%3,%4; subc.u32 g,0,0; sub.cc.u32 %0,%2,g; subc.u32 %1,%1,0;}"
        : "=&r"(r0), "=&r"(r1)
        : "r"(gl::lo(x)), "r"(gl::hi(x)), "r"(l4));
    return gl::pack(r0, r1);
#else
    const u128 low = static_cast<u128>(even_[3]) << 96 | static_cast<u128>(even_[2]) << 64 |
                     static_cast<u128>(even_[1]) << 32 | even_[0];
    return (Fp::from_canonical(Fp::reduce128(low)) - Fp::from_u64(u64{even_[4]} << 32)).value();
#endif
  }

 private:
  using Fp = prover::Fp;
  EPOCHD_HD_INLINE void add_wide(u128 x) {
    u64 carry = 0;
    for (u32 i = 0; i < 5; ++i, x >>= 32) {
      carry += u64{even_[i]} + static_cast<u32>(x);
      even_[i] = static_cast<u32>(carry);
      carry >>= 32;
    }
  }

  /// The sum is even + 2^32 odd, words of 32 bits, least first: so carries stay within a chain.
  u32 even_[5] = {};
  u32 odd_[3] = {};
};

/// Three of them: a sum in K.
class LazyCubicSum {
 public:
  LazyCubicSum() = default;
  /// Begins with x.
  EPOCHD_HD_INLINE explicit LazyCubicSum(const LooseCubic& x) : c0_(x.c0), c1_(x.c1), c2_(x.c2) {}
  /// Begins with w * x.
  EPOCHD_HD_INLINE LazyCubicSum(const LooseCubic& w, u64 x)
      : c0_(w.c0, x), c1_(w.c1, x), c2_(w.c2, x) {}
  /// See LazySum.
  EPOCHD_HD_INLINE void add_early(const LooseCubic& x) {
    c0_.add_early(x.c0);
    c1_.add_early(x.c1);
    c2_.add_early(x.c2);
  }
  EPOCHD_HD_INLINE void add(const LooseCubic& w, u64 x) {
    c0_.add(w.c0, x);
    c1_.add(w.c1, x);
    c2_.add(w.c2, x);
  }
  EPOCHD_HD_INLINE void add(const LooseCubic& x, const LooseFactor& y) {
    add(LooseCubic{y.c0, y.c1, y.c2}, x.c0);
    add_rest(x, y);
  }
  /// All of x * y but x.c0 * y.
  EPOCHD_HD_INLINE void add_rest(const LooseCubic& x, const LooseFactor& y) {
    c0_.add(x.c1, y.twice_c2);
    c0_.add(x.c2, y.twice_c1);
    c1_.add(x.c1, y.c0);
    c1_.add(x.c2, y.twice_c2);
    c2_.add(x.c1, y.c1);
    c2_.add(x.c2, y.c0);
  }
  EPOCHD_HD_INLINE LooseCubic value() const { return {c0_.value(), c1_.value(), c2_.value()}; }

 private:
  LazySum c0_, c1_, c2_;
};

EPOCHD_HD_INLINE LooseCubic product(const LooseCubic& x, const LooseFactor& y) {
  LazyCubicSum sum(LooseCubic{y.c0, y.c1, y.c2}, x.c0);
  sum.add_rest(x, y);
  return sum.value();
}

/// 1 / x = adjugate / norm (the inverse of multiplication by x, as in fp3.hpp). norm is 0 where x
/// is.
struct Adjugate {
  LooseCubic adjugate;
  u64 norm;

  EPOCHD_HD_INLINE static Adjugate of(const LooseCubic& x) {
    const u64 twice_c1 = loose::add(x.c1, x.c1);
    const u64 twice_c2 = loose::add(x.c2, x.c2);
    const u64 minus_c0 = loose::negate(x.c0);
    LazySum b0(x.c0, x.c0);
    LazySum b1(x.c2, twice_c2);
    LazySum b2(x.c1, x.c1);
    b0.add(x.c1, loose::negate(twice_c2));
    b1.add(x.c1, minus_c0);
    b2.add(x.c2, minus_c0);
    const LooseCubic b{b0.value(), b1.value(), b2.value()};
    LazySum norm(x.c0, b.c0);
    norm.add(twice_c2, b.c1);
    norm.add(twice_c1, b.c2);
    return {b, norm.value()};
  }
};

}  // namespace epochd::cuda
