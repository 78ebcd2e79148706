// Good files are read as written; every way a file can be bad has its own code.
#include "epoch/isa/elf.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <functional>
#include <random>

#include "tests/epoch/isa/elf_builder.hpp"

namespace epochd {
namespace {

using Code = ElfError::Code;
using test::BuilderSegment;
using test::put;

constexpr u32 kNop = 0x00000013;

BuilderSegment text(u64 address, size_t words = 2) {
  BuilderSegment s;
  s.address = address;
  s.bytes = test::little_endian(std::vector<u32>(words, kNop));
  return s;
}

BuilderSegment data(u64 address, std::vector<u8> bytes, u64 memory_bytes = 0) {
  BuilderSegment s;
  s.flags = 6;
  s.address = address;
  s.bytes = std::move(bytes);
  s.memory_bytes = memory_bytes;
  return s;
}

std::vector<u8> good() {
  return test::build_elf(0x10000, {text(0x10000), data(0x20000, {1, 2, 3})});
}

void expect_error(std::span<const u8> file, Code code) {
  const auto result = parse_elf(file);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(static_cast<int>(result.error().code), static_cast<int>(code))
      << result.error().message;
  EXPECT_GT(result.error().message.size(), 10u);
}

template <class T>
void expect_damage(u64 offset, T value, Code code) {
  std::vector<u8> file = good();
  put<T>(file, offset, value);
  expect_error(file, code);
}

TEST(Elf, ReadsSegmentsInAddressOrder) {
  const auto file = test::build_elf(0x10004, {data(0x20000, {1, 2, 3}, 100), text(0x10000)});
  const auto image = parse_elf(file);
  ASSERT_TRUE(image.has_value());
  EXPECT_EQ(image->entry, 0x10004u);
  ASSERT_EQ(image->segments.size(), 2u);
  EXPECT_EQ(image->segments[0].address, 0x10000u);
  EXPECT_TRUE(image->segments[0].executable);
  EXPECT_EQ(image->segments[0].bytes, test::little_endian({kNop, kNop}));
  EXPECT_EQ(image->segments[1].address, 0x20000u);
  EXPECT_FALSE(image->segments[1].executable);
  EXPECT_EQ(image->segments[1].bytes, (std::vector<u8>{1, 2, 3}));
  EXPECT_EQ(image->segments[1].memory_bytes, 100u);
}

TEST(Elf, ZeroMemoryCostsNothing) {
  const auto file =
      test::build_elf(0x1000, {text(0x1000), data(0x2000, {}, 0xC0000000ull - 0x2000)});
  const auto image = parse_elf(file);
  ASSERT_TRUE(image.has_value());
  EXPECT_EQ(image->segments[1].memory_bytes, 0xC0000000u - 0x2000u);
  EXPECT_EQ(image->segments[1].bytes.capacity(), 0u);
}

TEST(Elf, NamesTheNearestSymbol) {
  const auto file = test::build_elf(
      0x10000, {text(0x10000, 8)},
      {{"later", 0x10010}, {"start", 0x10000}, {"$x", 0x10014}, {"alias", 0x10010}});
  const auto image = parse_elf(file);
  ASSERT_TRUE(image.has_value());
  EXPECT_EQ(image->nearest_symbol(0x10000), "start");
  EXPECT_EQ(image->nearest_symbol(0x1000c), "start+0xc");
  EXPECT_EQ(image->nearest_symbol(0x10010), "later");
  EXPECT_EQ(image->nearest_symbol(0xffffffffffull), "later+0xfffffeffef");
  EXPECT_EQ(image->nearest_symbol(0xffff), std::nullopt);
}

TEST(Elf, DamagedSymbolTablesCostOnlyNames) {
  const auto file = test::build_elf(0x10000, {text(0x10000)}, {{"start", 0x10000}});
  const u64 sections = file.size() - 3 * 64;
  const auto damage = [&](u64 offset, u64 value) {
    auto bad = file;
    put<u64>(bad, offset, value);
    const auto image = parse_elf(bad);
    ASSERT_TRUE(image.has_value());
    EXPECT_EQ(image->nearest_symbol(0x10000), std::nullopt);
  };
  damage(40, ~0ull);                  // section table outside the file
  damage(sections + 64 + 24, ~0ull);  // symbols outside
  damage(sections + 64 + 32, ~0ull);
  damage(sections + 64 + 40, 7);  // no such names section
  damage(sections + 128 + 24, ~0ull);
  damage(sections + 128 + 32, 0);  // name offset beyond the names
}

TEST(Elf, HeaderErrors) {
  ASSERT_TRUE(parse_elf(good()).has_value());
  expect_error({}, Code::kTooShort);
  const auto whole = good();
  expect_error(std::span(whole).first(63), Code::kTooShort);
  expect_damage<u8>(0, 'x', Code::kNotElf);
  expect_damage<u8>(4, 1, Code::kNotElf64);
  expect_damage<u8>(5, 2, Code::kNotLittleEndian);
  expect_damage<u8>(6, 0, Code::kBadVersion);
  expect_damage<u32>(20, 2, Code::kBadVersion);
  expect_damage<u16>(16, 1, Code::kNotExecutable);  // object
  expect_damage<u16>(16, 3, Code::kNotExecutable);  // PIE
  expect_damage<u16>(18, 62, Code::kWrongMachine);  // x86-64
  expect_damage<u32>(48, 1, Code::kCompressed);
  expect_damage<u64>(24, 0x10002, Code::kEntryAlignment);
}

TEST(Elf, TooLargeIsRefusedUnread) {
  const size_t bytes = kElfBytesMax + 1;
  void* map = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(map, MAP_FAILED);
  expect_error({static_cast<const u8*>(map), bytes}, Code::kTooLarge);
  munmap(map, bytes);
}

TEST(Elf, ProgramHeaderErrors) {
  expect_damage<u16>(54, 55, Code::kBadProgramHeaders);
  expect_damage<u16>(56, 0xffff, Code::kBadProgramHeaders);
  expect_damage<u16>(56, 1000, Code::kBadProgramHeaders);
  expect_damage<u64>(32, ~0ull, Code::kBadProgramHeaders);
  expect_damage<u16>(56, 0, Code::kNoSegments);
  auto file = test::build_elf(0x10000, {});
  expect_error(file, Code::kNoSegments);
  for (const u32 type : {2u, 3u}) {
    BuilderSegment extra;
    extra.type = type;
    file = test::build_elf(0x10000, {text(0x10000), extra});
    expect_error(file, Code::kNotStatic);
  }
}

TEST(Elf, SegmentErrors) {
  const u64 second = 64 + 56;
  expect_damage<u64>(second + 8, ~0ull, Code::kSegmentOutsideFile);
  expect_damage<u64>(second + 8, good().size() - 2, Code::kSegmentOutsideFile);
  expect_damage<u64>(second + 32, 4, Code::kSegmentSizes);
  const auto expect_layout = [](std::vector<BuilderSegment> segments, Code code) {
    expect_error(test::build_elf(0x10000, segments), code);
  };
  expect_layout({text(0x10000), data(0xfff, {1})}, Code::kSegmentRange);
  expect_layout({text(0x10000), data(0xBFFFFFFF, {1, 2})}, Code::kSegmentRange);
  expect_layout({text(0x10000), data(0xC0000000, {1})}, Code::kSegmentRange);
  expect_layout({text(0x10000), data(0x20000, {1}, 0xC0000000)}, Code::kSegmentRange);
  expect_layout({text(0x10000), data(~0ull, {1, 2})}, Code::kSegmentRange);
  expect_layout({text(0x10000), data(0x20000, {1}, ~0ull)}, Code::kSegmentRange);
  expect_layout({text(0x10000), data(0x10007, {1})}, Code::kSegmentOverlap);
  expect_layout({text(0x10000), data(0xf000, {1}, 0x1001)}, Code::kSegmentOverlap);
  expect_layout({text(0x10000), text(0x10000)}, Code::kSegmentOverlap);
  expect_layout({text(0x10000), text(0x20002)}, Code::kSegmentAlignment);
  const auto edge =
      test::build_elf(0x1000, {text(0x1000), data(0x1008, {1}), data(0xBFFFFFFF, {1})});
  EXPECT_TRUE(parse_elf(edge).has_value());
}

TEST(Elf, SegmentsMayNotMultiplyTheFile) {
  // Forty segments, disjoint in memory, that all name the whole file.
  std::vector<BuilderSegment> segments = {text(0x10000)};
  for (u64 i = 1; i <= 40; ++i) segments.push_back(data(0x10000 + i * 0x10000, {1}));
  auto file = test::build_elf(0x10000, segments);
  for (u64 i = 1; i <= 40; ++i) {
    put<u64>(file, 64 + 56 * i + 8, u64{0});
    put<u64>(file, 64 + 56 * i + 32, file.size());
    put<u64>(file, 64 + 56 * i + 40, file.size());
  }
  expect_error(file, Code::kFileBytesReused);
}

TEST(Elf, EntryMustBeAnInstruction) {
  expect_damage<u64>(24, 0x20000, Code::kEntryNotExecutable);
  expect_damage<u64>(24, 0x10008, Code::kEntryNotExecutable);
  expect_damage<u64>(24, 0x10000 | 1ull << 32, Code::kEntryNotExecutable);
  auto partial = text(0x10000);
  partial.bytes.resize(7);
  EXPECT_TRUE(parse_elf(test::build_elf(0x10000, {partial})).has_value());
  expect_error(test::build_elf(0x10004, {partial}), Code::kEntryNotExecutable);
}

TEST(Elf, RandomDamageNeverMisbehaves) {
  const auto file = test::build_elf(0x10000, {text(0x10000, 8), data(0x20000, {1, 2, 3})},
                                    {{"start", 0x10000}, {"end", 0x10010}});
  constexpr u64 kSeed = 20261201;
  RecordProperty("seed", std::to_string(kSeed));
  std::mt19937_64 random(kSeed);
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    auto bad = file;
    for (u64 i = 0; i < 1 + random() % 4; ++i)
      bad[random() % bad.size()] = static_cast<u8>(random());
    if (random() % 4 == 0) bad.resize(random() % bad.size());
    const auto image = parse_elf(bad);
    if (!image) continue;
    ++accepted;
    u64 held = image->symbol_names.size();
    for (const auto& s : image->segments) held += s.bytes.size();
    ASSERT_LE(held, 2 * bad.size()) << "seed " << kSeed << " round " << round;
    image->nearest_symbol(0x10004);
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace epochd
