// Fills the tables of fast.hpp, once per height.
#include "cuda/ntt/fast.hpp"
#include "cuda/ntt/fast_halves.hpp"
#include "cuda/ntt/field.cuh"
#include "prover/field/fp.hpp"

namespace epochd::cuda::fast {
namespace {

using prover::Fp;

constexpr u32 kThreads = 256;

/// constant * base^(i j) * row^i * column^j at [i][j], or at [j / tile][i][j % tile].
struct Powers {
  Fp base = Fp::one();
  Fp row = Fp::one();
  Fp column = Fp::one();
  Fp constant = Fp::one();
  u32 tile = 0;  ///< 0: whole rows
};

__device__ u64 power(u64 base, u64 exponent) {
  u64 result = 1;
  for (; exponent != 0; exponent >>= 1, base = gl::mul(base, base)) {
    if ((exponent & 1) != 0) result = gl::mul(result, base);
  }
  return result;
}

/// Grid: threads an entry.
__global__ void __launch_bounds__(kThreads)
    powers_kernel(u64* out, u32 rows, u32 columns, const __grid_constant__ Powers p) {
  const u64 at = static_cast<u64>(blockIdx.x) * kThreads + threadIdx.x;
  if (at >= static_cast<u64>(rows) * columns) return;
  const u64 width = p.tile == 0 ? columns : p.tile;
  const u64 i = at / width % rows;
  const u64 j = at / width / rows * width + at % width;
  const u64 twiddle = gl::mul(power(p.base.value(), i * j), p.constant.value());
  const u64 shift = gl::mul(power(p.row.value(), i), power(p.column.value(), j));
  out[at] = gl::canonical(gl::mul(twiddle, shift));
}

/// root^(k0 (c j1 + j2)) * shift^k0 at [16 j1][16 k0][c j2]. Grid: threads an entry.
__global__ void __launch_bounds__(kThreads)
    row_forward2_kernel(u64* out, u32 c, const __grid_constant__ Fp root,
                        const __grid_constant__ Fp shift) {
  const u32 at = blockIdx.x * kThreads + threadIdx.x;
  const u32 k0 = at / c % 16;
  const u32 j = at / (16 * c) * c + at % c;
  out[at] = gl::canonical(gl::mul(power(root.value(), k0 * j), power(shift.value(), k0)));
}

/// Takes the tables one after another; without memory it only counts words.
class Builder {
 public:
  Builder(u64* memory, cudaStream_t stream) : memory_(memory), stream_(stream) {}
  size_t words() const { return used_; }

  const u64* powers(u32 rows, u32 columns, const Powers& p) {
    u64* at = take(size_t{rows} * columns);
    if (memory_ == nullptr) return at;
    const size_t blocks = (size_t{rows} * columns + kThreads - 1) / kThreads;
    powers_kernel<<<static_cast<u32>(blocks), kThreads, 0, stream_>>>(at, rows, columns, p);
    EPOCHD_CUDA_CHECK(cudaGetLastError());
    return at;
  }
  const u64* row_forward2(u32 c, Fp root, Fp shift) {
    u64* at = take(size_t{256} * c);
    if (memory_ == nullptr) return at;
    row_forward2_kernel<<<c, kThreads, 0, stream_>>>(at, c, root, shift);
    EPOCHD_CUDA_CHECK(cudaGetLastError());
    return at;
  }

 private:
  u64* take(size_t count) {
    u64* at = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += count;
    return at;
  }

  u64* memory_;
  cudaStream_t stream_;
  size_t used_ = 0;
};

/// What both pairs share.
LdeTwiddles make_shared(Builder& builder, u32 log_n, Fp shift) {
  const Split s = split(log_n);
  const u32 n1 = 1u << s.log_n1;
  const u32 n2 = 1u << s.log_n2;
  const u32 c = n2 / 256;
  const Fp column = Fp::two_adic_root(s.log_n1);
  const Fp row_inverse = Fp::two_adic_root(s.log_n2).inverse();
  const Fp n_inverse = Fp::from_canonical(u64{1} << log_n).inverse();
  LdeTwiddles t{};
  if (two_rounds(s)) {
    const u32 r1 = 1u << first_round_log(s);
    const u32 r1_first = three_rounds_first(s) ? 16 : r1;
    t.column_inverse = builder.powers(r1_first, n1 / r1_first, {.base = column.inverse()});
    t.column_forward = builder.powers(r1, n1 / r1, {.base = column});
  }
  if (n1 > 1) {
    t.outer_inverse = builder.powers(n1, n2,
                                     {.base = Fp::two_adic_root(log_n).inverse(),
                                      .row = shift,
                                      .constant = n_inverse,
                                      .tile = three_rounds_first(s) ? kThreeRoundsTile : 0});
  }
  t.row_inverse = builder.powers(16, 16 * c, {.base = row_inverse});
  t.row_inverse2 = builder.powers(16, c, {.base = row_inverse.pow(16)});
  return t;
}

void add_pair(Builder& builder, u32 log_n, u32 pair, Fp shift, LdeTwiddles& t) {
  const Split s = split(log_n);
  const u32 n1 = 1u << s.log_n1;
  const u32 n2 = 1u << s.log_n2;
  const u32 c = n2 / 256;
  const Fp pair_shift = pair == 0 ? Fp::one() : Fp::two_adic_root(log_n + 2);
  const Fp row_root = Fp::two_adic_root(s.log_n2);
  const Fp constant = n1 > 1 ? Fp::one() : Fp::from_canonical(n2).inverse();
  for (u32 b = 0; b < 2; ++b) {
    const Fp half = b == 0 ? Fp::one() : Fp::two_adic_root(log_n + 1);
    const Fp along_row = (shift * pair_shift * half).pow(n1);
    if (b == 0) t.scale = builder.powers(1, c, {.column = along_row.pow(256)});
    if (n1 > 1) {
      t.outer[b] =
          builder.powers(n1, n2, {.base = Fp::two_adic_root(log_n), .row = pair_shift * half});
    }
    t.row_forward[b] = builder.powers(
        c, 16, {.base = row_root.pow(16), .column = along_row.pow(16), .constant = constant});
    t.row_forward2[b] = builder.row_forward2(c, row_root, along_row);
  }
}

size_t build(HeightTables& tables, u32 log_n, u32 log_blowup, Fp shift, u64* memory,
             cudaStream_t stream) {
  Builder builder(memory, stream);
  const LdeTwiddles shared = make_shared(builder, log_n, shift);
  for (u32 pair = 0; pair < log_blowup; ++pair) {
    tables.pairs[pair] = shared;
    add_pair(builder, log_n, pair, shift, tables.pairs[pair]);
  }
  return builder.words();
}

/// The parts that do not depend on the shift, of a forward transform or its inverse.
HalfTwiddles make_half(Builder& builder, u32 log_n, bool inverse) {
  const auto root = [&](u32 log_order) {
    const Fp w = Fp::two_adic_root(log_order);
    return inverse ? w.inverse() : w;
  };
  const Split s = split(log_n);
  const u32 c = (1u << s.log_n2) / 256;
  HalfTwiddles t{};
  if (two_rounds(s)) {
    const u32 log_r1 = first_round_log(s);
    t.column_rounds =
        builder.powers(1u << log_r1, 1u << (s.log_n1 - log_r1), {.base = root(s.log_n1)});
  }
  t.row = builder.powers(16, 16 * c, {.base = root(s.log_n2)});
  t.row2 = builder.powers(16, c, {.base = root(s.log_n2).pow(16)});
  return t;
}

size_t build(HalfTables& tables, u32 log_n, u32 log_blowup, u64* memory, cudaStream_t stream) {
  Builder builder(memory, stream);
  const Split s = split(log_n);
  const u32 n1 = 1u << s.log_n1;
  const u32 n2 = 1u << s.log_n2;
  tables.twiddles = make_half(builder, log_n, false);
  const auto shift = [&](u32 block) {
    u32 step = 0;
    for (u32 i = 0; i < log_blowup; ++i) step |= (block >> i & 1) << (log_blowup - 1 - i);
    return Fp::generator() * Fp::two_adic_root(log_n + log_blowup).pow(step);
  };
  for (u32 b = 0; b < 1u << log_blowup; ++b) {
    const u64* at = builder.powers(1, n1, {.column = shift(b).pow(n2)});
    if (b == 0) tables.twiddles.column_shift = at;
  }
  for (u32 b = 0; b < 1u << log_blowup; ++b) {
    const u64* at = builder.powers(n1, n2, {.base = Fp::two_adic_root(log_n), .column = shift(b)});
    if (b == 0) tables.twiddles.outer = at;
  }
  return builder.words();
}

size_t build_inverse(HalfTables& tables, u32 log_m, u64* memory, cudaStream_t stream) {
  Builder builder(memory, stream);
  const Split s = split(log_m);
  const u32 n1 = 1u << s.log_n1;
  const u32 n2 = 1u << s.log_n2;
  const Fp shift = Fp::generator().inverse();
  tables.twiddles = make_half(builder, log_m, true);
  tables.twiddles.column_shift = builder.powers(1, n1, {.column = shift.pow(n2)});
  tables.twiddles.outer =
      builder.powers(n1, n2,
                     {.base = Fp::two_adic_root(log_m).inverse(),
                      .column = shift,
                      .constant = Fp::from_canonical(u64{1} << log_m).inverse()});
  return builder.words();
}

}  // namespace

HalfTables make_forward_tables(u32 log_n, u32 log_blowup, cudaStream_t stream) {
  HalfTables tables;
  const size_t words = build(tables, log_n, log_blowup, nullptr, stream);
  tables.memory = DeviceBlock(words * sizeof(u64));
  build(tables, log_n, log_blowup, reinterpret_cast<u64*>(tables.memory.data()), stream);
  return tables;
}

HalfTables make_inverse_tables(u32 log_m, cudaStream_t stream) {
  HalfTables tables;
  const size_t words = build_inverse(tables, log_m, nullptr, stream);
  tables.memory = DeviceBlock(words * sizeof(u64));
  build_inverse(tables, log_m, reinterpret_cast<u64*>(tables.memory.data()), stream);
  return tables;
}

HeightTables make_tables(u32 log_n, u32 log_blowup, Fp shift, cudaStream_t stream) {
  HeightTables tables;
  const size_t words = build(tables, log_n, log_blowup, shift, nullptr, stream);
  tables.memory = DeviceBlock(words * sizeof(u64));
  build(tables, log_n, log_blowup, shift, reinterpret_cast<u64*>(tables.memory.data()), stream);
  return tables;
}

}  // namespace epochd::cuda::fast
