// Numbers as people read them.
#include "daemon/cli/text.hpp"

#include <gtest/gtest.h>

namespace epochd {
namespace {

TEST(Text, KeepsThreeDigitsAndChoosesTheUnit) {
  EXPECT_EQ(seconds_text(0), "0.00 ns");
  EXPECT_EQ(seconds_text(1.5e-6), "1.50 us");
  EXPECT_EQ(seconds_text(0.0456), "45.6 ms");
  EXPECT_EQ(seconds_text(0.4567), "457 ms");
  EXPECT_EQ(seconds_text(1), "1.00 s");
  EXPECT_EQ(seconds_text(12345), "12345 s");
  EXPECT_EQ(rate_text(999.4), "999 Hz");
  EXPECT_EQ(rate_text(999.6), "1.00 kHz");
  EXPECT_EQ(rate_text(229e6), "229 MHz");
  EXPECT_EQ(bytes_text(0), "0.00 B");
  EXPECT_EQ(bytes_text(427'656), "428 kB");
  EXPECT_EQ(bytes_text(3'500'000'000'000), "3500 GB");
}

TEST(Text, ShowsTheFirstOutputs) {
  EXPECT_EQ(outputs_text({}), "0");
  EXPECT_EQ(outputs_text({255}), "1: 0xff");
  EXPECT_EQ(outputs_text({1, 2}), "2: 0x1 0x2");
  EXPECT_EQ(outputs_text(std::vector<u64>(9, 1)), "9: 0x1 0x1 0x1 0x1 0x1 0x1 0x1 0x1 ...");
}

TEST(Text, AGuestCannotSteerTheTerminal) {
  ::testing::internal::CaptureStderr();
  print_guest_text("a\x1b[2Jb\nc\r\x7f");
  print_guest_text("line\n");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "guest: a?[2Jb\nc??\nguest: line\n");
}

}  // namespace
}  // namespace epochd
