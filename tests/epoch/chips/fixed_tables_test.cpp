// range16, bytes, program: the fixed columns, row by row, against what a lookup means.
#include "epoch/chips/bytes/fixed.hpp"
#include "epoch/chips/program/fixed.hpp"
#include "epoch/chips/range16/fixed.hpp"
#include "tests/epoch/chips/harness.hpp"

namespace epochd::chips::harness {
namespace {

/// The table with every multiplicity 1. Pre: rows is a power of two.
template <class Air, class FillRow>
ChipTrace<Air> full_table(size_t rows, const FillRow& fill_row) {
  ChipTrace<Air> t(rows, 0);
  for (u32 row = 0; row < rows; ++row) {
    RowWriter writer{&t.fixed(0, row), rows};
    fill_row(row, writer);
    for (u32 c = 0; c < Air::kMainWidth; ++c) t.main(c, row) = Fp::one();
  }
  return t;
}

/// Every tuple of the table is true, and each bus (and byte operation) has 2^16 different ones.
template <class Air>
void expect_complete_and_true(const ChipTrace<Air>& t, size_t kinds) {
  const TraceView view = t.view();
  std::map<std::pair<Bus, u64>, std::set<std::vector<u64>>> tuples;
  for (size_t row = 0; row < t.rows; ++row) {
    for (const Touch& touch : touches_of_row(view, row)) {
      EXPECT_FALSE(touch.is_send);
      EXPECT_EQ(touch.multiplicity, Fp::one()) << touch.label;
      ASSERT_TRUE(in_fixed_table(touch.bus, touch.tuple)) << touch.label << " row " << row;
      const u64 op = touch.bus == Bus::kBytes ? touch.tuple[0] : 0;
      tuples[{touch.bus, op}].insert(touch.tuple);
    }
  }
  EXPECT_EQ(tuples.size(), kinds);
  for (const auto& [kind, set] : tuples) EXPECT_EQ(set.size(), 65536u);
}

TEST(Range16Table, HoldsEveryNumberOnce) {
  const auto t = full_table<Range16Air>(1u << Range16Air::kLog2Height, [](u32 x, RowWriter& row) {
    FixedFill<Range16Air>::fill(x, row);
  });
  expect_complete_and_true(t, 3);
  expect_shape<Range16Air>(3, 0, 3);
}

TEST(BytesTable, HoldsEveryPairOnceForEveryOperation) {
  const auto t = full_table<BytesAir>(1u << BytesAir::kLog2Height, [](u32 x, RowWriter& row) {
    FixedFill<BytesAir>::fill(x, row);
  });
  expect_complete_and_true(t, 4);
  expect_shape<BytesAir>(4, 0, 4);
}

TEST(ProgramTable, HoldsItsRowsAndNothingElse) {
  const std::vector<ProgramRow> program = {{0x10000, Op::kAddi, 5, 6, 0, ~0ull - 1},
                                           {0x10004, Op::kBeq, 0, 5, 6, 0xbffffffc},
                                           {0x10008, Op::kEcall, 0, 0, 0, 0}};
  const auto t = full_table<ProgramAir>(
      32, [&](u32 index, RowWriter& row) { FixedFill<ProgramAir>::fill(program, index, row); });
  const std::vector<std::vector<u64>> expected = {{0x10000, 3, 5, 6, 0, 0xfffffffe, 0xffffffff},
                                                  {0x10004, 23, 0, 5, 6, 0xbffffffc, 0},
                                                  {0x10008, 55, 0, 0, 0, 0, 0}};
  for (size_t row = 0; row < t.rows; ++row) {
    const std::vector<Touch> touches = touches_of_row(t.view(), row);
    ASSERT_EQ(touches.size(), 1u);
    EXPECT_EQ(touches[0].bus, Bus::kProgram);
    EXPECT_EQ(touches[0].multiplicity, Fp::one());
    EXPECT_EQ(touches[0].tuple, row < 3 ? expected[row] : std::vector<u64>(7, 0)) << row;
  }
  expect_shape<ProgramAir>(1, 0, 1);
}

}  // namespace
}  // namespace epochd::chips::harness
