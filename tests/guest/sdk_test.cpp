// The SDK's portable part, called directly: reading words, framing, and the length check against a
// host that lies.
#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>
#include <vector>

#include "epoch/guest/epochd.h"

namespace {

std::vector<uint64_t> input_region;
std::vector<uint64_t> emitted;

struct GuestExit : std::runtime_error {
  explicit GuestExit(uint64_t code_in) : std::runtime_error("guest exit"), code(code_in) {}
  uint64_t code;
};

void set_input(uint64_t length, const std::vector<uint8_t>& bytes) {
  input_region.assign(2 + bytes.size() / 8, 0);
  input_region[0] = length;
  if (!bytes.empty()) std::memcpy(input_region.data() + 1, bytes.data(), bytes.size());
}

}  // namespace

extern "C" {
void epochd_exit(uint64_t code) {
  throw GuestExit(code);
}
void epochd_emit(uint64_t word) {
  emitted.push_back(word);
}
void epochd_debug(const char*, size_t) {}
const uint64_t* epochd_input_region(void) {
  return input_region.data();
}
}

namespace {

TEST(GuestSdk, ReadsWordsLittleEndianAndPadsTheLastWithZeros) {
  set_input(11, {1, 2, 3, 4, 5, 6, 7, 8, 0xFE, 0xFF, 0x80});
  EXPECT_EQ(epochd_input_u64(0), 0x0807060504030201u);
  EXPECT_EQ(epochd_input_u64(1), 0x80FFFEu);
  EXPECT_EQ(epochd_input_u64(2), 0u);
  EXPECT_EQ(epochd_input_u64(~0ull), 0u);
}

TEST(GuestSdk, DoesNotReadBytesPastTheLength) {
  set_input(3, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(epochd_input_u64(0), 0x030201u);
}

TEST(GuestSdk, ReadInputIsIdempotent) {
  set_input(4, {9, 8, 7, 6});
  for (int i = 0; i < 2; ++i) {
    const uint8_t* bytes = nullptr;
    size_t length = 0;
    read_input(&bytes, &length);
    ASSERT_EQ(length, 4u);
    EXPECT_EQ(std::memcmp(bytes, "\x09\x08\x07\x06", 4), 0);
  }
}

TEST(GuestSdk, ExitsWhenTheLengthIsOutOfRange) {
  const uint8_t* bytes = nullptr;
  size_t length = 0;
  set_input(EPOCHD_INPUT_BYTES_MAX, {});
  EXPECT_NO_THROW(read_input(&bytes, &length));
  for (const uint64_t bad :
       {uint64_t{EPOCHD_INPUT_BYTES_MAX} + 1, uint64_t{1} << 32, ~uint64_t{0}}) {
    set_input(bad, {});
    try {
      read_input(&bytes, &length);
      ADD_FAILURE() << "accepted a length of " << bad;
    } catch (const GuestExit& exit) {
      EXPECT_EQ(exit.code, uint64_t{EPOCHD_EXIT_INPUT_LENGTH});
    }
    EXPECT_THROW(epochd_input_u64(0), GuestExit);
  }
}

TEST(GuestSdk, WriteOutputEmitsACountAndPaddedWords) {
  emitted.clear();
  const std::vector<uint8_t> bytes = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99};
  write_output(bytes.data(), 9);
  write_output(bytes.data(), 0);
  write_output(bytes.data(), 8);
  EXPECT_EQ(emitted,
            (std::vector<uint64_t>{9, 0x8877665544332211, 0x99, 0, 8, 0x8877665544332211}));
}

}  // namespace
