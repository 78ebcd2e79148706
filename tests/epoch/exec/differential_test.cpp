// The executor against qemu-riscv64, instruction by instruction: pc and all registers before each
// one, and the memory at the end. qemu logs its state when told to translate one instruction at a
// time; many programs share one process. EPOCHD_DIFFERENTIAL_PROGRAMS sets how many.
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "epoch/isa/decode.hpp"
#include "tests/epoch/exec/random_program.hpp"
#include "tests/guest/run_program.hpp"

namespace epochd::test {
namespace {

constexpr u64 kSeed = 0x5eed0d1f;
constexpr u32 kProgramsInBatch = 25;

struct State {
  u64 pc = 0;
  std::array<u64, 32> x{};
};

/// Reads qemu's log: " pc       0123456789abcdef", then eight lines of " x0/zero  0123456789abcdef
/// x1/ra ...".
class StateLog {
 public:
  explicit StateLog(std::string text) : text_(std::move(text)) {}

  /// False at the end, or where the log is not of that form.
  bool next(State& state) {
    const size_t at = text_.find(" pc ", position_);
    if (at == std::string::npos) return false;
    position_ = at + 4;
    if (!number(state.pc)) return false;
    for (u64& x : state.x) {
      position_ = text_.find('/', position_);
      if (position_ == std::string::npos) return false;
      position_ = text_.find(' ', position_);
      if (!number(x)) return false;
    }
    return true;
  }

 private:
  bool number(u64& value) {
    position_ = text_.find_first_not_of(' ', position_);
    if (position_ == std::string::npos || position_ + 16 > text_.size()) return false;
    const char* begin = text_.data() + position_;
    position_ += 16;
    return std::from_chars(begin, begin + 16, value, 16).ptr == begin + 16;
  }

  std::string text_;
  size_t position_ = 0;
};

/// write(1, both scratch regions), exit(0), as Linux wants it.
std::vector<u32> dump_and_exit() {
  std::vector<u32> tail;
  for (const u32 base : {kLowScratch, kHighScratch}) {
    append(tail, {addi(kA0, 0, 1), lui(kA1, base >> 12), i_type(0x1013, kA1, kA1, 32),
                  i_type(0x5013, kA1, kA1, 32), lui(12, kScratchBytes >> 12)});
    append(tail, system_call(64));
  }
  append(tail, {addi(kA0, 0, 0)});
  append(tail, system_call(93));
  return tail;
}

struct QemuRun {
  StateLog log;
  std::string memory;
};
QemuRun run_qemu(const RandomPrograms& programs) {
  const TemporaryFile elf(programs.elf(dump_and_exit()));
  const TemporaryFile log({});
  const ProgramRun run = run_program(
      {EPOCHD_QEMU_RISCV64, "-singlestep", "-d", "cpu,nochain", "-D", log.path(), elf.path()}, "");
  EXPECT_EQ(run.exit_code, 0);
  std::ifstream file(log.path(), std::ios::binary);
  return {StateLog({std::istreambuf_iterator<char>(file), {}}), run.output};
}

std::string hex(u64 value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

/// Empty if they agree. Before the first program's registers are loaded, qemu's stack pointer and
/// the like are its own: `known` are the registers written so far.
std::string difference(const State& qemu, const MachineState& here, u64 known) {
  std::string text;
  if (qemu.pc != here.pc) text += " pc " + hex(here.pc) + ", qemu " + hex(qemu.pc);
  for (u32 reg = 0; reg < 32; ++reg) {
    if ((known >> reg & 1) == 0 || qemu.x[reg] == here.registers[reg]) continue;
    text +=
        " x" + std::to_string(reg) + " " + hex(here.registers[reg]) + ", qemu " + hex(qemu.x[reg]);
  }
  return text;
}

struct Compared {
  u64 steps = 0;
  std::array<u64, kOpCount> ops{};
};

/// Steps through both; stops at the first difference.
void expect_batch_agrees(u64 seed, Compared& compared) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const RandomPrograms programs(seed, {.programs = kProgramsInBatch});
  QemuRun qemu = run_qemu(programs);
  const Guest guest(programs.elf({kEbreak}));
  auto scout = Scout::create(guest.code, {});
  u64 known = 1;
  u32 pc_before = 0;
  State state;
  for (;; ++compared.steps) {
    ASSERT_TRUE(qemu.log.next(state)) << "qemu's log ends after " << compared.steps;
    const std::string found = difference(state, scout->state(), known);
    ASSERT_TRUE(found.empty()) << "after the instruction at " << hex(pc_before) << ", word "
                               << hex(guest.program.word_at(pc_before).value_or(0)) << ":" << found;
    pc_before = scout->state().pc;
    if (pc_before == programs.end_pc()) break;
    const auto epoch = scout->run_epoch(1);
    ASSERT_TRUE(epoch) << epoch.error().message();
    known |= epoch->touched_registers;
    ++compared
          .ops[static_cast<size_t>(guest.program.rows()[guest.program.row_index(pc_before)].op)];
  }
  EXPECT_EQ(known & 0xffffffff, 0xffffffff);
  ASSERT_EQ(qemu.memory.size(), 2 * kScratchBytes);
  for (u32 i = 0; i < 2 * kScratchBytes; ++i) {
    const u32 at = i < kScratchBytes ? kLowScratch + i : kHighScratch + (i - kScratchBytes);
    ASSERT_EQ(scout->memory().load<u8>(at), static_cast<u8>(qemu.memory[i])) << hex(at);
  }
}

TEST(Differential, RandomProgramsInstructionByInstruction) {
  const char* wanted = std::getenv("EPOCHD_DIFFERENTIAL_PROGRAMS");
  const u64 programs = wanted == nullptr ? 200 : std::strtoull(wanted, nullptr, 10);
  Compared compared;
  for (u64 done = 0, batch = 0; done < programs; done += kProgramsInBatch, ++batch) {
    expect_batch_agrees(kSeed + batch, compared);
    if (HasFatalFailure()) return;
  }
  RecordProperty("steps", std::to_string(compared.steps));
  std::printf("%llu programs, %llu instructions compared\n",
              static_cast<unsigned long long>(programs),
              static_cast<unsigned long long>(compared.steps));
  // Every operation was among them; LUI, AUIPC and FENCE became ADDI, and ECALL ends a run.
  for (u32 op = static_cast<u32>(Op::kNone) + 1; op < kOpCount; ++op) {
    if (static_cast<Op>(op) == Op::kEcall) continue;
    EXPECT_GT(compared.ops[op], programs / 4) << op_name(static_cast<Op>(op));
  }
}

// The comparison itself: it sees one wrong bit in any register, and a pc.
TEST(Differential, ADifferenceIsSeen) {
  State qemu;
  MachineState here;
  qemu.pc = here.pc = kTextBase;
  EXPECT_EQ(difference(qemu, here, ~0ull), "");
  for (u32 reg = 0; reg < 32; ++reg) {
    qemu.x[reg] = 1ull << 63;
    EXPECT_NE(difference(qemu, here, ~0ull), "") << reg;
    EXPECT_EQ(difference(qemu, here, ~(1ull << reg)), "") << reg;
    qemu.x[reg] = 0;
  }
  qemu.pc += 4;
  EXPECT_NE(difference(qemu, here, ~0ull), "");
}

// Where a JALR's target is no multiple of 4, a machine without compressed instructions faults at
// the jump, before rd is written; so does the scout.
TEST(Differential, JalrToNoMultipleOf4FaultsAtTheJump) {
  const std::vector<u32> code = {auipc(5, 0), addi(6, 0, 77), jalr(6, 5, 14), kNop, kNop};
  const auto elf =
      build_elf(kTextBase, {{.address = kTextBase, .bytes = little_endian(code)}}, {}, 4096);
  const TemporaryFile file(elf);
  const TemporaryFile log({});
  const ProgramRun run = run_program({EPOCHD_QEMU_RISCV64, "-cpu", "rv64,c=false", "-singlestep",
                                      "-d", "cpu,nochain", "-D", log.path(), file.path()},
                                     "");
  EXPECT_NE(run.exit_code, 0);
  std::ifstream text(log.path(), std::ios::binary);
  StateLog states({std::istreambuf_iterator<char>(text), {}});
  State last, state;
  while (states.next(state)) last = state;
  EXPECT_EQ(last.pc, kTextBase + 8);
  EXPECT_EQ(last.x[6], 77u);

  const Guest guest(elf);
  auto scout = Scout::create(guest.code, {});
  const auto epoch = scout->run_epoch(100);
  ASSERT_FALSE(epoch);
  EXPECT_EQ(epoch.error().pc, last.pc);
  EXPECT_EQ(scout->state().registers[6], last.x[6]);
}

}  // namespace
}  // namespace epochd::test
