// Where capsules go to be proved: threads of this process, or worker processes with a device each.
// The pipeline keeps as many capsules in a pool as it takes to keep it busy, and takes answers in
// whatever order they come.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/daemon_settings.hpp"
#include "epoch/capsule/capsule.hpp"
#include "epoch/continuation/prove_global.hpp"
#include "epoch/continuation/prover_usage.hpp"
#include "epoch/exec/code.hpp"

namespace epochd {

/// What a pool is opened for. All it points to outlives the pool.
struct PoolJob {
  std::span<const u8> elf;  ///< a worker process makes its own key from it
  std::string elf_name;     ///< for messages
  const ProvingKey* key = nullptr;
  const Code* code = nullptr;
  RunParams params;
  Residency residency = Residency::kDeviceOnly;
  u32 in_flight = 0;  ///< epochs on a device at once; 0: as many as gain something
};

/// A stage of an epoch's way, in nanoseconds of CLOCK_MONOTONIC, which all processes of a host
/// share.
struct StageSpan {
  std::string name;
  i64 begin_ns = 0;
  i64 end_ns = 0;
  u32 lane = 0;  ///< of the pool: spans of one lane do not overlap, but for nesting
};

struct ProvedEpoch {
  EpochProof proof;
  std::vector<BoundaryRecord> boundary;
  std::vector<StageSpan> stages;
};

/// Exactly one of the two is there.
struct PoolAnswer {
  std::optional<ProvedEpoch> epoch;
  std::string error;  ///< why not: what failed and where; the capsule may be submitted again
  bool is_out_of_memory = false;  ///< the host's memory, with the error: not the device's doing
};

class ProverPool {
 public:
  using Done = std::function<void(PoolAnswer)>;

  /// Waits for what is being proved; what is not begun is dropped, without an answer.
  virtual ~ProverPool() = default;

  /// Capsules that keep it busy. More may be submitted; they wait.
  virtual u32 capacity() const = 0;
  /// Returns at once. `done` is called once, from a thread of the pool, unless the pool ends first;
  /// it must not throw, wait, or call the pool's destructor. Threads: any.
  virtual void submit(std::shared_ptr<const Capsule> capsule, Done done) = 0;
  /// See GlobalProver::prove. The callbacks are called while the caller waits, one at a time; what
  /// they throw ends the proof and comes out. Pre: nothing is submitted. Errors: throws a
  /// std::exception when what proves failed.
  virtual bool prove_global(const BoundaryStore& boundaries, const RunMemory::Ends& ends,
                            const std::function<void(std::span<const u64>)>& emit,
                            const std::function<bool()>& cancelled) = 0;
  /// Threads: any.
  virtual ProverUsage usage() const = 0;
};

/// Errors: throws a std::exception that says why there is no such pool.
using PoolFactory = std::function<std::unique_ptr<ProverPool>(const PoolJob&)>;

}  // namespace epochd
