// Canonical rows against words encoded by hand from the ISA manual, and the image cells.
#include "epoch/isa/program.hpp"

#include <gtest/gtest.h>

#include <set>

#include "epoch/isa/decode.hpp"
#include "tests/epoch/isa/elf_builder.hpp"

namespace epochd {
namespace {

struct Expected {
  const char* text;
  u32 word;
  Op op;
  int rd, rs1, rs2;
  u64 imm;
};

constexpr u32 kPc = 0x10000;

// Words as `riscv64-unknown-elf-as -march=rv64im_zifencei` assembles the text.
constexpr Expected kRows[] = {
    {"add a0,a1,a2", 0x00c58533, Op::kAdd, 10, 11, 12, 0},
    {"sub zero,a1,a2", 0x40c58033, Op::kSub, 33, 11, 12, 0},
    {"addi a0,a1,-1", 0xfff58513, Op::kAddi, 10, 11, 0, ~0ull},
    {"nop", 0x00000013, Op::kAddi, 33, 0, 0, 0},
    {"lui a0,0x80000", 0x80000537, Op::kAddi, 10, 0, 0, 0xffffffff80000000},
    {"lui zero,1", 0x00001037, Op::kAddi, 33, 0, 0, 0x1000},
    {"auipc a0,1", 0x00001517, Op::kAddi, 10, 0, 0, kPc + 0x1000},
    {"auipc a0,0xfff00", 0xfff00517, Op::kAddi, 10, 0, 0, 0ull - 0xf0000},
    {"fence", 0x0ff0000f, Op::kAddi, 33, 0, 0, 0},
    {"fence.i", 0x0000100f, Op::kAddi, 33, 0, 0, 0},
    {"addw a0,a1,a2", 0x00c5853b, Op::kAddw, 10, 11, 12, 0},
    {"addiw a0,a1,5", 0x0055851b, Op::kAddw, 10, 11, 0, 5},
    {"subw a0,a1,a2", 0x40c5853b, Op::kSubw, 10, 11, 12, 0},
    {"and a0,a1,a2", 0x00c5f533, Op::kAnd, 10, 11, 12, 0},
    {"andi a0,a1,-2048", 0x8005f513, Op::kAnd, 10, 11, 0, 0ull - 2048},
    {"ori a0,a1,2047", 0x7ff5e513, Op::kOr, 10, 11, 0, 2047},
    {"xor a0,a1,a2", 0x00c5c533, Op::kXor, 10, 11, 12, 0},
    {"slt a0,a1,a2", 0x00c5a533, Op::kSlt, 10, 11, 12, 0},
    {"slti a0,a1,-1", 0xfff5a513, Op::kSlt, 10, 11, 0, ~0ull},
    {"sltiu a0,a1,-1", 0xfff5b513, Op::kSltu, 10, 11, 0, ~0ull},
    {"slli a0,a1,63", 0x03f59513, Op::kSlli, 10, 11, 0, 63},
    {"srli a0,a1,32", 0x0205d513, Op::kSrli, 10, 11, 0, 32},
    {"srai a0,a1,63", 0x43f5d513, Op::kSrai, 10, 11, 0, 63},
    {"slliw a0,a1,31", 0x01f5951b, Op::kSlliw, 10, 11, 0, 31},
    {"srliw a0,a1,1", 0x0015d51b, Op::kSrliw, 10, 11, 0, 1},
    {"sraiw a0,a1,31", 0x41f5d51b, Op::kSraiw, 10, 11, 0, 31},
    {"sll a0,a1,a2", 0x00c59533, Op::kSll, 10, 11, 12, 0},
    {"srl a0,a1,a2", 0x00c5d533, Op::kSrl, 10, 11, 12, 0},
    {"sra a0,a1,a2", 0x40c5d533, Op::kSra, 10, 11, 12, 0},
    {"sllw a0,a1,a2", 0x00c5953b, Op::kSllw, 10, 11, 12, 0},
    {"srlw a0,a1,a2", 0x00c5d53b, Op::kSrlw, 10, 11, 12, 0},
    {"sraw a0,a1,a2", 0x40c5d53b, Op::kSraw, 10, 11, 12, 0},
    {"beq a1,a2,.+8", 0x00c58463, Op::kBeq, 0, 11, 12, kPc + 8},
    {"bne a1,a2,.-4", 0xfec59ee3, Op::kBne, 0, 11, 12, kPc - 4},
    {"blt a1,a2,.+4094", 0x7ec5cfe3, Op::kBlt, 0, 11, 12, kPc + 4094},
    {"bge a1,a2,.-4096", 0x80c5d063, Op::kBge, 0, 11, 12, kPc - 4096},
    {"bltu a1,a2,.+8", 0x00c5e463, Op::kBltu, 0, 11, 12, kPc + 8},
    {"bgeu a1,a2,.+8", 0x00c5f463, Op::kBgeu, 0, 11, 12, kPc + 8},
    {"jal ra,.+2048", 0x001000ef, Op::kJal, 1, 0, 0, kPc + 2048},
    {"j .-4", 0xffdff06f, Op::kJal, 33, 0, 0, kPc - 4},
    {"jal ra,.+0xff002", 0x002ff0ef, Op::kJal, 1, 0, 0, kPc + 0xff002},
    {"jalr ra,8(a1)", 0x008580e7, Op::kJalr, 1, 11, 0, 8},
    {"ret", 0x00008067, Op::kJalr, 33, 1, 0, 0},
    {"ld a0,-8(a1)", 0xff85b503, Op::kLd, 10, 11, 0, 0ull - 8},
    {"lw zero,4(a1)", 0x0045a003, Op::kLw, 33, 11, 0, 4},
    {"lwu a0,4(a1)", 0x0045e503, Op::kLwu, 10, 11, 0, 4},
    {"lb a0,1(a1)", 0x00158503, Op::kLb, 10, 11, 0, 1},
    {"lbu a0,1(a1)", 0x0015c503, Op::kLbu, 10, 11, 0, 1},
    {"lh a0,2(a1)", 0x00259503, Op::kLh, 10, 11, 0, 2},
    {"lhu a0,2(a1)", 0x0025d503, Op::kLhu, 10, 11, 0, 2},
    {"sd a2,-8(a1)", 0xfec5bc23, Op::kSd, 0, 11, 12, 0ull - 8},
    {"sw a2,4(a1)", 0x00c5a223, Op::kSw, 0, 11, 12, 4},
    {"sh a2,2(a1)", 0x00c59123, Op::kSh, 0, 11, 12, 2},
    {"sb a2,1(a1)", 0x00c580a3, Op::kSb, 0, 11, 12, 1},
    {"mul a0,a1,a2", 0x02c58533, Op::kMul, 10, 11, 12, 0},
    {"mulh a0,a1,a2", 0x02c59533, Op::kMulh, 10, 11, 12, 0},
    {"mulhsu a0,a1,a2", 0x02c5a533, Op::kMulhsu, 10, 11, 12, 0},
    {"mulhu a0,a1,a2", 0x02c5b533, Op::kMulhu, 10, 11, 12, 0},
    {"mulw a0,a1,a2", 0x02c5853b, Op::kMulw, 10, 11, 12, 0},
    {"div a0,a1,a2", 0x02c5c533, Op::kDiv, 10, 11, 12, 0},
    {"divu a0,a1,a2", 0x02c5d533, Op::kDivu, 10, 11, 12, 0},
    {"rem a0,a1,a2", 0x02c5e533, Op::kRem, 10, 11, 12, 0},
    {"remu a0,a1,a2", 0x02c5f533, Op::kRemu, 10, 11, 12, 0},
    {"divw a0,a1,a2", 0x02c5c53b, Op::kDivw, 10, 11, 12, 0},
    {"divuw a0,a1,a2", 0x02c5d53b, Op::kDivuw, 10, 11, 12, 0},
    {"remw a0,a1,a2", 0x02c5e53b, Op::kRemw, 10, 11, 12, 0},
    {"remuw a0,a1,a2", 0x02c5f53b, Op::kRemuw, 10, 11, 12, 0},
    {"ecall", 0x00000073, Op::kEcall, 0, 0, 0, 0},
};

TEST(Decode, CanonicalRows) {
  std::set<Op> seen;
  for (const Expected& e : kRows) {
    const auto row = decode(kPc, e.word);
    ASSERT_TRUE(row.has_value()) << e.text;
    EXPECT_EQ(row->pc, kPc);
    EXPECT_EQ(op_name(row->op), op_name(e.op)) << e.text;
    EXPECT_EQ(row->rd, e.rd) << e.text;
    EXPECT_EQ(row->rs1, e.rs1) << e.text;
    EXPECT_EQ(row->rs2, e.rs2) << e.text;
    EXPECT_EQ(row->imm, e.imm) << e.text;
    seen.insert(row->op);
  }
  EXPECT_EQ(seen.size(), kOpCount - 1) << "some operation has no case above";
}

TEST(Decode, NoInstruction) {
  constexpr u32 kWords[] = {
      0x00000000,              // illegal by definition
      0xffffffff, 0x00100073,  // ebreak
      0xc0002573,              // rdcycle: a CSR access
      0x30200073,              // mret
      0x10500073,              // wfi
      0x00000173,              // ecall with a stray rd
      0x00004501,              // compressed c.li
      0x04059513,              // slli with the sixth amount bit plus one more
      0x0205951b,              // slliw by 32
      0x00c5b63b,              // no word operation with funct3 = 3
      0x02c5953b,              // mulhw does not exist
      0x00c5a063,              // branch funct3 = 2
      0x0045f503,              // load funct3 = 7
      0x00c5c223,              // store funct3 = 4
      0x008590e7,              // jalr funct3 = 1
      0x0000200f,              // fence funct3 = 2
      0x80c58533,              // add with a stray funct7 bit
      0x40c59533,              // sll with the arithmetic bit
      0x100525af,              // lr.w: no A extension
      0x00053507,              // fld: no D extension
  };
  for (const u32 word : kWords) EXPECT_FALSE(decode(kPc, word).has_value()) << std::hex << word;
}

TEST(Decode, TargetsOutsideTheAddressSpaceHaveNoRow) {
  constexpr u32 kBack4 = 0xfec59ee3;  // bne a1,a2,.-4
  EXPECT_EQ(decode(4, kBack4)->imm, 0u);
  EXPECT_FALSE(decode(0, kBack4).has_value());
  EXPECT_FALSE(decode(0, 0xffdff06f).has_value());  // j .-4
  constexpr u32 kForward8 = 0x00c58463;             // beq a1,a2,.+8
  EXPECT_EQ(decode(0xfffffff4, kForward8)->imm, 0xfffffffcu);
  EXPECT_FALSE(decode(0xfffffff8, kForward8).has_value());
  EXPECT_TRUE(decode(0xfffffffc, 0x008580e7).has_value());  // jalr: known only when it runs
}

// The chip for misaligned accesses has one register access for loads and stores, with the key
// REG_BASE + rd + rs2: no word may fill the field its kind does not use.
TEST(Decode, LoadsHaveNoRs2AndStoresNoRd) {
  constexpr u32 kLoad = 0x03, kStore = 0x23;
  u32 rows = 0;
  for (const u32 major : {kLoad, kStore}) {
    for (u32 rest = 0; rest < 1u << 18; ++rest) {
      // funct3, and the three fields a register may stand in: bits 7..11, 15..19, 20..24.
      const u32 word = major | (rest & 31) << 7 | (rest >> 5 & 7) << 12 | (rest >> 8 & 31) << 15 |
                       rest >> 13 << 20;
      const auto row = decode(kPc, word);
      if (!row) continue;
      ++rows;
      const u32 field = rest & 31;
      if (major == kLoad) {
        EXPECT_EQ(row->rs2, 0) << std::hex << word;
        EXPECT_EQ(row->rd, field == 0 ? 33 : field) << std::hex << word;
      } else {
        EXPECT_EQ(row->rd, 0) << std::hex << word;
        EXPECT_EQ(row->rs2, rest >> 13) << std::hex << word;
      }
    }
  }
  EXPECT_EQ(rows, (7u + 4u) << 15) << "seven loads and four stores";
}

Program make(const std::vector<u8>& file) {
  auto image = parse_elf(file);
  EXPECT_TRUE(image.has_value());
  return Program(*std::move(image));
}

TEST(Program, RowsSkipWordsThatAreNoInstructions) {
  test::BuilderSegment text;
  text.address = 0x10000;
  text.bytes = test::little_endian({0x00000013, 0xffffffff, 0x00000073});
  text.bytes.push_back(0x13);  // part of a word
  test::BuilderSegment more;
  more.address = 0x20000;
  more.bytes = test::little_endian({0x00008067});
  test::BuilderSegment data;
  data.flags = 4;
  data.address = 0x30000;
  data.bytes = test::little_endian({0x00000013});
  const Program program = make(test::build_elf(0x10000, {more, text, data}));
  ASSERT_EQ(program.rows().size(), 3u);
  EXPECT_EQ(program.rows()[0].pc, 0x10000u);
  EXPECT_EQ(program.rows()[1].pc, 0x10008u);
  EXPECT_EQ(program.rows()[2].pc, 0x20000u);
  EXPECT_EQ(program.row_index(0x10000), 0u);
  EXPECT_EQ(program.row_index(0x10008), 1u);
  EXPECT_EQ(program.row_index(0x20000), 2u);
  for (const u64 pc : {0x10002ull, 0x10004ull, 0x1000cull, 0xfffcull, 0x30000ull, 0x110000000ull}) {
    EXPECT_EQ(program.row_index(pc), Program::kNoRow) << std::hex << pc;
  }
  EXPECT_EQ(program.word_at(0x10004), 0xffffffffu);
  EXPECT_EQ(program.word_at(0x1000c), std::nullopt);
}

TEST(Program, ImageCellsCoverEveryFileBackedByte) {
  test::BuilderSegment text;
  text.address = 0x10004;
  text.bytes = test::little_endian({0x00000013});
  test::BuilderSegment first;
  first.flags = 6;
  first.address = 0x20006;
  first.bytes = {0x11, 0x22, 0x33};
  first.memory_bytes = 4;
  test::BuilderSegment second;  // shares the cell of 0x20008
  second.flags = 6;
  second.address = 0x2000b;
  second.bytes = {0x44};
  test::BuilderSegment zeros;
  zeros.flags = 6;
  zeros.address = 0x40000;
  zeros.memory_bytes = 0x10000000;
  const Program program = make(test::build_elf(0x10004, {zeros, second, first, text}));
  const std::vector<ImageCell> expected = {{0x10000 / 8, 0x0000001300000000},
                                           {0x20000 / 8, 0x2211000000000000},
                                           {0x20008 / 8, 0x0000000044000033}};
  EXPECT_EQ(std::vector(program.image_cells().begin(), program.image_cells().end()), expected);
}

TEST(Program, ZeroBytesInTheFileAreImageCells) {
  test::BuilderSegment text;
  text.address = 0x10000;
  text.bytes = test::little_endian({0x00000013, 0, 0, 0});
  const Program program = make(test::build_elf(0x10000, {text}));
  ASSERT_EQ(program.image_cells().size(), 2u);
  EXPECT_EQ(program.image_cells()[1], (ImageCell{0x10008 / 8, 0}));
}

}  // namespace
}  // namespace epochd
