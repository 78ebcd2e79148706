// epoch execute --profile: a guest whose counts are known beforehand.
#include "tests/e2e/support.hpp"
#include "tests/epoch/exec/assembler.hpp"
#include "tests/epoch/isa/elf_builder.hpp"

namespace epochd::e2e {
namespace {

using test::addi;
using test::bne;
using test::jal;
using test::lw;

// A jump, then code with three symbols, one of which is data; 10 rounds of a loop with a
// misaligned load. 36 cycles.
std::string known_guest() {
  std::vector<u32> code = {jal(0, 8),                        // 0x10000, before the first symbol: 1
                           test::kNop,                       // 0x10004, never reached
                           addi(5, 0, 10),                   // _start: 1 + 1
                           test::lui(8, 0x20), lw(6, 8, 1),  // loop: 3 * 10
                           addi(5, 5, -1),     bne(5, 0, -8)};
  test::append(code, {addi(test::kA0, 0, 0)});  // done: 3
  test::append(code, test::system_call(93));
  test::BuilderSegment text, data;
  text.address = 0x10000;
  text.bytes = test::little_endian(code);
  data.flags = 6;
  data.address = 0x20000;
  data.bytes.resize(16);
  const std::vector<u8> elf = test::build_elf(
      0x10000, {text, data},
      {{"_start", 0x10008}, {"loop", 0x10010}, {"done", 0x1001c}, {"table", 0x20000}});
  return {elf.begin(), elf.end()};
}

class ProfileTest : public E2eTest {};

TEST_F(ProfileTest, CyclesOfEverySymbol) {
  const auto json = epoch_json({"execute", file("g.elf", known_guest()), "--profile"});
  EXPECT_EQ(json["cycles"], 36);
  std::map<std::string, u64> cycles;
  double shares = 0;
  for (const auto& entry : json["symbols"]) {
    cycles[entry["symbol"]] = entry["cycles"];
    shares += entry["share"].get<double>();
  }
  const std::map<std::string, u64> expected = {
      {"0x10000..0x10008", 1}, {"_start", 2}, {"loop", 30}, {"done", 3}};
  EXPECT_EQ(cycles, expected);
  EXPECT_EQ(json["symbols"][0]["symbol"], "loop") << "most cycles first";
  EXPECT_NEAR(shares, 1, 1e-9);
}

TEST_F(ProfileTest, RowsAndAreaOfEveryChip) {
  const auto json =
      epoch_json({"execute", file("g.elf", known_guest()), "--profile", "--epoch-size-log2", "5"});
  EXPECT_EQ(json["epochs"], 2) << "36 cycles, 32 in an epoch";
  std::map<std::string, u64> rows, padded;
  u64 area = 0;
  double shares = 0;
  for (const auto& entry : json["chips"]) {
    rows[entry["chip"]] = entry["rows"];
    padded[entry["chip"]] = entry["padded_rows"];
    EXPECT_EQ(entry["area"].get<u64>(),
              entry["columns"].get<u64>() * entry["padded_rows"].get<u64>());
    area += entry["area"].get<u64>();
    shares += entry["share"].get<double>();
  }
  EXPECT_NEAR(shares, 1, 1e-9);
  EXPECT_EQ(rows["jal"], 1u);
  EXPECT_EQ(rows["addi"], 1u + 1 + 10 + 2);
  EXPECT_EQ(rows["beq"], 10u);
  EXPECT_EQ(rows["unaligned"], 10u);
  EXPECT_EQ(rows["ecall"], 1u);
  // Tables of both epochs: jal is in one of them, the lookup tables in each.
  EXPECT_EQ(padded["jal"], 32u);
  EXPECT_EQ(padded["addi"], 64u);
  EXPECT_EQ(padded["range16"], 2u << 16);
  EXPECT_EQ(padded["program"], 64u);
  EXPECT_GT(area, 0u);
}

TEST_F(ProfileTest, CodeWithoutSymbolsIsNamedByItsAddresses) {
  const std::string elf = make_elf({{0x10000, exit_with(0)}, {0x30000, exit_with(0)}});
  const auto json = epoch_json({"execute", file("g.elf", elf), "--profile"});
  ASSERT_EQ(json["symbols"].size(), 1u);
  EXPECT_EQ(json["symbols"][0]["symbol"], "0x10000..0x1000c");
  EXPECT_EQ(json["symbols"][0]["cycles"], 3);
}

TEST_F(ProfileTest, TheTextShowsBothTablesAndOnlyWhenAsked) {
  const std::string guest = file("g.elf", known_guest());
  const std::string with = epoch({"execute", guest, "--profile"}).out;
  for (const char* part : {"cycles by symbol", "loop", "0x10000..0x10008", "padded", "unaligned"}) {
    EXPECT_NE(with.find(part), std::string::npos) << part << " in\n" << with;
  }
  const std::string without = epoch({"execute", guest}).out;
  EXPECT_EQ(without.find("symbol"), std::string::npos) << without;
  EXPECT_FALSE(epoch_json({"execute", guest}).contains("chips"));
}

}  // namespace
}  // namespace epochd::e2e
