// The verifier is freestanding: the same sources, compiled for RV64IM without a library, run under
// qemu-riscv64 and answer as the host's verifier does, for a good bundle and for changed ones.
#include <gtest/gtest.h>

#include "tests/epoch/continuation/run_fixture.hpp"
#include "tests/guest/run_program.hpp"

namespace epochd::test {
namespace {

std::vector<u64> answer(const std::vector<std::string>& program, const std::vector<u64>& key,
                        const std::vector<u64>& bundle, int expected_exit) {
  const ProgramRun run = run_program(program, bytes_of(key) + bytes_of(bundle));
  EXPECT_EQ(run.exit_code, expected_exit);
  return words_of(run.output);
}

TEST(VerifierGuest, AnswersAsTheHostDoes) {
  epochd::testing::Guest guest("fib.elf");
  guest.params.epoch_size_log2 = 7;
  const auto epochs = run_epochs(guest, epochd::testing::input_words({40}));
  ASSERT_GE(epochs.size(), 2u);
  const std::vector<u64> bundle = prove_run(guest, epochs);
  const std::vector<u64> key = encode_verifying_key(guest.key.vk);
  const std::string base = std::string(EPOCHD_GUEST_DIR) + "/verify";
  const std::vector<std::vector<std::string>> programs = {{EPOCHD_QEMU_RISCV64, base + ".qemu.elf"},
                                                          {base + ".twin"}};

  for (const auto& program : programs) {
    const RunResult host = verify(guest, bundle);
    ASSERT_TRUE(host.ok());
    EXPECT_EQ(answer(program, key, bundle, 0),
              (std::vector<u64>{0, 0, 0, 0, host.epochs, host.cycles, 0, 1}));
    for (const size_t at : {size_t{5}, bundle.size() / 3, bundle.size() / 2, bundle.size() - 1}) {
      std::vector<u64> changed = bundle;
      changed[at] ^= 1;
      const RunResult refused = verify(guest, changed);
      ASSERT_FALSE(refused.ok());
      EXPECT_EQ(
          answer(program, key, changed, 1),
          (std::vector<u64>{static_cast<u64>(refused.error), refused.index,
                            static_cast<u64>(refused.argument.error), refused.argument.detail}))
          << "word " << at;
    }
  }
}

}  // namespace
}  // namespace epochd::test
