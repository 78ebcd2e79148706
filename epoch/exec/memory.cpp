#include "epoch/exec/memory.hpp"

#include "prover/core/assert.hpp"

namespace epochd {

GuestMemory::GuestMemory() : reservation_(kAddressEnd) {}

void GuestMemory::load_image(const ElfImage& image) {
  for (const ElfSegment& segment : image.segments) {
    if (segment.bytes.empty()) continue;
    std::memcpy(bytes() + segment.address, segment.bytes.data(), segment.bytes.size());
  }
}

void GuestMemory::load_input(std::span<const u8> input) {
  EPOCHD_ASSERT(input.size() <= kInputBytesMax);
  store<u64>(kInputBase, input.size());
  if (!input.empty()) std::memcpy(bytes() + kInputBase + 8, input.data(), input.size());
}

}  // namespace epochd
