// Each workload guest four ways: under qemu, as its host twin, in our executor, and proved and
// verified with the test preset; all must emit the same words.
#include "bench/workloads/workload.hpp"

#include <functional>

#include "bench/workloads/ledger/fixture.hpp"
#include "tests/epoch/continuation/run_fixture.hpp"
#include "tests/guest/run_program.hpp"

namespace epochd::testing {
namespace {

using Words = std::vector<u64>;

struct Case {
  const char* guest;
  Words input;
  u32 epoch_size_log2;  ///< so small that the run takes several epochs
  int exit_code = 0;
};

/// How many cycles the run took.
u64 expect_agreement(const Case& c, Words* outputs = nullptr) {
  SCOPED_TRACE(c.guest);
  const std::string base = std::string(EPOCHD_GUEST_DIR) + "/" + c.guest;
  const std::string input = test::bytes_of(c.input);
  const auto qemu = test::run_program({EPOCHD_QEMU_RISCV64, base + ".qemu.elf"}, input);
  const auto twin = test::run_program({base + ".twin"}, input);
  EXPECT_EQ(qemu.exit_code, c.exit_code);
  EXPECT_EQ(twin.exit_code, c.exit_code);
  EXPECT_EQ(qemu.output, twin.output);

  Guest& guest = shared_guest(std::string(c.guest) + ".elf");
  auto scout = Scout::create(*guest.code, input_words(c.input));
  Words emitted;
  u64 cycles = 0, exit_code = 0;
  while (!scout->halted()) {
    const auto epoch = scout->run_epoch(1u << 20);
    if (!epoch) {
      ADD_FAILURE() << epoch.error().message();
      return 0;
    }
    emitted.insert(emitted.end(), epoch->outputs.begin(), epoch->outputs.end());
    cycles += epoch->cycles;
    exit_code = epoch->exit_code;
  }
  EXPECT_EQ(emitted, test::words_of(qemu.output));
  EXPECT_EQ(exit_code, static_cast<u64>(c.exit_code));
  if (outputs != nullptr) *outputs = emitted;
  return cycles;
}

void expect_proof(const Case& c) {
  SCOPED_TRACE(c.guest);
  Words outputs;
  const u64 cycles = expect_agreement(c, &outputs);
  Guest& guest = shared_guest(std::string(c.guest) + ".elf");
  guest.params.epoch_size_log2 = c.epoch_size_log2;
  const auto epochs = run_epochs(guest, input_words(c.input));
  EXPECT_GE(epochs.size(), 2u);
  const auto bundle = prove_run(guest, epochs);
  const RunResult result = verify(guest, bundle);
  EXPECT_TRUE(result.ok()) << text(result);
  EXPECT_EQ(result.cycles, cycles);
  EXPECT_EQ(result.exit_code, static_cast<u64>(c.exit_code));
  EXPECT_EQ(outputs_of(bundle), outputs);
}

TEST(WorkloadGuests, SmallInstancesProveAndVerify) {
  expect_proof({"ackermann", {2, 12}, 10});
  expect_proof({"bigtext", {1, 60}, 11});
  expect_proof({"matmul", {1, 8}, 12});
  expect_proof({"memcpy", {40'000, 2, 0}, 15});
  expect_proof({"memcpy", {999, 3, 3}, 13});
  expect_proof({"scatter", {1, 900, 22}, 13});
}

TEST(WorkloadGuests, RefuseInputsThatDoNotFit) {
  expect_agreement({"ackermann", {4, 1}, 20, 1});
  expect_agreement({"ackermann", {3, 11}, 20, 1});
  expect_agreement({"matmul", {1, 257}, 20, 1});
  expect_agreement({"memcpy", {(32 << 20) + 1, 1, 0}, 20, 1});
  expect_agreement({"memcpy", {100, 1, 8}, 20, 1});
  expect_agreement({"scatter", {1, 1, 24}, 20, 1});
  expect_agreement({"ledger", {3, 0}, 20, 1});
  expect_agreement({"ledger", {4, 1}, 20, 1});
  expect_agreement({"ledger", {}, 20, 1});
}

// What each computes, known otherwise.
TEST(WorkloadGuests, EmitWhatIsKnown) {
  Words outputs;
  expect_agreement({"ackermann", {2, 50}, 20}, &outputs);
  EXPECT_EQ(outputs[0], 2u * 50 + 3);
  expect_agreement({"ackermann", {3, 5}, 20}, &outputs);
  EXPECT_EQ(outputs, (Words{253, 42438})) << "2^(n+3) - 3, and the count in many textbooks";
  expect_agreement({"scatter", {7, 0, 10}, 20}, &outputs);
  EXPECT_EQ(outputs, Words{0});
  // Every 4096th byte is 1 + 151 i, whatever the copies' number and alignment.
  for (const Words& input :
       {Words{40'000, 0, 0}, Words{40'000, 1, 0}, Words{40'000, 2, 5}, Words{40'000, 3, 1}}) {
    expect_agreement({"memcpy", input, 20}, &outputs);
    u64 sum = 0;
    for (u64 i = 0; i * 4096 < 40'000; ++i) sum = sum * 31 + ((1 + 151 * i) & 0xff);
    EXPECT_EQ(outputs, Words{sum});
  }
}

TEST(WorkloadGuests, BigtextIsBig) {
  EXPECT_GT(shared_guest("bigtext.elf").program->rows().size(), 65536u);
}

TEST(WorkloadGuests, NamedWorkloadsAgree) {
  for (const char* name : {"bigtext", "matmul", "sha256", "sort"}) {
    const auto workload = bench::make_workload(name);
    const u64 cycles = expect_agreement({workload->guest.c_str(), workload->input, 20});
    EXPECT_GT(cycles, 1u << 20) << name;
    RecordProperty(name, std::to_string(cycles));
  }
}

/// RFC 1950, section 8.2.
u64 adler32(const std::string& bytes) {
  u64 a = 1, b = 0;
  for (const char c : bytes) {
    a = (a + static_cast<u8>(c)) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

// The guest in Rust, where one could be built.
TEST(RustGuest, AgreesWithQemuAndProves) {
  const std::string base = std::string(EPOCHD_GUEST_DIR) + "/digest";
  if (!std::ifstream(base + ".elf").good()) GTEST_SKIP() << "built without a Rust target";
  for (const std::string& input :
       {std::string(), std::string("Wikipedia"), std::string(3000, '\xff') + "and 7 letters"}) {
    Words expected = {adler32(input), 0};
    for (const char c : input) expected[1] += ('a' <= (c | 32) && (c | 32) <= 'z') ? 1 : 0;
    const std::string head = input.substr(0, 16);
    expected.push_back(head.size());
    const Words words = test::words_of(head + std::string((8 - head.size() % 8) % 8, '\0'));
    expected.insert(expected.end(), words.begin(), words.end());

    const auto qemu = test::run_program({EPOCHD_QEMU_RISCV64, base + ".qemu.elf"}, input);
    EXPECT_EQ(qemu.exit_code, 0);
    EXPECT_EQ(test::words_of(qemu.output), expected);
    Guest& guest = shared_guest("digest.elf");
    guest.params.epoch_size_log2 = 12;
    const auto bundle = prove_run(guest, run_epochs(guest, {input.begin(), input.end()}));
    const RunResult result = verify(guest, bundle);
    EXPECT_TRUE(result.ok()) << text(result);
    EXPECT_EQ(outputs_of(bundle), expected);
  }
}

TEST(LedgerGuest, AgreesAndCountsEveryKind) {
  const Words block =
      bench::make_ledger_block({.transfers = 6, .bad_signatures = 2, .overdrafts = 1});
  Words outputs;
  expect_agreement({"ledger", block, 20}, &outputs);
  ASSERT_EQ(outputs.size(), 15u);
  EXPECT_EQ(Words(outputs.end() - 3, outputs.end()), (Words{3, 2, 1}));
}

// A ratchet on what a transfer costs, between 5 and 20 transfers.
TEST(LedgerGuest, ATransferStaysCheap) {
  const u64 five = expect_agreement({"ledger", bench::make_ledger_block({.transfers = 5}), 20});
  const u64 twenty = expect_agreement({"ledger", bench::make_ledger_block({.transfers = 20}), 20});
  const u64 cycles = (twenty - five) / 15;
  RecordProperty("cycles_per_transfer", std::to_string(cycles));
  EXPECT_LT(cycles, 550'000u);
}

TEST(LedgerGuest, OneTransferProvesAndVerifies) {
  expect_proof({"ledger", bench::make_ledger_block({.transfers = 1}), 18});
}

}  // namespace
}  // namespace epochd::testing
