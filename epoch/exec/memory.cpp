#include "epoch/exec/memory.hpp"

#include <algorithm>

#include "prover/core/assert.hpp"

namespace epochd {

GuestMemory::GuestMemory() : reservation_(kAddressEnd) {}

void GuestMemory::place(u64 address, std::span<const u8> bytes) {
  if (bytes.empty()) return;
  std::memcpy(this->bytes() + address, bytes.data(), bytes.size());
  loaded_.push_back({address, address + bytes.size()});
}

void GuestMemory::load_image(const ElfImage& image) {
  for (const ElfSegment& segment : image.segments) place(segment.address, segment.bytes);
}

void GuestMemory::load_input(std::span<const u8> input) {
  EPOCHD_ASSERT(input.size() <= kInputBytesMax);
  const u64 length = input.size();
  place(kInputBase, {reinterpret_cast<const u8*>(&length), sizeof length});
  place(kInputBase + 8, input);
}

bool GuestMemory::is_loaded(u32 first, u32 count) const {
  const u64 begin = u64{first} * 8, end = begin + u64{count} * 8;
  return std::ranges::any_of(
      loaded_, [&](const Range& range) { return range.begin < end && begin < range.end; });
}

}  // namespace epochd
