// Where the records of one table after the other go on the device. Host code without CUDA.
#pragma once

#include "prover/core/assert.hpp"
#include "prover/core/types.hpp"

namespace epochd::cuda {

/// Hands out pieces of a place front to back, and from the front again when it is used up.
class RecordRing {
 public:
  struct Piece {
    size_t at;
    bool is_reused;  ///< earlier pieces were here: whoever reads those has to be done
  };

  RecordRing() = default;
  explicit RecordRing(size_t bytes) : bytes_(bytes) {}

  /// Pre: bytes <= the ring's.
  Piece next(size_t bytes) {
    EPOCHD_ASSERT(bytes <= bytes_);
    const bool is_reused = bytes > bytes_ - used_;
    const size_t at = is_reused ? 0 : used_;
    const size_t end = (at + bytes + kAlignment - 1) / kAlignment * kAlignment;
    used_ = end < bytes_ ? end : bytes_;
    return {at, is_reused};
  }

 private:
  static constexpr size_t kAlignment = 256;

  size_t bytes_ = 0;
  size_t used_ = 0;
};

}  // namespace epochd::cuda
