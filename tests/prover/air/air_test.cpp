// The contexts an AIR runs through agree with each other and with the AIR's plain reading.
#include <gtest/gtest.h>

#include <random>

#include "prover/air/describe.hpp"
#include "prover/air/trace_check.hpp"
#include "prover/core/cpu_features.hpp"
#include "tests/prover/prove/oracle_session.hpp"
#include "tests/prover/tutorial/airs.hpp"
#include "tests/prover/tutorial/kernels.hpp"

namespace epochd::prover {
namespace {

using oracle::Evaluation;
using tutorial::AluAir;
using tutorial::NibblesAir;
using tutorial::SumAir;

constexpr u64 kSeed = 404;

class Random {
 public:
  Fp fp() { return Fp::from_u64(engine_()); }
  Fp3 fp3() {
    const Fp a = fp();
    const Fp b = fp();
    return {a, b, fp()};
  }
  std::vector<Fp3> points(size_t n) {
    std::vector<Fp3> v(n);
    for (Fp3& x : v) x = fp3();
    return v;
  }

 private:
  std::mt19937_64 engine_{kSeed};
};

static_assert(Description<AluAir>::kInfo.constraint_count == 6);
static_assert(Description<AluAir>::kInfo.interaction_count == 5);
static_assert(Description<AluAir>::kInfo.aux_columns() == 3);
static_assert(Description<AluAir>::kInfo.total_constraints() == 9);
static_assert(Description<AluAir>::kInfo.max_degree == 2);
static_assert(Description<SumAir>::kInfo.max_degree == 3);
static_assert(Description<NibblesAir>::kInfo.constraint_count == 0);
static_assert(Description<NibblesAir>::kInfo.aux_columns() == 1);
static_assert(Description<NibblesAir>::kInfo.fixed_width == 4);

TEST(Describe, KeepsLabelsInOrder) {
  const AirInfo& sum = Description<SumAir>::kInfo;
  EXPECT_STREQ(sum.name, "sum");
  EXPECT_STREQ(sum.constraint_labels[0], "sum.sign.ternary");
  EXPECT_STREQ(sum.constraint_labels[2], "sum.total");
  EXPECT_STREQ(sum.interactions[2].label, "sum.after");
  EXPECT_TRUE(sum.interactions[2].is_send);
  EXPECT_FALSE(sum.interactions[1].is_send);
  EXPECT_EQ(sum.interactions[2].bus, static_cast<u8>(tutorial::Bus::kTotal));
}

Fp3 form_at(const AirInfo& air, const LinearForm& form, const std::vector<Fp3>& slots) {
  Fp3 v = fp3(form.constant);
  for (u32 t = form.first_term; t < u32{form.first_term} + form.term_count; ++t) {
    v += slots[air.terms[t].slot] * air.terms[t].coefficient;
  }
  return v;
}

/// The lowered forms and the fold at a point, against `eval` over plain elements of K.
template <class A>
void expect_description_agrees() {
  const AirInfo& air = Description<A>::kInfo;
  Random random;
  for (u32 round = 0; round < 20; ++round) {
    std::vector<Fp3> slots = random.points(A::kFixedWidth + A::kMainWidth);
    Fp params[kParamsMax] = {random.fp(), random.fp(), random.fp(), random.fp()};
    const Fp3* main = slots.data() + A::kFixedWidth;
    const Evaluation e = oracle::evaluate_air<A>(slots.data(), main, params);

    ASSERT_EQ(e.accesses.size(), air.interaction_count);
    std::vector<Fp3> all_slots = slots;
    for (u32 i = 0; i < A::kParams; ++i) all_slots.push_back(fp3(params[i]));
    for (u32 i = 0; i < air.interaction_count; ++i) {
      const Interaction& interaction = air.interactions[i];
      const LinearForm* forms = air.forms + interaction.first_form;
      EXPECT_EQ(interaction.bus, e.accesses[i].bus);
      EXPECT_EQ(interaction.is_send, e.accesses[i].is_send);
      ASSERT_EQ(interaction.arity, e.accesses[i].tuple.size());
      EXPECT_EQ(form_at(air, forms[0], all_slots), e.accesses[i].multiplicity);
      for (u32 k = 0; k < interaction.arity; ++k) {
        EXPECT_EQ(form_at(air, forms[k + 1], all_slots), e.accesses[i].tuple[k]);
      }
    }

    const Fp3 alpha = random.fp3();
    const Fp3 first = random.fp3();
    Fp3 expected{};
    Fp3 power = first;
    for (const Fp3& c : e.constraints) {
      expected += c * power;
      power *= alpha;
    }
    Fp3 alpha_power = first;
    EXPECT_EQ(air.fold_at_point(slots.data(), main, params, alpha, alpha_power), expected);
    EXPECT_EQ(alpha_power, power);
  }
}

TEST(Describe, AgreesWithEvalAtRandomPoints) {
  expect_description_agrees<AluAir>();
  expect_description_agrees<NibblesAir>();
  expect_description_agrees<SumAir>();
}

/// Every instruction set's folded rows, against `eval` row by row; what stood in `out` is kept.
template <class A>
void expect_fold_agrees(const AirKernels& kernels) {
  constexpr size_t kRows = 48;
  constexpr size_t kStride = 64;
  constexpr u32 kWidth = A::kFixedWidth + A::kMainWidth;
  Random random;
  alignas(64) Fp columns[(kWidth + 1) * kStride];
  for (Fp& v : columns) v = random.fp();
  // Corners of the field, where a lazy reduction would show.
  columns[0] = -Fp::one();
  columns[1] = Fp::zero();
  columns[2] = Fp::from_u64(Fp::kEpsilon);
  std::vector<Fp3> alphas = random.points(A::kConstraints + 1);
  FoldArgs args{};
  args.columns = {columns, columns + A::kFixedWidth * kStride, kStride, A::kFixedWidth};
  for (Fp& p : args.params) p = random.fp();
  args.alpha_powers = alphas.data();
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512}) {
    if (!isa_supported(isa)) continue;
    SCOPED_TRACE(std::string(A::kName) + " on " + isa_name(isa));
    alignas(64) Fp out[3 * kStride];
    for (Fp& v : out) v = Fp::from_u64(3);
    kernels.fold[static_cast<size_t>(isa)](args, 8, 40, out, kStride);
    for (size_t row = 0; row < kRows; ++row) {
      Fp3 expected{Fp::from_u64(3), Fp::from_u64(3), Fp::from_u64(3)};
      if (row >= 8 && row < 40) {
        std::vector<Fp3> slots;
        for (u32 c = 0; c < kWidth; ++c) slots.push_back(fp3(columns[c * kStride + row]));
        const Evaluation e =
            oracle::evaluate_air<A>(slots.data(), slots.data() + A::kFixedWidth, args.params);
        for (size_t j = 0; j < e.constraints.size(); ++j) expected += e.constraints[j] * alphas[j];
      }
      EXPECT_EQ(out[row], expected.c0) << row;
      EXPECT_EQ(out[row + kStride], expected.c1) << row;
      EXPECT_EQ(out[row + 2 * kStride], expected.c2) << row;
    }
  }
}

TEST(PackedFold, AgreesWithEvalOnEveryInstructionSet) {
  expect_fold_agrees<AluAir>(tutorial::kernels().alu);
  expect_fold_agrees<NibblesAir>(tutorial::kernels().nibbles);
  expect_fold_agrees<SumAir>(tutorial::kernels().sum);
}

/// Two rows of `sum`: +5 at step 0, -2 at step 1.
class TraceCheckTest : public testing::Test {
 protected:
  TraceCheckTest() {
    const i64 rows[2][SumAir::kWidth] = {{1, 1, 1, 0, 5, 0, 0, 5}, {1, -1, 1, 1, 2, 1, 5, 3}};
    for (u32 c = 0; c < SumAir::kWidth; ++c) {
      for (u32 r = 0; r < 2; ++r) columns_[c][r] = Fp::from_i64(rows[r][c]);
    }
  }
  TraceView view() const {
    TraceView v{&Description<SumAir>::kInfo, {}, {}, 2};
    for (const auto& c : columns_) v.columns.push_back(c.data());
    return v;
  }
  std::vector<Violation> violations() const {
    std::vector<Violation> out;
    check_trace<SumAir>(view(), out);
    return out;
  }
  std::array<std::array<Fp, 2>, SumAir::kWidth> columns_;
};

TEST_F(TraceCheckTest, AGoodTraceHasNoViolation) {
  EXPECT_TRUE(violations().empty());
}

TEST_F(TraceCheckTest, NamesTableLabelAndRowOfEveryViolation) {
  columns_[SumAir::kSign][1] = Fp::from_u64(2);
  const std::vector<Violation> found = violations();
  ASSERT_EQ(found.size(), 3u);
  const char* labels[] = {"sum.sign.ternary", "sum.sign.real", "sum.total"};
  for (u32 i = 0; i < 3; ++i) {
    EXPECT_EQ(found[i].table, "sum");
    EXPECT_STREQ(found[i].constraint, labels[i]);
    EXPECT_EQ(found[i].row, 1u);
  }
}

TEST_F(TraceCheckTest, BalanceKeepsWhatDoesNotCancel) {
  BusBalance balance;
  add_interactions(view(), balance);
  const u64 total = static_cast<u64>(tutorial::Bus::kTotal);
  const u64 term = static_cast<u64>(tutorial::Bus::kTerm);
  // Total(1, 5) is sent by the first row and received by the second.
  const BusBalance expected = {{{term, 1, 0, 5}, -Fp::one()},
                               {{term, 1, 1, 2}, -Fp::one()},
                               {{total, 0, 0}, -Fp::one()},
                               {{total, 2, 3}, Fp::one()}};
  EXPECT_EQ(balance, expected);
  add_tuple(balance, static_cast<u8>(total), {2, 3}, -Fp::one());
  EXPECT_EQ(balance.count({total, 2, 3}), 0u);
}

/// A cell bumped anywhere in a real row of `alu` breaks a constraint or unbalances a bus.
TEST(Mutation, EveryAluCellIsTiedDown) {
  // 0x53 * 0x27 in nibbles: 3, 5 and 7, 2; 3 * 7 = 21, 3 * 2 = 6, 5 * 7 = 35, 5 * 2 = 10.
  const u64 good[AluAir::kWidth] = {1, 0, 9, 3, 5, 7, 2, 21, 6, 35, 10, 0x53 * 0x27};
  std::array<Fp, AluAir::kWidth> cells;
  for (u32 c = 0; c < AluAir::kWidth; ++c) cells[c] = Fp::from_u64(good[c]);
  const auto check = [&](std::vector<Violation>& violations, BusBalance& balance) {
    TraceView view{&Description<AluAir>::kInfo, {}, {Fp::one()}, 1};
    for (const Fp& c : cells) view.columns.push_back(&c);
    check_trace<AluAir>(view, violations);
    add_interactions(view, balance);
  };
  std::vector<Violation> none;
  BusBalance honest;
  check(none, honest);
  ASSERT_TRUE(none.empty());
  for (u32 c = 0; c < AluAir::kWidth; ++c) {
    const Fp before = cells[c];
    cells[c] += Fp::one();
    std::vector<Violation> violations;
    BusBalance balance;
    check(violations, balance);
    EXPECT_TRUE(!violations.empty() || balance != honest) << "column " << c;
    cells[c] = before;
  }
}

}  // namespace
}  // namespace epochd::prover
