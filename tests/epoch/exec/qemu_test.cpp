// The executor against qemu-riscv64: every instruction over edge values, and seeded random
// programs. Both run the same words; only the tail differs, because Linux writes the results where
// the machine's are read from memory.
#include <gtest/gtest.h>

#include <random>

#include "tests/epoch/exec/exec_support.hpp"
#include "tests/guest/run_program.hpp"

namespace epochd::test {
namespace {

constexpr u32 kTable = 31;    // register that holds kDataBase
constexpr u32 kResults = 30;  // register that walks through the results

const std::vector<u64> kEdges = {0,
                                 1,
                                 2,
                                 ~0ull,
                                 ~1ull,
                                 1ull << 63,
                                 (1ull << 63) + 1,
                                 (1ull << 63) - 1,
                                 0x7fffffff,
                                 0x80000000,
                                 0x80000001,
                                 0xffffffff7fffffff,
                                 0xffffffff80000000,
                                 0xffffffff,
                                 0x100000000,
                                 0x100000001,
                                 31,
                                 64,
                                 0x5555555555555555,
                                 0xfedcba9876543210,
                                 0x00000001ffffffff};

// Straight code that stores results one after another.
struct Recorder {
  std::vector<u32> code = {lui(kTable, kDataBase >> 12), lui(kResults, kResultBase >> 12)};
  u64 results = 0;
  i32 pending = 0;  // bytes stored beyond kResults

  void record(u32 reg) {
    code.push_back(sd(reg, kResults, pending));
    pending += 8;
    ++results;
    if (pending < 2040) return;
    code.push_back(addi(kResults, kResults, pending));
    pending = 0;
  }
};

std::vector<u64> run_here(const Recorder& recorder, const std::vector<u8>& data) {
  auto code = recorder.code;
  append(code, {addi(kA0, 0, 0)});
  append(code, system_call(93));
  const Guest guest(build_data_elf(code, data, recorder.results * 8));
  auto scout = Scout::create(guest.code, {});
  run_to_end(*scout);
  std::vector<u64> results(recorder.results);
  for (u64 i = 0; i < results.size(); ++i) {
    results[i] = scout->memory().load<u64>(kResultBase + 8 * i);
  }
  return results;
}

std::vector<u64> run_under_qemu(const Recorder& recorder, const std::vector<u8>& data) {
  auto code = recorder.code;
  const u64 bytes = recorder.results * 8;
  // write(1, kResultBase, bytes), then exit(0).
  append(
      code,
      {addi(kA0, 0, 1), lui(kA1, kResultBase >> 12), lui(12, static_cast<u32>(bytes >> 12)),
       addi(13, 0, static_cast<i32>(bytes & 0x7ff)), add(12, 12, 13),
       addi(13, 0, static_cast<i32>(bytes & 0x800 ? 0x400 : 0)), add(12, 12, 13), add(12, 12, 13)});
  append(code, system_call(64));
  append(code, {addi(kA0, 0, 0)});
  append(code, system_call(93));
  const TemporaryFile file(build_data_elf(code, data, bytes));
  const ProgramRun run = run_program({EPOCHD_QEMU_RISCV64, file.path()}, "");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.output.size(), bytes);
  return words_of(run.output);
}

void expect_agreement(const Recorder& recorder, const std::vector<u8>& data,
                      const std::function<std::string(u64 index)>& describe) {
  const auto expected = run_under_qemu(recorder, data);
  const auto got = run_here(recorder, data);
  ASSERT_EQ(got.size(), expected.size());
  int reported = 0;
  for (u64 i = 0; i < got.size() && reported < 10; ++i) {
    if (got[i] == expected[i]) continue;
    ++reported;
    ADD_FAILURE() << describe(i) << std::hex << ": 0x" << got[i] << ", qemu 0x" << expected[i];
  }
}

void load_edge(Recorder& r, u32 reg, size_t index) {
  r.code.push_back(ld(reg, kTable, static_cast<i32>(8 * index)));
}

TEST(Qemu, RegisterInstructionsOverTheGrid) {
  Recorder r;
  for (size_t a = 0; a < kEdges.size(); ++a) {
    load_edge(r, 5, a);
    for (size_t b = 0; b < kEdges.size(); ++b) {
      load_edge(r, 6, b);
      for (const Mnemonic& m : kRegisterOps) {
        r.code.push_back(r_type(m.base, 7, 5, 6));
        r.record(7);
      }
    }
  }
  constexpr u64 kOps = std::size(kRegisterOps);
  expect_agreement(r, bytes_of_words(kEdges), [](u64 i) {
    const u64 pair = i / kOps;
    return std::string(kRegisterOps[i % kOps].name) + " of edges " +
           std::to_string(pair / kEdges.size()) + " and " + std::to_string(pair % kEdges.size());
  });
}

TEST(Qemu, ImmediateInstructionsOverTheGrid) {
  Recorder r;
  std::vector<std::string> names;
  const auto add_case = [&](const Mnemonic& m, i32 imm) {
    r.code.push_back(i_type(m.base, 7, 5, imm));
    r.record(7);
    names.push_back(m.name + (" " + std::to_string(imm)));
  };
  for (size_t a = 0; a < kEdges.size(); ++a) {
    load_edge(r, 5, a);
    for (const i32 imm : {0, 1, -1, 2047, -2048, 0x555}) {
      for (const Mnemonic& m : kImmediateOps) add_case(m, imm);
    }
    for (i32 amount = 0; amount < 64; ++amount) {
      for (const Mnemonic& m : kShiftOps) add_case(m, amount);
    }
    for (i32 amount = 0; amount < 32; ++amount) {
      for (const Mnemonic& m : kWordShiftOps) add_case(m, amount);
    }
  }
  for (const u32 upper : {0u, 1u, 0x7ffffu, 0x80000u, 0xfffffu}) {
    r.code.push_back(lui(7, upper));
    r.record(7);
    names.push_back("lui");
    r.code.push_back(auipc(7, upper));
    r.record(7);
    names.push_back("auipc");
  }
  expect_agreement(r, bytes_of_words(kEdges), [&](u64 i) { return names[i]; });
}

TEST(Qemu, BranchesOverTheGrid) {
  Recorder r;
  for (size_t a = 0; a < kEdges.size(); ++a) {
    load_edge(r, 5, a);
    for (size_t b = 0; b < kEdges.size(); ++b) {
      load_edge(r, 6, b);
      for (const Mnemonic& m : kBranches) {
        append(r.code, {addi(7, 0, 1), b_type(m.base, 5, 6, 8), addi(7, 0, 0)});
        r.record(7);
      }
    }
  }
  expect_agreement(r, bytes_of_words(kEdges),
                   [](u64 i) { return kBranches[i % std::size(kBranches)].name; });
}

TEST(Qemu, LoadsAndStoresAtEveryOffset) {
  Recorder r;
  std::vector<std::string> names;
  const auto note = [&](const Mnemonic& m, i32 at) {
    names.push_back(m.name + std::to_string(at));
  };
  for (i32 at = 0; at < 24; ++at) {
    for (const Mnemonic& m : kLoads) {
      r.code.push_back(i_type(m.base, 7, kTable, at));
      r.record(7);
      note(m, at);
    }
  }
  load_edge(r, 5, 19);
  for (i32 at = 1024; at < 1024 + 24; ++at) {
    for (const Mnemonic& m : kStores) {
      for (i32 cell = 0; cell < 4; ++cell) r.code.push_back(sd(0, kTable, 1024 + 8 * cell));
      r.code.push_back(s_type(m.base, 5, kTable, at));
      for (i32 cell = 0; cell < 4; ++cell) {
        r.code.push_back(ld(7, kTable, 1024 + 8 * cell));
        r.record(7);
        note(m, at);
      }
    }
  }
  std::vector<u64> data = {0x8182838485868788, 0x0102030405060708, 0xf1e2d3c4b5a69788,
                           0x7f7e7d7c7b7a7978};
  data.resize(19);
  data.push_back(0x9a8b7c6d5e4f3021);
  data.resize(256);
  expect_agreement(r, bytes_of_words(data), [&](u64 i) { return names[i]; });
}

// Registers 1..29 in any role, x0 too; 30 and 31 keep the bases.
class RandomProgram {
 public:
  explicit RandomProgram(u64 seed) : random_(seed) {}

  Recorder make(size_t instructions) {
    for (u32 reg = 1; reg < kResults; ++reg) load_edge(recorder_, reg, reg - 1);
    for (size_t i = 0; i < instructions; ++i) step();
    append(recorder_.code, {kNop, kNop, kNop});  // where the last jumps land
    for (u32 reg = 0; reg < kResults; ++reg) recorder_.record(reg);
    for (i32 cell = 0; cell < 32; ++cell) {
      recorder_.code.push_back(ld(1, kTable, kScratch + 8 * cell));
      recorder_.record(1);
    }
    return std::move(recorder_);
  }

  /// Initial registers and scratch cells.
  std::vector<u8> data() {
    std::vector<u64> words(256);
    for (u64& word : words) word = pick(2) ? kEdges[pick(kEdges.size())] : random_();
    return bytes_of_words(words);
  }

 private:
  static constexpr i32 kScratch = 1024;
  u64 pick(u64 count) { return random_() % count; }
  u32 reg() { return static_cast<u32>(pick(kResults)); }
  i32 imm() { return static_cast<i32>(pick(4096)) - 2048; }
  i32 scratch() { return kScratch + static_cast<i32>(pick(249)); }
  template <size_t N>
  u32 base(const Mnemonic (&ops)[N]) {
    return ops[pick(N)].base;
  }

  void step() {
    auto& code = recorder_.code;
    switch (pick(12)) {
      case 0:
        code.push_back(i_type(base(kImmediateOps), reg(), reg(), imm()));
        break;
      case 1:
        code.push_back(i_type(base(kShiftOps), reg(), reg(), static_cast<i32>(pick(64))));
        break;
      case 2:
        code.push_back(i_type(base(kWordShiftOps), reg(), reg(), static_cast<i32>(pick(32))));
        break;
      case 3:
        code.push_back(i_type(base(kLoads), reg(), kTable, scratch()));
        break;
      case 4:
        code.push_back(s_type(base(kStores), reg(), kTable, scratch()));
        break;
      case 5:
        code.push_back(b_type(base(kBranches), reg(), reg(), pick(2) ? 8 : 12));
        break;
      case 6:
        code.push_back(jal(reg(), pick(2) ? 8 : 12));
        break;
      case 7: {
        const u32 link = 1 + static_cast<u32>(pick(kResults - 1));
        // The NOPs keep an earlier branch from jumping between the two.
        append(code,
               {kNop, kNop, auipc(link, 0), jalr(reg(), link, 8 + static_cast<i32>(pick(2)))});
        break;
      }
      case 8:
        code.push_back(pick(2) ? lui(reg(), static_cast<u32>(pick(1 << 20))) : kFence);
        break;
      default:
        code.push_back(r_type(base(kRegisterOps), reg(), reg(), reg()));
        break;
    }
  }

  std::mt19937_64 random_;
  Recorder recorder_;
};

TEST(Qemu, RandomPrograms) {
  for (u64 seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomProgram program(seed);
    const std::vector<u8> data = program.data();
    expect_agreement(program.make(3000), data,
                     [](u64 i) { return "register or cell " + std::to_string(i); });
  }
}

void expect_guest_agrees(const std::string& name, const std::string& input) {
  SCOPED_TRACE(name);
  const ProgramRun qemu = run_program(
      {EPOCHD_QEMU_RISCV64, std::string(EPOCHD_GUEST_DIR "/") + name + ".qemu.elf"}, input);
  const Guest guest(read_guest_file(name + ".elf"));
  auto scout = Scout::create(guest.code, {reinterpret_cast<const u8*>(input.data()), input.size()});
  const FullRun run = run_to_end(*scout);
  EXPECT_EQ(run.outputs, words_of(qemu.output));
  EXPECT_EQ(static_cast<int>(run.exit_code & 0xff), qemu.exit_code);
}

TEST(Qemu, GuestPrograms) {
  expect_guest_agrees("alledge", "");
  expect_guest_agrees("misaligned", "");
  expect_guest_agrees("fib", bytes_of({1000}));
  expect_guest_agrees("sha256", "the quick brown fox");
  expect_guest_agrees("keccak", std::string(300, 'k'));
  expect_guest_agrees("sort", bytes_of({42, 1000}));
}

}  // namespace
}  // namespace epochd::test
