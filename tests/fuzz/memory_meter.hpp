// How much memory a piece of code takes on this thread, by the sanitizers' allocator: malloc and
// operator new alike.
#pragma once

#include <cstddef>

namespace epochd::fuzz {

/// Counts from its construction on. Meters do not nest.
class MemoryMeter {
 public:
  MemoryMeter();
  /// The most bytes held at once since construction, beyond those held then.
  size_t peak_bytes() const;
};

}  // namespace epochd::fuzz
