// The SDK's memcpy, memmove, memset and memcmp, compiled for the host under other names, against
// std's over every small length and alignment, overlaps included.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

extern "C" {
void* guest_memcpy(void* to, const void* from, size_t bytes);
void* guest_memmove(void* to, const void* from, size_t bytes);
void* guest_memset(void* to, int value, size_t bytes);
int guest_memcmp(const void* left, const void* right, size_t bytes);
}

namespace {

using Buffer = std::array<uint8_t, 96>;

Buffer numbered() {
  alignas(8) Buffer buffer;
  for (size_t i = 0; i < buffer.size(); ++i) buffer[i] = static_cast<uint8_t>(3 * i + 1);
  return buffer;
}

TEST(GuestMemory, CopiesExactlyTheBytesAsked) {
  alignas(8) const Buffer from = numbered();
  for (size_t to_at = 0; to_at < 9; ++to_at) {
    for (size_t from_at = 0; from_at < 9; ++from_at) {
      for (size_t bytes = 0; bytes < 40; ++bytes) {
        alignas(8) Buffer got{};
        Buffer want{};
        std::copy_n(from.begin() + from_at, bytes, want.begin() + to_at);
        EXPECT_EQ(guest_memcpy(got.data() + to_at, from.data() + from_at, bytes),
                  got.data() + to_at);
        ASSERT_EQ(got, want) << to_at << " " << from_at << " " << bytes;
      }
    }
  }
}

TEST(GuestMemory, MovesOverlappingRanges) {
  for (size_t to_at = 0; to_at < 24; ++to_at) {
    for (size_t from_at = 0; from_at < 24; ++from_at) {
      for (size_t bytes = 0; bytes < 40; ++bytes) {
        alignas(8) Buffer got = numbered();
        const Buffer source = numbered();
        Buffer want = source;
        std::copy_n(source.begin() + from_at, bytes, want.begin() + to_at);
        guest_memmove(got.data() + to_at, got.data() + from_at, bytes);
        ASSERT_EQ(got, want) << to_at << " " << from_at << " " << bytes;
      }
    }
  }
}

TEST(GuestMemory, SetsExactlyTheBytesAsked) {
  for (size_t at = 0; at < 9; ++at) {
    for (size_t bytes = 0; bytes < 40; ++bytes) {
      alignas(8) Buffer got{};
      Buffer want{};
      std::fill_n(want.begin() + at, bytes, uint8_t{0xA5});
      guest_memset(got.data() + at, 0x7A5, bytes);
      ASSERT_EQ(got, want) << at << " " << bytes;
    }
  }
}

TEST(GuestMemory, ComparesUnsignedAtTheFirstDifference) {
  for (size_t at = 0; at < 9; ++at) {
    for (size_t bytes = 0; bytes < 40; ++bytes) {
      alignas(8) Buffer left = numbered();
      alignas(8) Buffer right = numbered();
      EXPECT_EQ(guest_memcmp(left.data() + at, right.data() + at, bytes), 0);
      for (size_t i = 0; i < bytes; ++i) {
        right[at + i] = static_cast<uint8_t>(left[at + i] ^ 0x80);
        const bool less = left[at + i] < right[at + i];
        EXPECT_EQ(guest_memcmp(left.data() + at, right.data() + at, bytes) < 0, less);
        EXPECT_EQ(guest_memcmp(right.data() + at, left.data() + at, bytes) > 0, less);
        EXPECT_EQ(guest_memcmp(left.data() + at, right.data() + at, i), 0);
        right[at + i] = left[at + i];
      }
    }
  }
}

}  // namespace
