// A prover whose "proofs" are hashes, for tests of everything around it. The "program" is a line of
// words:
//   epochs=5 pause_ms=10 fault=guest|cycles|memory|system|internal|disk|verify|global at=3
// The fault happens at epoch `at` (0: while executing). The bundle is never accepted with `verify`,
// and not the first time with `global`.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "daemon/pipeline/backend_choice.hpp"
#include "daemon/pipeline/job_prover.hpp"

namespace epochd {

/// What the provers of one test did.
struct FakeLog {
  std::atomic<u64> proved = 0;
  std::atomic<u64> accepted = 0;
  std::atomic<u64> assembled = 0;
  std::atomic<u64> verified = 0;
  std::atomic<u32> proving = 0;           ///< provers that have the turn
  std::atomic<u32> proving_max = 0;       ///< at once
  std::atomic<u32> turns_given_back = 0;  ///< because another job was to prove
  std::mutex mutex;
  std::vector<std::string> order;  ///< the programs, each time one gets the turn

  void clear() {
    proved = accepted = assembled = verified = 0;
    order.clear();
  }
};

/// Faults that pass: the n-th and later provers do not have them. `log` may be null.
JobProverFactory make_fake_factory(FakeLog* log = nullptr, u32 faulty_provers = ~0u);

/// A machine without devices: the fake prover proves on "cpu" alone.
Result<std::vector<DeviceInfo>, DeviceQueryError> no_devices();

/// The bundle an uninterrupted run makes.
Bytes fake_bundle(const ProofRequest& request);

}  // namespace epochd
