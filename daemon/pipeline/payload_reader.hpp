// Stored epochs read back for the bundle and the global proof: in order, several at a time, because
// checksums and decoding would keep a device waiting.
#pragma once

#include <functional>

#include "daemon/pipeline/epoch_payload.hpp"
#include "prover/core/parallel.hpp"

namespace epochd {

/// Holds two epochs a thread, however many there are. Threads: one at a time.
class PayloadReader {
 public:
  using Loader = std::function<Bytes(u64 label)>;
  /// `load` is called on the threads of `parallel`, for epochs 1 to `epochs`. Pre: what it gives
  /// was made, or accepted, by this prover; it and `parallel` outlive this.
  PayloadReader(const Loader& load, u32 epochs, const Parallel& parallel)
      : load_(load), epochs_(epochs), parallel_(parallel) {}

  /// Until the next call. Quick where labels come in order. Errors: what `load` throws.
  const EpochPayload& at(u32 label);

 private:
  const Loader& load_;
  u32 epochs_;
  const Parallel& parallel_;
  u32 first_ = 1;  ///< label of the first in the window
  std::vector<EpochPayload> window_;
};

}  // namespace epochd
