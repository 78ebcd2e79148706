#include "daemon/pipeline/payload_reader.hpp"

#include <algorithm>

#include "prover/core/assert.hpp"

namespace epochd {

const EpochPayload& PayloadReader::at(u32 label) {
  EPOCHD_ASSERT(label >= 1 && label <= epochs_);
  if (label < first_ || label - first_ >= window_.size()) {
    window_.clear();  // before the next ones are loaded: this is all there is room for
    std::vector<EpochPayload> next(std::min(2 * parallel_.threads(), epochs_ - label + 1));
    parallel_.for_ranges(next.size(), 1, [&](size_t index, size_t) {
      std::optional<EpochPayload> payload = decode_payload(load_(label + index));
      EPOCHD_ASSERT(payload.has_value());
      next[index] = *std::move(payload);
    });
    window_ = std::move(next);
    first_ = label;
  }
  return window_[label - first_];
}

}  // namespace epochd
