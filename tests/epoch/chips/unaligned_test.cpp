// unaligned against a byte-by-byte reference, and forged windows, cells, signs and alignments.
#include "epoch/chips/unaligned/fill.hpp"

#include "tests/epoch/chips/address_cases.hpp"
#include "tests/epoch/chips/lookup_coverage.hpp"

namespace epochd::chips::harness {
namespace {

using U = UnalignedAir;
constexpr Op kOps[] = {Op::kLd, Op::kLw, Op::kLwu, Op::kLh, Op::kLhu, Op::kSd, Op::kSw, Op::kSh};

class UnalignedMachine : public MemoryMachine {
 public:
  /// reg is rd of a load, rs2 of a store. Pre: misaligned, below 2^32.
  void access(Op op, u32 reg, u32 rs1, u64 imm) {
    const bool is_store = op == Op::kSd || op == Op::kSw || op == Op::kSh;
    const u32 width = access_width(op);
    const u32 rd = is_store ? 0 : reg == 0 ? kSinkRegister : reg;
    UnalignedRecord u{};
    u.base = begin(op, rd, rs1, is_store ? reg : 0, imm);
    InstructionRecord& r = u.base;
    touch(kRegBase + rs1, ts_ + kSubRs1, r.t_rs1, r.rs1);
    if (is_store) touch(kRegBase + reg, ts_ + kSubRs2, r.t_rs2, r.rs2);
    const u64 at = r.rs1 + imm;
    touch(static_cast<u32>(at / 8), ts_ + kSubMem, r.t_mem, r.mem);
    if (at % 8 + width > 8) {
      touch(static_cast<u32>(at / 8) + 1, ts_ + kSubMem, u.t_mem2, u.mem2);
    }
    u64 value = 0;
    if (is_store) {
      u64 rest = r.rs2;
      for (u32 i = 0; i < width; ++i, rest /= 256) set_byte(at + i, rest % 256);
    } else {
      for (u32 i = width; i-- > 0;) value = value * 256 + byte_at(at + i);
      write_rd(r, extend_loaded(op, value));
    }
    end(pc_ + 4);
    unaligned_.push_back(u);
  }
  const std::vector<UnalignedRecord>& unaligned() const { return unaligned_; }
  ChipTrace<U> trace() const { return build_trace<U>(unaligned_, program()); }

 private:
  std::vector<UnalignedRecord> unaligned_;
};

TEST(UnalignedChip, HonestRowsMatchTheReference) {
  UnalignedMachine m;
  for (const Op op : kOps) {
    const u32 width = access_width(op);
    for (const u64 offset : {1, 2, 3, 4, 5, 6, 7}) {
      if (offset % width == 0) continue;
      for (const u64 value : edge_values(2)) {
        for (const auto& [first, second] : {std::pair{value, kPattern}, {~kPattern, value}}) {
          m.poke(6, 0x20000 + offset);
          m.poke(7, value);
          m.poke_cell(0x20000 / 8, first);
          m.poke_cell(0x20000 / 8 + 1, second);
          m.access(op, 7, 6, 0);
        }
      }
    }
  }
  m.expect_matches(m.trace());
}

TEST(UnalignedChip, AddressesAndAliasesMatchTheReference) {
  UnalignedMachine m;
  for (const Op op : kOps) {
    const u32 width = access_width(op);
    for (const auto& [base, imm] : address_cases(1)) {
      const u64 at = base + imm;
      if (at % width == 0 || at + width > kAddressEnd) continue;
      for (const u32 reg : {0u, 6u, 7u}) {
        m.poke(6, base);
        m.poke(7, kPattern);
        m.access(op, reg, 6, imm);
      }
    }
  }
  EXPECT_GT(m.unaligned().size(), 5000u);
  m.expect_matches(m.trace());
}

/// One row an access, its two cells zero but for `first`.
struct Case {
  Op op;
  u64 offset;
  u64 first;
};
ChipTrace<U> rows_of(std::span<const Case> cases, u64 register_value, u64 second) {
  UnalignedMachine m;
  for (const Case& c : cases) {
    m.poke(6, 0x20000 + c.offset);
    m.poke(7, register_value);
    m.poke_cell(0x20000 / 8, c.first);
    m.poke_cell(0x20000 / 8 + 1, second);
    m.access(c.op, 7, 6, 0);
  }
  return m.trace();
}

TEST(UnalignedChip, EveryColumnIsCaught) {
  std::vector<Case> cases;
  std::vector<size_t> rows;
  for (const Op op : kOps) {
    for (const u64 offset : {1, 2, 3, 4, 5, 6, 7}) {
      if (offset % access_width(op) == 0) continue;
      rows.push_back(cases.size());
      cases.push_back({op, offset, kPattern});
    }
  }
  expect_every_column_caught(rows_of(cases, 0x0123456789abcdef, ~kPattern), rows);
}

/// A row's cells with some replaced, and the changes and new words that follow from them.
Changes with_result(ChipTrace<U>& t, size_t row, Changes changes) {
  std::vector<Fp> v = main_row(t, row);
  for (const auto& [column, value] : changes) v[column] = value;
  const Fp width8 = v[U::kIsLd] + v[U::kIsSd];
  const Fp width4 = v[U::kIsLw] + v[U::kIsLwu] + v[U::kIsSw];
  const Fp real = width8 + width4 + v[U::kIsLh] + v[U::kIsLhu] + v[U::kIsSh];
  const Fp shifts[] = {real - v[U::kShift1] - v[U::kShift2] - v[U::kShift3], v[U::kShift1],
                       v[U::kShift2], v[U::kShift3]};
  const Fp word = v[U::kWordBit];
  Fp d[5] = {};  // d[j + 1] is the change of x_j; both ends stay 0
  for (u32 s = 0; s < 4; ++s) {
    for (u32 i = 0; i < 8; ++i) {
      const Fp within = i < 2 ? kOne : i < 4 ? width4 + width8 : width8;
      d[(s + i) / 4 + 1] += shifts[s] * within * fp(1ull << (8 * ((s + i) % 4))) *
                            (v[U::kV0 + i] - v[U::kY0 + s + i]);
    }
  }
  for (u32 j = 0; j < 3; ++j) changes.push_back({U::kD0 + j, d[j + 1]});
  for (u32 k = 0; k < 4; ++k) {
    changes.push_back({U::kNew0 + k, v[U::kMem0 + k] + (kOne - word) * d[k + 1] + word * d[k]});
  }
  return changes;
}

/// Accesses of zero to cells of zero, where a forger's window meets no resistance but the
/// constraints'.
class UnalignedForgery : public ::testing::Test {
 protected:
  enum Row : size_t { kLd1, kLd3, kLd4, kLd5, kLw1, kLw5, kLwu5, kLh1, kLhu1, kSd5, kLd7, kRows };

  static ChipTrace<U> zero_rows() {
    const Case cases[] = {{Op::kLd, 1, 0},  {Op::kLd, 3, 0}, {Op::kLd, 4, 0},  {Op::kLd, 5, 0},
                          {Op::kLw, 1, 0},  {Op::kLw, 5, 0}, {Op::kLwu, 5, 0}, {Op::kLh, 1, 0},
                          {Op::kLhu, 1, 0}, {Op::kSd, 5, 0}, {Op::kLd, 7, 0}};
    return rows_of(cases, 0, 0);
  }
  void forge(size_t row, const Changes& changes, const char* label) {
    coverage_.forged(t_, row, with_result(t_, row, changes), label);
  }
  void forge_flags();
  void forge_place();
  void forge_bytes();
  void forge_register();

  ChipTrace<U> t_ = zero_rows();
  ConstraintCoverage<U> coverage_;
};

void UnalignedForgery::forge_flags() {
  // A flag of -1 and a twin of the same width.
  const std::tuple<u32, u32, const char*> twins[] = {
      {U::kIsLd, U::kIsSd, "unaligned.flag.ld_is_bool"},
      {U::kIsSd, U::kIsLd, "unaligned.flag.sd_is_bool"},
      {U::kIsLw, U::kIsLwu, "unaligned.flag.lw_is_bool"},
      {U::kIsLwu, U::kIsSw, "unaligned.flag.lwu_is_bool"},
      {U::kIsSw, U::kIsLw, "unaligned.flag.sw_is_bool"},
      {U::kIsLh, U::kIsLhu, "unaligned.flag.lh_is_bool"},
      {U::kIsLhu, U::kIsSh, "unaligned.flag.lhu_is_bool"},
      {U::kIsSh, U::kIsLh, "unaligned.flag.sh_is_bool"}};
  for (const auto& [minus, plus, label] : twins) {
    forge(kRows, {{minus, -kOne}, {plus, kOne}}, label);
  }
  forge(kLd5, {{U::kIsSd, kOne}, {U::kTwo, fp(2)}, {U::kTMem2, {}}}, "unaligned.flag.one_hot");
}

void UnalignedForgery::forge_place() {
  forge(kLd7, {{U::kShift1, kOne}, {U::kShift2, kOne}, {U::kShift3, {}}},
        "unaligned.address.shift0_is_bool");
  forge(kLd5, {{U::kShift1, -kOne}, {U::kShift2, kOne}}, "unaligned.address.shift1_is_bool");
  forge(kLd5, {{U::kShift1, {}}, {U::kShift2, -kOne}, {U::kShift3, kOne}},
        "unaligned.address.shift2_is_bool");
  forge(kLd4, {{U::kShift1, kOne}, {U::kShift2, kOne}, {U::kShift3, -kOne}},
        "unaligned.address.shift3_is_bool");
  forge(kLd3, {{U::kShift1, kOne}, {U::kShift3, {}}, {U::kWordBit, kHalf}},
        "unaligned.address.word_is_bool");
  const Fp base = fp(0x20000);
  forge(kLd4, {{U::kALo, base}, {U::kWordBit, {}}}, "unaligned.address.not_8_aligned");
  forge(kLw5, {{U::kALo, base + fp(4)}, {U::kShift1, {}}}, "unaligned.address.not_4_aligned");
  forge(kLh1, {{U::kALo, base}, {U::kShift1, {}}}, "unaligned.address.not_2_aligned");
  forge_carries(coverage_, t_, kLd1, U::kALo, "unaligned.address.carry",
                "unaligned.address.carry_out");
  // A load that forgets its second cell.
  forge(kLw5, {{U::kTwo, {}}, {U::kTMem2, {}}}, "unaligned.second.reached");
  forge(kLh1, {{U::kMem0 + 2, kOne}, {U::kY0 + 8, kOne}}, "unaligned.second.lo_unused");
  forge(kLh1, {{U::kMem0 + 3, kOne}}, "unaligned.second.hi_unused");
  forge(kLh1, {{U::kTMem2, kOne}}, "unaligned.second.time_unused");
}

void UnalignedForgery::forge_bytes() {
  forge(kLh1, {{U::kY0, kOne}}, "unaligned.x0.parts");
  forge(kLh1, {{U::kY0 + 4, kOne}}, "unaligned.x1.parts");
  forge(kLh1, {{U::kY0 + 8, kOne}}, "unaligned.x2.parts");
  // Row kSd5: the word bit is set, so x_j is m_(j+1).
  const char* change[] = {"unaligned.x0.change", "unaligned.x1.change", "unaligned.x2.change"};
  for (u32 j = 0; j < 3; ++j) {
    coverage_.forged(t_, kSd5, {{U::kD0 + j, kOne}, {U::kNew0 + j + 1, kOne}}, change[j]);
  }
  // A load of a value that is not there, which writes it.
  forge(kLd1, {{U::kV0, kOne}}, "unaligned.x0.load");
  forge(kLd1, {{U::kV0 + 3, kOne}}, "unaligned.x1.load");
  forge(kLd1, {{U::kV0 + 7, kOne}}, "unaligned.x2.load");
  const char* words[] = {"unaligned.new.m0", "unaligned.new.m1", "unaligned.new.m2",
                         "unaligned.new.m3"};
  for (u32 k = 0; k < 4; ++k) coverage_.mutant(t_, kLd1, {{U::kNew0 + k, kOne}}, words[k]);
}

void UnalignedForgery::forge_register() {
  // A store of something else than rs2.
  forge(kSd5, {{U::kV0, kOne}}, "unaligned.store.value_lo");
  forge(kSd5, {{U::kV0 + 4, kOne}}, "unaligned.store.value_hi");
  // High bytes of LHU and LWU.
  forge(kLhu1, {{U::kV0 + 2, kOne}}, "unaligned.load.extend_half");
  forge(kLwu5, {{U::kV0 + 4, kOne}}, "unaligned.load.extend_word");
  Changes negative = {{U::kSign, kOne}};
  for (u32 i = 4; i < 8; ++i) negative.push_back({U::kV0 + i, fp(255)});
  forge(kLwu5, negative, "unaligned.load.sign_unused");
  // A sign taken from another byte.
  negative.push_back({U::kTop, fp(128)});
  forge(kLw1, negative, "unaligned.load.top");
}

TEST_F(UnalignedForgery, EveryConstraintIsNeeded) {
  expect_honest(t_);
  forge_flags();
  forge_place();
  forge_bytes();
  forge_register();
  coverage_.expect_complete();
}

TEST_F(UnalignedForgery, BytesAndSignsAreLookedUp) {
  const Case cases[] = {{Op::kLw, 5, kPattern}};
  auto t = rows_of(cases, 0, ~0ull);
  ASSERT_EQ(t.main(U::kSign, 0), kOne);
  expect_objects(judge_changed(t, 0, {{U::kSign, {}}}), "sign");
  // 256 and -1 for 0 and 0: other bytes of the same word, loaded as such.
  const Changes shifted = {{U::kY0, t.main(U::kY0, 0) + fp(256)},
                           {U::kY0 + 1, t.main(U::kY0 + 1, 0) - kOne},
                           {U::kV0, t.main(U::kV0, 0) - kOne}};
  const Verdict v = judge_changed(t, 0, with_result(t, 0, shifted));
  EXPECT_TRUE(v.violated.empty()) << v;
  expect_objects(v, "memory.bytes");
}

TEST(UnalignedChip, EveryLookupIsNeeded) {
  const Case cases[] = {{Op::kLd, 1, kPattern}, {Op::kSd, 5, kPattern}, {Op::kLw, 5, kPattern}};
  auto t = rows_of(cases, 0x0123456789abcdef, ~0ull);
  LookupCoverage<U> coverage(t);
  coverage.stale(U::kTRs1, U::kTs, kSubRs1);
  coverage.stale(U::kTReg, U::kTs, kSubRd);
  coverage.stale(U::kTMem, U::kTs, kSubMem);
  coverage.stale(U::kTMem2, U::kTs, kSubMem);
  repack_address(coverage);
  // Other bytes of the same word: a store forgives what they make of the cells.
  const auto shift_bytes = [&](u32 first) {
    coverage.mutant(1, with_result(t, 1,
                                   {{first, t.main(first, 1) + fp(256)},
                                    {first + 1, t.main(first + 1, 1) - kOne}}));
  };
  for (u32 i = 0; i < 12; i += 2) shift_bytes(U::kY0 + i);
  for (u32 i = 0; i < 8; i += 2) shift_bytes(U::kV0 + i);
  // A negative word loaded as a positive one.
  Changes positive = {{U::kSign, {}}};
  for (u32 i = 4; i < 8; ++i) positive.push_back({U::kV0 + i, {}});
  coverage.mutant(2, positive);
  coverage.expect_complete();
}

TEST(UnalignedChip, AnAccessPastTheEndFindsNoCell) {
  // A store at 0xffff'fffd: its second cell is key 2^29, above every anchor's key (the verifier's
  // chain of region 1 ends at 2^29 - 1) and below the registers'.
  UnalignedRecord r{};
  r.base.ts = 1;
  r.base.rs1 = 0xfffffffd;
  const std::vector<ProgramRow> program = {{0x10000, Op::kSw, 0, 6, 7, 0}};
  auto t = build_trace<U>(std::vector<UnalignedRecord>{r}, program);
  expect_honest(t);
  std::set<u64> keys;
  for (const Touch& touch : touches_of_row(t.view(), 0)) {
    if (touch.bus == Bus::kMemory && touch.tuple[0] < kRegBase) keys.insert(touch.tuple[0]);
  }
  EXPECT_EQ(keys, (std::set<u64>{kCellCount - 1, kCellCount}));
  // It cannot be wrapped to cell 0, nor the second cell left out.
  EXPECT_FALSE(judge_changed(t, 0, {{U::kTwo, {}}}).violated.empty());
  EXPECT_FALSE(judge_changed(t, 0, {{U::kCell, {}}, {U::kPage, {}}}).violated.empty());
}

TEST(UnalignedChip, ShapeIsPinned) {
  expect_shape<U>(63, 42, 28);
}

}  // namespace
}  // namespace epochd::chips::harness
