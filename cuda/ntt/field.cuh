// Goldilocks arithmetic for NTT kernels: p = 2^64 - 2^32 + 1, X = 2^32, X^2 = X - 1, X^3 = -1 (mod
// p).
//
// Two representations live in registers:
//   u64  "loose": any value in [0, 2^64), congruent to the element. Only stores that leave the LDE
//   are canonical. W3   "lazy": a non-negative integer a + b*X + c*X^2 with c <= 31. Adding two
//   costs three carry-chained adds and
//        no correction, so a radix-4 step corrects once (norm) instead of after each butterfly.
// Adds, selects and shifts share the ALU pipe (64 lanes a clock and SM), which saturates first;
// IMAD has its own 64, but IMAD.WIDE only 25 and IMAD.HI 31. The forms below were chosen by
// measuring that balance; the assembler fuses neighbouring carries (IADD3.X takes two), so the
// order of the asm lines matters.
//
// Device code only.
#pragma once

#include "prover/core/types.hpp"

namespace epochd::cuda::gl {

constexpr u64 kP = 0xffffffff00000001ull;
/// 2^32 - 1 the compiler cannot see through, so multiply-adds by it stay.
static __constant__ u32 eps_opaque = 0xffffffffu;
/// Likewise: carry + opaque zero is an IMAD.X on the idle multiply pipe, not a SEL.
static __constant__ u32 zero_opaque = 0;

__device__ __forceinline__ u32 lo(u64 x) {
  return static_cast<u32>(x);
}
__device__ __forceinline__ u32 hi(u64 x) {
  return static_cast<u32>(x >> 32);
}
__device__ __forceinline__ u64 pack(u32 l, u32 h) {
  return static_cast<u64>(h) << 32 | l;
}

struct W3 {
  u32 a, b, c;
};

__device__ __forceinline__ W3 add(u64 x, u64 y) {
  W3 r;
  asm("add.cc.u32 %0,%3,%5; addc.cc.u32 %1,%4,%6; addc.u32 %2,%7,0;"
      : "=r"(r.a), "=r"(r.b), "=r"(r.c)
      : "r"(lo(x)), "r"(hi(x)), "r"(lo(y)), "r"(hi(y)), "r"(zero_opaque));
  return r;
}
__device__ __forceinline__ W3 add(W3 x, u64 y) {
  W3 r;
  asm("add.cc.u32 %0,%3,%6; addc.cc.u32 %1,%4,%7; addc.u32 %2,%5,0;"
      : "=r"(r.a), "=r"(r.b), "=r"(r.c)
      : "r"(x.a), "r"(x.b), "r"(x.c), "r"(lo(y)), "r"(hi(y)));
  return r;
}
__device__ __forceinline__ W3 sub(W3 x, u64 y) {
  W3 r;
  asm("sub.cc.u32 %0,%3,%6; subc.cc.u32 %1,%4,%7; subc.u32 %2,%5,%8;"
      : "=r"(r.a), "=r"(r.b), "=r"(r.c)
      : "r"(x.a), "r"(x.b), "r"(x.c), "r"(lo(y)), "r"(hi(y)), "r"(zero_opaque));
  return r;
}
__device__ __forceinline__ W3 add(W3 x, W3 y) {
  W3 r;
  asm("add.cc.u32 %0,%3,%6; addc.cc.u32 %1,%4,%7; addc.u32 %2,%5,%8;"
      : "=r"(r.a), "=r"(r.b), "=r"(r.c)
      : "r"(x.a), "r"(x.b), "r"(x.c), "r"(y.a), "r"(y.b), "r"(y.c));
  return r;
}
__device__ __forceinline__ W3 sub(W3 x, W3 y) {
  W3 r;
  asm("sub.cc.u32 %0,%3,%6; subc.cc.u32 %1,%4,%7; subc.u32 %2,%5,%8;"
      : "=r"(r.a), "=r"(r.b), "=r"(r.c)
      : "r"(x.a), "r"(x.b), "r"(x.c), "r"(y.a), "r"(y.b), "r"(y.c));
  return r;
}
// x + k*p, the offset that keeps later differences non-negative (k <= 8).
template <u32 k>
__device__ __forceinline__ W3 add_kp(u64 x) {
  W3 r;  // k*p = (k, -k, k-1) in words
  asm("add.cc.u32 %0,%3,%5; addc.cc.u32 %1,%4,%6; addc.u32 %2,%7,0;"
      : "=r"(r.a), "=r"(r.b), "=r"(r.c)
      : "r"(lo(x)), "r"(hi(x)), "n"(k), "n"(0u - k), "n"(k - 1));
  return r;
}
template <u32 k>
__device__ __forceinline__ W3 add_kp(W3 x) {
  W3 r;
  asm("add.cc.u32 %0,%3,%6; addc.cc.u32 %1,%4,%7; addc.u32 %2,%5,%8;"
      : "=r"(r.a), "=r"(r.b), "=r"(r.c)
      : "r"(x.a), "r"(x.b), "r"(x.c), "n"(k), "n"(0u - k), "n"(k - 1));
  return r;
}

// W3 -> loose, exactly: with t = b + c overflowing or not, the quotient by p is q = c + carry, and
// x - q*p = (b:a) + q*eps stays inside [0, 2^64). One spare add finds q, one multiply-add applies
// it.
__device__ __forceinline__ u64 norm(W3 x) {
  u32 r0, r1;
  asm("{.reg .u32 t,q; add.cc.u32 t,%3,%4; addc.u32 q,%4,0;"
      " mad.lo.cc.u32 %0,q,0xffffffff,%2; madc.hi.u32 %1,q,0xffffffff,%3;}"
      : "=r"(r0), "=r"(r1)
      : "r"(x.a), "r"(x.b), "r"(x.c));
  return pack(r0, r1);
}

// p0 + p1 X + p2 X^2 + p3 X^3 = (p1 X + p0) - p3 + p2 eps -> loose. The word above 64 bits, t, is
// -1, 0 or 1 and one correction by t*eps suffices: at t = -1 the value is >= 2^64 - 2^32 + 1 before
// it, at t = 1 it is < p2 * eps.
__device__ __forceinline__ u64 reduce(u32 p0, u32 p1, u32 p2, u32 p3) {
  u32 r0, r1;
  asm("{.reg .u32 l,h,t,g; sub.cc.u32 l,%2,%5; subc.cc.u32 h,%3,0; subc.u32 t,0,0;"
      " mad.lo.cc.u32 l,%4,%6,l; madc.hi.cc.u32 h,%4,%6,h; addc.u32 t,t,0;"
      " shr.s32 g,t,31; add.u32 h,h,t; sub.cc.u32 %0,l,t; subc.u32 %1,h,g;}"
      : "=r"(r0), "=r"(r1)
      : "r"(p0), "r"(p1), "r"(p2), "r"(p3), "r"(eps_opaque));
  return pack(r0, r1);
}
// p0 + p1 X + p2 X^2 -> loose, no borrow possible.
__device__ __forceinline__ u64 reduce3(u32 p0, u32 p1, u32 p2) {
  u32 r0, r1;
  asm("{.reg .u32 l,h,t; mad.lo.cc.u32 l,%4,%5,%2; madc.hi.cc.u32 h,%4,%5,%3; addc.u32 t,%6,0;"
      " add.u32 h,h,t; sub.cc.u32 %0,l,t; subc.u32 %1,h,%6;}"
      : "=r"(r0), "=r"(r1)
      : "r"(p0), "r"(p1), "r"(p2), "r"(eps_opaque), "r"(zero_opaque));
  return pack(r0, r1);
}

__device__ __forceinline__ u64 mul(u64 x, u64 y) {
  u32 p0, p1, p2, p3;
  asm("{.reg .u64 m,n,h; .reg .u32 ml,mh,nl,nh,hl,hh;"
      " mul.wide.u32 m,%4,%6; mul.wide.u32 n,%4,%7; mul.wide.u32 h,%5,%7;"
      " mov.b64 {ml,mh},m; mov.b64 {nl,nh},n; mov.b64 {hl,hh},h;"
      " mad.lo.cc.u32 nl,%5,%6,nl; madc.hi.cc.u32 nh,%5,%6,nh; addc.u32 hh,hh,0;"
      " mov.b32 %0,ml; add.cc.u32 %1,mh,nl; addc.cc.u32 %2,hl,nh; addc.u32 %3,hh,0;}"
      : "=&r"(p0), "=&r"(p1), "=&r"(p2), "=&r"(p3)
      : "r"(lo(x)), "r"(hi(x)), "r"(lo(y)), "r"(hi(y)));
  return reduce(p0, p1, p2, p3);
}

// x * 2^s, 0 <= s < 96; the shift by words costs nothing (X is a 6th root of unity).
template <int s>
__device__ __forceinline__ u64 shl(W3 x) {
  static_assert(s >= 0 && s < 96);
  constexpr int q = s / 32, r = s % 32;
  if constexpr (s == 0) return norm(x);
  if constexpr (r > 26) {  // c << r would leave 32 bits: fold c first
    u64 n = norm(x);
    x = {lo(n), hi(n), 0};
  }
  u32 v0 = x.a << r, v1 = __funnelshift_l(x.a, x.b, r), v2 = __funnelshift_l(x.b, x.c, r);
  if constexpr (q == 0) return reduce3(v0, v1, v2);
  if constexpr (q == 1) return reduce(0, v0, v1, v2);
  // q == 2: v0 X^2 - v1 - v2 X
  u32 r0, r1;
  asm("{.reg .u32 t; sub.cc.u32 %0,0,%2; subc.u32 %1,%2,0;"
      " sub.cc.u32 %0,%0,%3; subc.cc.u32 %1,%1,%4; subc.u32 t,0,0; sub.cc.u32 %0,%0,t; subc.u32 "
      "%1,%1,0;}"
      : "=&r"(r0), "=&r"(r1)
      : "r"(v0), "r"(v1), "r"(v2));
  return pack(r0, r1);
}

// x - p where x >= p: the upper word is all ones then and the lower not zero, which becomes one
// less.
__device__ __forceinline__ u64 canonical(u64 x) {
  u32 l = lo(x), h = hi(x);
  asm("{.reg .pred p; setp.eq.u32 p,%1,0xffffffff; setp.ne.and.u32 p,%0,0,p;"
      " @p sub.u32 %0,%0,1; @p mov.u32 %1,0;}"
      : "+r"(l), "+r"(h));
  return pack(l, h);
}

// ---- DFTs in registers: natural order in, slot i holds Y[bitrev(i)] = sum x[n] *
// rho^(n*bitrev(i)) with rho the power of two of order R (rho_64 = 8). The standard roots are w_R =
// rho_R^13, hence dft_index below.

// i * (x - y) with i = 2^48, as a signed W3 in (-2^33, 2^65). With x - y + m 2^64 = (c, b, a) in
// words: i (x - y) = (rot16(a) + (b << 16)) X - (rot16(b) + (c << 16 | a >> 16)) + m 2^16, halves
// of a and b recombining bitwise.
template <u32 m>
__device__ __forceinline__ W3 times_i(u32 a, u32 b, u32 c) {
  W3 r;
  u32 ra = __byte_perm(a, 0, 0x1032), rb = __byte_perm(b, 0, 0x1032),
      ca = __byte_perm(a, c, 0x5432), lb = b << 16;
  asm("{.reg .u32 a0,a1,b0,b1; add.cc.u32 a0,%4,%5; addc.u32 a1,%8,0; add.cc.u32 b0,%3,%6; "
      "addc.u32 b1,%8,0;"
      " sub.cc.u32 %0,%7,a0; subc.cc.u32 %1,b0,a1; subc.u32 %2,b1,%8;}"
      : "=r"(r.a), "=r"(r.b), "=r"(r.c)
      : "r"(ra), "r"(rb), "r"(ca), "r"(lb), "n"(m << 16), "r"(zero_opaque));
  return r;
}
__device__ __forceinline__ W3 times_i_diff(u64 x, u64 y) {
  u32 a, b, c;
  asm("sub.cc.u32 %0,%3,%5; subc.cc.u32 %1,%4,%6; subc.u32 %2,1,%7;"
      : "=r"(a), "=r"(b), "=r"(c)
      : "r"(lo(x)), "r"(hi(x)), "r"(lo(y)), "r"(hi(y)), "r"(zero_opaque));
  return times_i<1>(a, b, c);
}
__device__ __forceinline__ W3 times_i_diff(W3 x, W3 y) {
  W3 d = sub(W3{x.a, x.b, x.c + 2}, y);
  return times_i<2>(d.a, d.b, d.c);
}
// 4-point DFT to W3 outputs Y0,Y2,Y1,Y3 (bit-reversed). a = x0 + K p; K = 4 for loose x1..x3
// (outputs < 9 * 2^64), K = 8 if they are sums of two loose words (outputs < 17 * 2^64).
template <class T>
__device__ __forceinline__ void dft4(W3 a, T x1, T x2, T x3, W3& y0, W3& y2, W3& y1, W3& y3) {
  W3 t0 = add(a, x2), t1 = sub(a, x2);
  W3 t2 = add(x1, x3), t3 = times_i_diff(x1, x3);
  y0 = add(t0, t2);
  y2 = sub(t0, t2);
  y1 = add(t1, t3);
  y3 = sub(t1, t3);
}
template <int s>
__device__ __forceinline__ u64 twist(W3 x) {  // x * 2^s for 0 <= s < 192, x <= 16 p
  if constexpr (s < 96)
    return shl<s>(x);
  else
    return shl<s - 96>(sub(W3{16, 0u - 16, 15}, x));
}
__device__ __forceinline__ void store4(u64* x, W3 y0, W3 y2, W3 y1, W3 y3) {
  x[0] = norm(y0);
  x[1] = norm(y2);
  x[2] = norm(y1);
  x[3] = norm(y3);
}
__device__ __forceinline__ void dft2(u64* x) {
  const u64 sum = norm(add(x[0], x[1]));
  x[1] = norm(sub(add_kp<2>(x[0]), x[1]));
  x[0] = sum;
}
__device__ __forceinline__ void dft4(u64* x) {
  W3 y0, y1, y2, y3;
  dft4(add_kp<4>(x[0]), x[1], x[2], x[3], y0, y2, y1, y3);
  store4(x, y0, y2, y1, y3);
}
__device__ __forceinline__ void dft8(u64* x) {  // in place, bit-reversed out
  W3 a = add_kp<8>(x[0]), s0 = add(a, x[4]), d0 = sub(a, x[4]);
  W3 s1 = add(x[1], x[5]), s2 = add(x[2], x[6]), s3 = add(x[3], x[7]);
  u64 d1 = shl<24>(sub(add_kp<2>(x[1]), x[5])), d2 = shl<48>(sub(add_kp<2>(x[2]), x[6]));
  u64 d3 = shl<72>(sub(add_kp<2>(x[3]), x[7]));
  W3 y0, y1, y2, y3;
  dft4(s0, s1, s2, s3, y0, y2, y1, y3);
  store4(x, y0, y2, y1, y3);
  dft4(d0, d1, d2, d3, y0, y2, y1, y3);
  store4(x + 4, y0, y2, y1, y3);
}
template <int n, int R>
__device__ __forceinline__ void dft_col4(u64* x) {  // radix-4 column n of an R-point DFT, twisted
  W3 y0, y1, y2, y3;
  constexpr int Q = R / 4, e = 192 / R;
  dft4(add_kp<4>(x[n]), x[n + Q], x[n + 2 * Q], x[n + 3 * Q], y0, y2, y1, y3);
  x[n] = norm(y0);
  x[n + Q] = twist<2 * n * e>(y2);
  x[n + 2 * Q] = twist<n * e>(y1);
  x[n + 3 * Q] = twist<3 * n * e>(y3);
}
// R-point DFT, then done(i) for every slot. At R = 32 done(i) runs as soon as slot i is final, so
// that twiddle multiplies (multiply pipe) alternate with butterflies (ALU) inside a warp: 2-3 %
// there, but a loss at R = 16, where it shortens the batches of twiddle loads.
template <int R, class F>
__device__ __forceinline__ void dft(u64* x, F done) {
  static_assert(R == 2 || R == 4 || R == 8 || R == 16 || R == 32);
  if constexpr (R == 2) dft2(x);
  if constexpr (R == 4) dft4(x);
  if constexpr (R == 8) dft8(x);
  if constexpr (R == 16) {
    dft_col4<0, 16>(x);
    dft_col4<1, 16>(x);
    dft_col4<2, 16>(x);
    dft_col4<3, 16>(x);
    dft4(x);
    dft4(x + 4);
    dft4(x + 8);
    dft4(x + 12);
  }
  if constexpr (R == 32) {
    dft_col4<0, 32>(x);
    dft_col4<1, 32>(x);
    dft_col4<2, 32>(x);
    dft_col4<3, 32>(x);
    dft_col4<4, 32>(x);
    dft_col4<5, 32>(x);
    dft_col4<6, 32>(x);
    dft_col4<7, 32>(x);
#pragma unroll
    for (int i = 0; i < 32; i++) {
      if (i % 8 == 0) dft8(x + i);
      done(i);
    }
  } else {
#pragma unroll
    for (int i = 0; i < R; i++) done(i);
  }
}
template <int R>
__device__ __forceinline__ void dft(u64* x) {
  dft<R>(x, [](int) {});
}

constexpr __host__ __device__ int bitrev(int x, int bits) {
  int r = 0;
  for (int i = 0; i < bits; i++) r |= (x >> i & 1) << (bits - 1 - i);
  return r;
}
constexpr __host__ __device__ int log2i(int r) {
  int l = 0;
  while (1 << l < r) l++;
  return l;
}
// Frequency held by slot i after dft<R>, for the standard root (5 = 1/13 mod 64) or its inverse.
template <int R, bool inv>
constexpr __host__ __device__ int dft_index(int i) {
  return (inv ? 59 : 5) * bitrev(i, log2i(R)) % R;
}
}  // namespace epochd::cuda::gl
