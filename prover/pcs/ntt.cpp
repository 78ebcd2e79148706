// The four transforms of ntt.hpp, composed of the eight-lane kernels.
//
// Columns of N >= 64 are split N = R C, so that what a thread works on stays in its caches and SIMD
// lanes never mix. With n = r C + c and k = kr + R kc, and x -> x^C on R points, x -> on C points:
//   strips   inverse of size R over r, lanes = 8 neighbouring c   (in: strided, out: tmp)
//   middle   inverse of size C over c, lanes = 8 neighbouring kr  (tmp rows transposed), which
//   leaves
//            the coefficients kr, kr + R, ..: exactly the strips the forward direction starts with,
//            so forward of size C for each coset of <g_n>            (out: strided)
//   rows     forward of size R, lanes = 8 neighbouring rows       (out rows transposed, in place)
// That is three passes over memory. Zero-extension never happens: in bit-reversed order 7 H' is 2^b
// blocks, block j being the coset 7 g_m^bitrev(j) <g_n>.
// Short columns are transformed whole, eight columns side by side.
#include "prover/pcs/ntt.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "prover/core/aligned_buffer.hpp"
#include "prover/core/assert.hpp"
#include "prover/pcs/ntt_plan.hpp"

namespace epochd::prover {

using ntt::Head;
using ntt::Kernels;
using ntt::kLanes;
using ntt::Plan;
using ntt::reverse_bits;
using ntt::Transform;

namespace {

/// Below this a column is never split.
constexpr u32 kLogSplitMin = 6;
/// Up to this, eight columns at a time are transformed whole.
constexpr u32 kLogWholeMax = 12;
/// Columns worked on together take about this much memory, unless that is fewer than four.
constexpr size_t kBatchBytes = size_t{16} << 20;
constexpr u32 kBatchMin = 4;
constexpr u32 kBatchMax = 64;

using Lanes = std::array<Fp, kLanes>;

const Kernels& kernels_of(Isa isa) {
  switch (isa) {
    case Isa::kAvx512:
      return ntt::avx512_kernels();
    case Isa::kAvx2:
      return ntt::avx2_kernels();
    case Isa::kScalar:
      break;
  }
  return ntt::scalar_kernels();
}

Fp inverse_of_size(u32 log_n) {
  return Fp::from_canonical(u64{1} << log_n).inverse();
}

void for_items(const Parallel& parallel, size_t count,
               const std::function<void(size_t, size_t)>& body) {
  const size_t pieces = size_t{parallel.threads()} * 8;
  parallel.for_ranges(count, std::max<size_t>(1, count / pieces), body);
}

/// f, f g, f g^2, .. in the lanes.
Lanes progression(Fp first, Fp ratio) {
  Lanes lanes;
  for (Fp& lane : lanes) {
    lane = first;
    first *= ratio;
  }
  return lanes;
}

/// A forward transform on shift <w_n> whose outputs carry a factor, or none if `scale` is one.
struct Coset {
  Coset(const Plan& plan, Fp shift, Fp scale) : table(plan.shifted_table(shift)) {
    if (scale != Fp::one()) head = plan.scaled_head(shift, scale);
  }
  std::vector<Fp> table;
  std::vector<Fp> head;
};

/// A transform of [n][8] data in place, without factors.
Transform in_place(const Plan& plan, const Fp* table, Fp* data) {
  return {&plan.view(), table, false, Head::kMultiply, nullptr, data, kLanes,
          false,        data,  data,  kLanes};
}

/// The shift of block j of 7 <g_m> over <g_n>.
std::vector<Fp> block_shifts(u32 log_n, u32 log_blowup) {
  const Fp g = Fp::two_adic_root(log_n + log_blowup);
  std::vector<Fp> shifts;
  for (u64 j = 0; j < u64{1} << log_blowup; ++j) {
    shifts.push_back(Fp::generator() * g.pow(reverse_bits(j, log_blowup)));
  }
  return shifts;
}

/// Eight columns as rows of a transposition; where there are fewer, reads repeat the last one and
/// writes go to a spare row.
struct ColumnGroup {
  ColumnGroup(u32 first, u32 columns) : first_(first), count_(std::min(kLanes, columns - first)) {}
  void inputs(const Fp* base, size_t stride, const Fp** rows) const {
    for (u32 l = 0; l < kLanes; ++l) rows[l] = base + (first_ + std::min(l, count_ - 1)) * stride;
  }
  void outputs(Fp* base, size_t stride, Fp* spare, Fp** rows) const {
    for (u32 l = 0; l < kLanes; ++l) rows[l] = l < count_ ? base + (first_ + l) * stride : spare;
  }

 private:
  u32 first_;
  u32 count_;
};

/// How many of `columns` columns are transformed whole, eight at a time.
u32 whole_columns(u32 columns, u32 log_n) {
  if (log_n < kLogSplitMin) return columns;
  return log_n <= kLogWholeMax ? columns / kLanes * kLanes : 0;
}

/// How many columns pass through the phases of a split transform together.
u32 batch_columns(u32 columns, u32 log_n, u32 log_blowup) {
  const size_t column_bytes = (sizeof(Fp) << log_n) * (2 + (size_t{1} << log_blowup));
  const size_t fit = std::clamp<size_t>(kBatchBytes / column_bytes, kBatchMin, kBatchMax);
  return static_cast<u32>(std::min<size_t>(columns, fit));
}

/// A column between the phases of a split transform. Rows are padded by a cache line, so that
/// strips do not all fall into the same sets.
size_t split_column(u32 log_n) {
  return (size_t{1} << (log_n - log_n / 2)) * ((size_t{1} << log_n / 2) + kLanes);
}

/// What coset_lde and coset_lde_from_coefficients share.
class Extension {
 public:
  Extension(Isa isa, Fp* out, size_t out_stride, u32 log_n, u32 log_blowup,
            const Parallel& parallel)
      : kernels_(kernels_of(isa)),
        parallel_(parallel),
        out_(out),
        out_stride_(out_stride),
        log_n_(log_n),
        log_blowup_(log_blowup),
        log_c_(log_n / 2),
        log_r_(log_n - log_n / 2),
        shifts_(block_shifts(log_n, log_blowup)) {
    EPOCHD_ASSERT(log_blowup <= kNttLogBlowupMax && log_n + log_blowup <= kNttLogRowsMax);
  }

  void lde(const Fp* in, size_t in_stride, u32 columns) {
    const u32 whole = whole_columns(columns, log_n_);
    extend_whole(in, in_stride, whole, true);
    if (whole == columns) return;
    const u32 batch = batch_columns(columns - whole, log_n_, log_blowup_);
    AlignedBuffer<Fp> tmp(batch * tmp_column());
    const std::vector<Coset> cosets = strip_cosets(inverse_of_size(log_n_));
    for (u32 first = whole; first < columns; first += batch) {
      const u32 count = std::min(batch, columns - first);
      inverse_strips(in + first * in_stride, in_stride, count, tmp.data());
      middle(tmp.data(), first, count, cosets);
      forward_rows(first, count);
    }
  }

  void from_coefficients(const Fp* in, size_t in_stride, u32 columns) {
    const u32 whole = whole_columns(columns, log_n_);
    extend_whole(in, in_stride, whole, false);
    if (whole == columns) return;
    const u32 batch = batch_columns(columns - whole, log_n_, log_blowup_);
    const std::vector<Coset> cosets = strip_cosets(Fp::one());
    for (u32 first = whole; first < columns; first += batch) {
      const u32 count = std::min(batch, columns - first);
      forward_strips(in, in_stride, first, count, cosets);
      forward_rows(first, count);
    }
  }

 private:
  size_t n() const { return size_t{1} << log_n_; }
  size_t r() const { return size_t{1} << log_r_; }
  size_t c() const { return size_t{1} << log_c_; }
  size_t tmp_stride() const { return c() + kLanes; }
  size_t tmp_column() const { return split_column(log_n_); }

  /// Cosets of the strips' variable x^R.
  std::vector<Coset> strip_cosets(Fp scale) const {
    std::vector<Coset> cosets;
    for (const Fp shift : shifts_) {
      cosets.emplace_back(ntt::plan(log_c_, false), shift.pow(r()), scale);
    }
    return cosets;
  }

  void extend_whole(const Fp* in, size_t in_stride, u32 columns, bool interpolate) {
    if (columns == 0) return;
    if (log_n_ == 0) {
      for (u32 col = 0; col < columns; ++col) {
        std::fill_n(out_ + col * out_stride_, shifts_.size(), in[col * in_stride]);
      }
      return;
    }
    const Plan& inverse = ntt::plan(log_n_, true);
    const Plan& forward = ntt::plan(log_n_, false);
    const Fp scale = interpolate ? inverse_of_size(log_n_) : Fp::one();
    std::vector<Coset> cosets;
    for (const Fp shift : shifts_) cosets.emplace_back(forward, shift, scale);
    const size_t groups = (columns + kLanes - 1) / kLanes;
    for_items(parallel_, groups, [&](size_t begin, size_t end) {
      AlignedBuffer<Fp> work(n() * (2 * kLanes + 1));
      Fp* a = work.data();
      Fp* b = a + n() * kLanes;
      for (size_t g = begin; g < end; ++g) {
        const ColumnGroup group(static_cast<u32>(g) * kLanes, columns);
        const Fp* rows[kLanes];
        group.inputs(in, in_stride, rows);
        kernels_.load_rows(rows, n(), a);
        if (interpolate) {
          Transform t = in_place(inverse, inverse.view().table, a);
          t.head = Head::kTrivial;
          kernels_.transform(t);
        }
        for (size_t j = 0; j < cosets.size(); ++j) {
          forward_coset(forward, cosets[j], a, kLanes, interpolate, b, b, kLanes);
          Fp* out_rows[kLanes];
          group.outputs(out_ + j * n(), out_stride_, b + n() * kLanes, out_rows);
          kernels_.store_rows(b, n(), out_rows);
        }
      }
    });
  }

  void forward_coset(const Plan& plan, const Coset& coset, const Fp* src, size_t src_stride,
                     bool src_reversed, Fp* scratch, Fp* dst, size_t dst_stride) const {
    Transform t = in_place(plan, coset.table.data(), scratch);
    if (!coset.head.empty()) {
      t.head = Head::kScaled;
      t.head_factors = coset.head.data();
    }
    t.src = src;
    t.src_stride = src_stride;
    t.src_reversed = src_reversed;
    t.dst = dst;
    t.dst_stride = dst_stride;
    kernels_.transform(t);
  }

  void inverse_strips(const Fp* in, size_t in_stride, u32 columns, Fp* tmp) {
    const Plan& plan = ntt::plan(log_r_, true);
    const size_t strips = c() / kLanes;
    for_items(parallel_, columns * strips, [&](size_t begin, size_t end) {
      AlignedBuffer<Fp> scratch(r() * kLanes);
      for (size_t item = begin; item < end; ++item) {
        const size_t col = item / strips;
        const size_t at = item % strips * kLanes;
        Transform t = in_place(plan, plan.view().table, scratch.data());
        t.head = Head::kTrivial;
        t.src = in + col * in_stride + at;
        t.src_stride = c();
        t.dst = tmp + col * tmp_column() + at;
        t.dst_stride = tmp_stride();
        kernels_.transform(t);
      }
    });
  }

  void middle(const Fp* tmp, u32 first, u32 columns, const std::vector<Coset>& cosets) {
    const Plan& inverse = ntt::plan(log_c_, true);
    const Plan& forward = ntt::plan(log_c_, false);
    const Fp w = Fp::two_adic_root(log_n_).inverse();
    for_items(parallel_, r() / kLanes, [&](size_t begin, size_t end) {
      AlignedBuffer<Fp> work((2 * c() + inverse.view().table_size) * kLanes);
      Fp* a = work.data();
      Fp* b = a + c() * kLanes;
      Fp* table = b + c() * kLanes;
      for (size_t g = begin; g < end; ++g) {
        const size_t kr = g * kLanes;
        kernels_.make_lane_table(inverse.view(), progression(w.pow(kr), w).data(), table);
        for (u32 col = 0; col < columns; ++col) {
          const Fp* rows[kLanes];
          for (u32 l = 0; l < kLanes; ++l) {
            rows[l] = tmp + col * tmp_column() + reverse_bits(kr + l, log_r_) * tmp_stride();
          }
          kernels_.load_rows(rows, c(), a);
          Transform t = in_place(inverse, table, a);
          t.lane_tables = true;
          kernels_.transform(t);
          for (size_t j = 0; j < cosets.size(); ++j) {
            Fp* out = out_ + (first + col) * out_stride_ + j * n() + kr;
            forward_coset(forward, cosets[j], a, kLanes, true, b, out, r());
          }
        }
      }
    });
  }

  void forward_strips(const Fp* in, size_t in_stride, u32 first, u32 columns,
                      const std::vector<Coset>& cosets) {
    const Plan& plan = ntt::plan(log_c_, false);
    const size_t strips = r() / kLanes;
    for_items(parallel_, columns * strips, [&](size_t begin, size_t end) {
      AlignedBuffer<Fp> scratch(c() * kLanes);
      for (size_t item = begin; item < end; ++item) {
        const size_t col = first + item / strips;
        const size_t kr = item % strips * kLanes;
        for (size_t j = 0; j < cosets.size(); ++j) {
          forward_coset(plan, cosets[j], in + col * in_stride + kr, r(), false, scratch.data(),
                        out_ + col * out_stride_ + j * n() + kr, r());
        }
      }
    });
  }

  void forward_rows(u32 first, u32 columns) {
    const Plan& plan = ntt::plan(log_r_, false);
    const Fp w = Fp::two_adic_root(log_n_);
    Lanes lane_shifts;
    for (u32 l = 0; l < kLanes; ++l) lane_shifts[l] = w.pow(reverse_bits(l, log_c_));
    for_items(parallel_, shifts_.size() * c() / kLanes, [&](size_t begin, size_t end) {
      AlignedBuffer<Fp> work((r() + plan.view().table_size) * kLanes);
      Fp* a = work.data();
      Fp* table = a + r() * kLanes;
      for (size_t g = begin; g < end; ++g) {
        const size_t block = g * kLanes >> log_c_;
        const size_t row = g * kLanes & (c() - 1);
        const Fp shift = shifts_[block] * w.pow(reverse_bits(row, log_c_));
        Lanes shifts;
        for (u32 l = 0; l < kLanes; ++l) shifts[l] = shift * lane_shifts[l];
        kernels_.make_lane_table(plan.view(), shifts.data(), table);
        for (u32 col = 0; col < columns; ++col) {
          Fp* rows[kLanes];
          for (u32 l = 0; l < kLanes; ++l) {
            rows[l] = out_ + (first + col) * out_stride_ + block * n() + (row + l) * r();
          }
          kernels_.load_rows(rows, r(), a);
          Transform t = in_place(plan, table, a);
          t.lane_tables = true;
          kernels_.transform(t);
          kernels_.store_rows(a, r(), rows);
        }
      }
    });
  }

  const Kernels& kernels_;
  const Parallel& parallel_;
  Fp* out_;
  size_t out_stride_;
  u32 log_n_;
  u32 log_blowup_;
  u32 log_c_;
  u32 log_r_;
  std::vector<Fp> shifts_;
};

/// 1/m, x/m, x^2/m, ..
std::vector<Fp> scaled_powers(Fp x, Fp scale, size_t count) {
  std::vector<Fp> powers(count);
  for (Fp& p : powers) {
    p = scale;
    scale *= x;
  }
  return powers;
}

/// coset_interpolate_bitrev: the first two phases of Extension::lde, read in bit-reversed order.
class Interpolation {
 public:
  Interpolation(Isa isa, Fp* data, size_t stride, u32 log_m, const Parallel& parallel)
      : kernels_(kernels_of(isa)),
        parallel_(parallel),
        data_(data),
        stride_(stride),
        log_m_(log_m),
        log_c_(log_m / 2),
        log_r_(log_m - log_m / 2),
        shift_inverse_(Fp::generator().inverse()) {
    EPOCHD_ASSERT(log_m <= kNttLogRowsMax);
  }

  void run(u32 columns) {
    if (log_m_ == 0) return;
    if (log_m_ < kLogSplitMin) {
      whole(columns);
      return;
    }
    AlignedBuffer<Fp> tmp(tmp_column());
    const std::vector<Fp> row_factors =
        scaled_powers(shift_inverse_.pow(r()), inverse_of_size(log_m_), c());
    for (u32 col = 0; col < columns; ++col) {
      strips(data_ + col * stride_, tmp.data());
      finish(tmp.data(), row_factors.data(), data_ + col * stride_);
    }
  }

 private:
  size_t m() const { return size_t{1} << log_m_; }
  size_t r() const { return size_t{1} << log_r_; }
  size_t c() const { return size_t{1} << log_c_; }
  size_t tmp_stride() const { return c() + kLanes; }
  size_t tmp_column() const { return split_column(log_m_); }

  void whole(u32 columns) {
    const Plan& plan = ntt::plan(log_m_, true);
    const std::vector<Fp> factors = scaled_powers(shift_inverse_, inverse_of_size(log_m_), m());
    const Lanes ones = progression(Fp::one(), Fp::one());
    AlignedBuffer<Fp> work(m() * (2 * kLanes + 1));
    Fp* a = work.data();
    Fp* b = a + m() * kLanes;
    for (u32 first = 0; first < columns; first += kLanes) {
      const ColumnGroup group(first, columns);
      const Fp* rows[kLanes];
      Fp* out_rows[kLanes];
      group.inputs(data_, stride_, rows);
      group.outputs(data_, stride_, b + m() * kLanes, out_rows);
      kernels_.load_rows(rows, m(), a);
      kernels_.transform(from_reversed(plan, a, b, b, kLanes));
      kernels_.reverse_rows(b, log_m_, factors.data(), ones.data(), a, kLanes);
      kernels_.store_rows(a, m(), out_rows);
    }
  }

  Transform from_reversed(const Plan& plan, const Fp* src, Fp* scratch, Fp* dst,
                          size_t dst_stride) const {
    Transform t = in_place(plan, plan.view().table, scratch);
    t.head = Head::kTrivial;
    t.src = src;
    t.src_reversed = true;
    t.dst = dst;
    t.dst_stride = dst_stride;
    return t;
  }

  void strips(const Fp* column, Fp* tmp) {
    const Plan& plan = ntt::plan(log_r_, true);
    for_items(parallel_, c() / kLanes, [&](size_t begin, size_t end) {
      AlignedBuffer<Fp> work(2 * r() * kLanes);
      Fp* a = work.data();
      Fp* b = a + r() * kLanes;
      for (size_t g = begin; g < end; ++g) {
        const Fp* rows[kLanes];
        for (u32 l = 0; l < kLanes; ++l) {
          rows[l] = column + reverse_bits(g * kLanes + l, log_c_) * r();
        }
        kernels_.load_rows(rows, r(), a);
        kernels_.transform(from_reversed(plan, a, b, tmp + g * kLanes, tmp_stride()));
      }
    });
  }

  void finish(const Fp* tmp, const Fp* row_factors, Fp* column) {
    const Plan& plan = ntt::plan(log_c_, true);
    const Fp w = Fp::two_adic_root(log_m_).inverse();
    for_items(parallel_, r() / kLanes, [&](size_t begin, size_t end) {
      AlignedBuffer<Fp> work((c() + plan.view().table_size) * kLanes);
      Fp* a = work.data();
      Fp* table = a + c() * kLanes;
      for (size_t g = begin; g < end; ++g) {
        const size_t kr = g * kLanes;
        kernels_.make_lane_table(plan.view(), progression(w.pow(kr), w).data(), table);
        const Fp* rows[kLanes];
        for (u32 l = 0; l < kLanes; ++l) {
          rows[l] = tmp + reverse_bits(kr + l, log_r_) * tmp_stride();
        }
        kernels_.load_rows(rows, c(), a);
        Transform t = in_place(plan, table, a);
        t.lane_tables = true;
        kernels_.transform(t);
        const Lanes lane_factors = progression(shift_inverse_.pow(kr), shift_inverse_);
        kernels_.reverse_rows(a, log_c_, row_factors, lane_factors.data(), column + kr, r());
      }
    });
  }

  const Kernels& kernels_;
  const Parallel& parallel_;
  Fp* data_;
  size_t stride_;
  u32 log_m_;
  u32 log_c_;
  u32 log_r_;
  Fp shift_inverse_;
};

}  // namespace

void coset_lde(Isa isa, const Fp* in, size_t in_stride, Fp* out, size_t out_stride, u32 columns,
               u32 log_n, u32 log_blowup, const Parallel& parallel) {
  Extension(isa, out, out_stride, log_n, log_blowup, parallel).lde(in, in_stride, columns);
}

void coset_lde_from_coefficients(Isa isa, const Fp* in, size_t in_stride, Fp* out,
                                 size_t out_stride, u32 columns, u32 log_n, u32 log_blowup,
                                 const Parallel& parallel) {
  Extension(isa, out, out_stride, log_n, log_blowup, parallel)
      .from_coefficients(in, in_stride, columns);
}

void coset_interpolate_bitrev(Isa isa, Fp* columns_in_out, size_t stride, u32 columns, u32 log_m,
                              const Parallel& parallel) {
  Interpolation(isa, columns_in_out, stride, log_m, parallel).run(columns);
}

u64 coset_lde_scratch_bytes(u32 columns, u32 log_n, u32 log_blowup, u32 threads) {
  const u32 whole = whole_columns(columns, log_n);
  const size_t rest = columns - whole;
  // Of each thread: two transforms of eight columns, or of eight rows and the lanes' own table.
  const size_t lanes_whole = whole > 0 ? (2 * kLanes + 1) << log_n : 0;
  const size_t lanes_split = rest > 0 ? 3 * kLanes << (log_n - log_n / 2) : 0;
  const size_t batch =
      rest > 0 ? batch_columns(static_cast<u32>(rest), log_n, log_blowup) * split_column(log_n) : 0;
  return sizeof(Fp) * (batch + threads * std::max(lanes_whole, lanes_split));
}

u64 coset_interpolate_scratch_bytes(u32 log_m, u32 threads) {
  if (log_m < kLogSplitMin) return sizeof(Fp) * (2 * kLanes + 1) << log_m;
  return sizeof(Fp) * (split_column(log_m) + (threads * 2 * kLanes << (log_m - log_m / 2)));
}

void interpolate_bitrev(Fp* values, u32 log_m) {
  EPOCHD_ASSERT(log_m <= Fp::kTwoAdicity);
  // Blocks merge from the last level up: (u + v, (u - v) / t) with t the block's twiddle.
  for (u32 level = log_m; level-- > 0;) {
    const size_t half = size_t{1} << (log_m - level - 1);
    const Fp root = Fp::two_adic_root(level + 1).inverse();
    for (u64 block = 0; block < u64{1} << level; ++block) {
      const Fp t = root.pow(reverse_bits(block, level));
      Fp* u = values + block * 2 * half;
      for (size_t i = 0; i < half; ++i) {
        const Fp sum = u[i] + u[i + half];
        u[i + half] = (u[i] - u[i + half]) * t;
        u[i] = sum;
      }
    }
  }
  const Fp scale = inverse_of_size(log_m);
  for (size_t i = 0; i < size_t{1} << log_m; ++i) values[i] *= scale;
}

}  // namespace epochd::prover
