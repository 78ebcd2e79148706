// The CPU's row-wise kernels against plain loops over Fp and Fp3, on every instruction set of this
// CPU, for row counts around a tile and for every shape of interaction they treat apart.
#include "prover/prove/cpu/kernels.hpp"

#include <gtest/gtest.h>

#include <random>

namespace epochd::prover::cpu {
namespace {

constexpr u64 kSeed = 20261203;
constexpr u32 kColumns = 150;  // more than one sum takes
constexpr size_t kRowCounts[] = {32, 64, 96, 128, 160, 256, 288};

class KernelsTest : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!isa_supported(GetParam())) GTEST_SKIP() << "this CPU lacks " << isa_name(GetParam());
    for (size_t c = 0; c < kColumns; ++c) {
      columns_.emplace_back();
      for (size_t r = 0; r < kRowsMax; ++r) columns_.back().push_back(element());
    }
    for (const auto& column : columns_) pointers_.push_back(column.data());
  }
  Fp element() {
    const u64 kind = random_() % 8;
    return kind == 0 ? -Fp::one() : Fp::from_u64(kind == 1 ? random_() % 3 : random_());
  }
  Fp3 challenge() {
    const Fp a = element();
    const Fp b = element();
    return {a, b, element()};
  }

  static constexpr size_t kRowsMax = 288;
  std::mt19937_64 random_{kSeed};
  std::vector<std::vector<Fp>> columns_;
  std::vector<const Fp*> pointers_;
};

TEST_P(KernelsTest, OpenRowsSumsTheBarycentricFormula) {
  const Fp3 z = challenge();
  const std::vector<Fp>& x = columns_[7];
  for (const size_t rows : kRowCounts) {
    const size_t begin = rows >= 96 ? 32 : 0;
    std::vector<Fp3> sums(kColumns, fp3_one());
    kernels(GetParam())
        .open_rows(pointers_.data(), kColumns, x.data(), z, begin, rows, sums.data());
    for (u32 c = 0; c < kColumns; ++c) {
      Fp3 expected = fp3_one();
      for (size_t r = begin; r < rows; ++r) {
        expected += inverse(z - x[r]) * (x[r] * columns_[c][r]);
      }
      ASSERT_EQ(sums[c], expected) << rows << " rows, column " << c;
    }
  }
}

TEST_P(KernelsTest, DeepRowsDividesEachPointsDifference) {
  const std::vector<Fp>& x = columns_[3];
  for (const u32 second : {0u, 1u, 40u}) {
    std::vector<Fp3> weights[kDeepPoints];
    std::vector<WeightedColumn> weighted[kDeepPoints];
    DeepPoint points[kDeepPoints];
    const u32 counts[kDeepPoints] = {kColumns, second};
    for (u32 p = 0; p < kDeepPoints; ++p) {
      for (u32 c = 0; c < counts[p]; ++c) {
        weights[p].push_back(challenge());
        weighted[p].push_back({pointers_[c], SplitFactor3(weights[p].back())});
      }
      points[p] = {weighted[p].data(), counts[p], challenge(), challenge()};
    }
    for (const size_t rows : kRowCounts) {
      const size_t begin = rows >= 96 ? 64 : 0;
      std::vector<Fp> out(3 * kRowsMax);
      kernels(GetParam()).deep_rows(points, x.data(), begin, rows, {out.data(), kRowsMax});
      for (size_t r = begin; r < rows; ++r) {
        Fp3 expected = fp3_zero();
        for (u32 p = 0; p < kDeepPoints; ++p) {
          if (counts[p] == 0) continue;
          Fp3 rest = points[p].at_z;
          for (u32 c = 0; c < counts[p]; ++c) rest -= weights[p][c] * columns_[c][r];
          expected += rest * inverse(points[p].z - x[r]);
        }
        ASSERT_EQ((Planes{out.data(), kRowsMax}.get(r - begin)), expected) << rows << ", row " << r;
      }
    }
  }
}

TEST_P(KernelsTest, EvaluateFormTakesAnyBounds) {
  const ColumnTerm terms[] = {{pointers_[0], Fp::one()},
                              {pointers_[1], -Fp::one()},
                              {pointers_[2], element()},
                              {pointers_[3], Fp::from_u64(65536)}};
  for (u32 count = 0; count <= 4; ++count) {
    const ColumnForm form{terms, count, element()};
    for (const size_t begin : {0u, 1u, 7u, 30u}) {
      for (const size_t end : {31u, 32u, 45u, 288u}) {
        std::vector<Fp> out(kRowsMax);
        kernels(GetParam()).evaluate_form(form, begin, end, out.data());
        for (size_t r = begin; r < end; ++r) {
          Fp expected = form.constant;
          for (u32 i = 0; i < count; ++i) expected += terms[i].coefficient * terms[i].column[r];
          ASSERT_EQ(out[r - begin], expected) << begin << " to " << end << ", row " << r;
        }
      }
    }
  }
}

/// Interactions with 0 to 9 weights whose multiplicities are a column, its negative, a form, a
/// constant; pairs of equal, opposite and unrelated ones among them.
class RandomLogup {
 public:
  static constexpr u32 kWidth = 12;

  RandomLogup(std::mt19937_64& random, u32 accesses) : random_(random) {
    for (u32 i = 0; i < accesses; ++i) add(i);
  }
  const LoweredTable& table() const { return table_; }

  Fp multiplicity(u32 access, const std::vector<std::vector<Fp>>& columns, size_t row) const {
    const LogupAccess& a = table_.accesses[access];
    Fp m = a.multiplicity_constant;
    for (u32 i = 0; i < a.coefficient_count; ++i) {
      const LogupCoefficient& k = table_.coefficients[a.first_coefficient + i];
      m += k.coefficient * columns[k.column][row];
    }
    return m;
  }
  Fp3 fingerprint(u32 access, const std::vector<std::vector<Fp>>& columns, size_t row) const {
    const LogupAccess& a = table_.accesses[access];
    Fp3 f = a.constant;
    for (u32 i = 0; i < a.weight_count; ++i) {
      const LogupWeight& w = table_.weights[a.first_weight + i];
      f += w.weight * columns[w.column][row];
    }
    return f;
  }

 private:
  Fp3 element() {
    const Fp a = Fp::from_u64(random_());
    const Fp b = Fp::from_u64(random_());
    return {a, b, Fp::from_u64(random_())};
  }
  void add(u32 i) {
    LogupAccess a{};
    a.constant = element();
    a.first_weight = static_cast<u32>(table_.weights.size());
    a.weight_count = i % 10;
    for (u32 w = 0; w < a.weight_count; ++w)
      table_.weights.push_back({(i + w) % kWidth, element()});
    a.first_coefficient = static_cast<u32>(table_.coefficients.size());
    const bool repeats = i % 2 == 1 && i % 3 != 0;
    const Fp sign = i % 4 == 1 ? Fp::one() : -Fp::one();
    if (repeats) {
      const LogupAccess& before = table_.accesses.back();
      a.multiplicity_constant = sign * before.multiplicity_constant;
      a.coefficient_count = before.coefficient_count;
      for (u32 k = 0; k < before.coefficient_count; ++k) {
        LogupCoefficient c = table_.coefficients[before.first_coefficient + k];
        c.coefficient *= sign;
        table_.coefficients.push_back(c);
      }
    } else {
      a.coefficient_count = i % 4;
      for (u32 k = 0; k < a.coefficient_count; ++k) {
        const Fp c = a.coefficient_count == 1 ? sign : Fp::from_u64(random_());
        table_.coefficients.push_back({(i + 5 * k) % kWidth, c});
      }
      if (i % 4 != 1) a.multiplicity_constant = Fp::from_u64(random_());
    }
    table_.accesses.push_back(a);
  }

  std::mt19937_64& random_;
  LoweredTable table_;
};

TEST_P(KernelsTest, LogupRowsAddUpEveryFraction) {
  std::vector<Fp> flat;
  for (u32 c = 0; c < RandomLogup::kWidth; ++c) {
    flat.insert(flat.end(), columns_[c].begin(), columns_[c].end());
  }
  const TableColumns set{nullptr, flat.data(), kRowsMax, 0};
  for (const u32 accesses : {1u, 2u, 3u, 8u, 23u, 44u}) {
    const RandomLogup logup(random_, accesses);
    const PreparedLogup prepared(logup.table(), RandomLogup::kWidth);
    const u32 pairs = (accesses + 1) / 2;
    for (const size_t rows : kRowCounts) {
      std::vector<Fp> aux(3 * pairs * kRowsMax);
      const Planes totals{aux.data() + 3 * (pairs - 1) * kRowsMax, kRowsMax};
      kernels(GetParam()).logup_rows(prepared.view(), set, 0, rows, aux.data(), kRowsMax, totals);
      for (size_t r = 0; r < rows; ++r) {
        Fp3 total = fp3_zero();
        for (u32 j = 0; j < pairs; ++j) {
          Fp3 fraction = fp3_zero();
          for (u32 i = 2 * j; i < accesses && i < 2 * j + 2; ++i) {
            fraction +=
                inverse(logup.fingerprint(i, columns_, r)) * logup.multiplicity(i, columns_, r);
          }
          total += fraction;
          if (j + 1 == pairs) continue;
          ASSERT_EQ((Planes{aux.data() + 3 * j * kRowsMax, kRowsMax}.get(r)), fraction)
              << accesses << " accesses, pair " << j << ", row " << r;
        }
        ASSERT_EQ(totals.get(r), total) << accesses << " accesses, row " << r;
      }
    }
  }
}

TEST_P(KernelsTest, LogupQuotientFoldsEveryPairsConstraint) {
  constexpr u32 kLogHalf = 5;
  std::vector<Fp> flat;
  for (u32 c = 0; c < RandomLogup::kWidth; ++c) {
    flat.insert(flat.end(), columns_[c].begin(), columns_[c].end());
  }
  for (const u32 accesses : {1u, 2u, 3u, 8u, 23u, 44u}) {
    const RandomLogup logup(random_, accesses);
    const PreparedLogup prepared(logup.table(), RandomLogup::kWidth);
    const u32 pairs = (accesses + 1) / 2;
    std::vector<Fp> aux(3 * pairs * kRowsMax);
    for (Fp& a : aux) a = element();
    const auto aux_at = [&](u32 pair, size_t row) {
      return Planes{aux.data() + 3 * pair * kRowsMax, kRowsMax}.get(row);
    };
    std::vector<Fp3> alphas;
    std::vector<SplitProduct> split;
    for (u32 j = 0; j < pairs; ++j) {
      alphas.push_back(challenge());
      split.emplace_back(alphas.back());
    }
    const Fp3 mean = challenge();
    const LogupFold fold{
        prepared.view(), {nullptr, flat.data(), kRowsMax, 0}, aux.data(), kRowsMax, kLogHalf, mean,
        split.data()};
    std::vector<Fp> out(3 * kRowsMax, Fp::one());
    const Planes planes{out.data(), kRowsMax};
    kernels(GetParam()).logup_quotient(fold, 0, 64, planes);
    for (size_t r = 0; r < 64; ++r) {
      Fp3 expected{Fp::one(), Fp::one(), Fp::one()};
      Fp3 others = fp3_zero();
      for (u32 j = 0; j < pairs; ++j) {
        // u * (product of fingerprints) = sum of multiplicity * the other fingerprint.
        const u32 a = 2 * j;
        const bool has_two = a + 1 < accesses;
        const Fp3 fa = logup.fingerprint(a, columns_, r);
        const Fp3 fb = has_two ? logup.fingerprint(a + 1, columns_, r) : fp3_one();
        Fp3 numerator = fb * logup.multiplicity(a, columns_, r);
        if (has_two) numerator += fa * logup.multiplicity(a + 1, columns_, r);
        Fp3 u = aux_at(j, r);
        if (j + 1 < pairs) {
          others += u;
        } else {
          // The next point of the trace domain: bit-reversed order adds one at the top.
          size_t next = r & 31;
          size_t bit = 16;
          for (; bit != 0 && (next & bit) != 0; bit >>= 1) next ^= bit;
          u = aux_at(j, (r & ~size_t{31}) | next | bit) - u + mean - others;
        }
        expected += (u * (fa * fb) - numerator) * alphas[j];
      }
      ASSERT_EQ(planes.get(r), expected) << accesses << " accesses, row " << r;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, KernelsTest, testing::Values(Isa::kScalar, Isa::kAvx2, Isa::kAvx512),
                         [](const auto& info) { return std::string(isa_name(info.param)); });

}  // namespace
}  // namespace epochd::prover::cpu
