// The pool of a worker, kept from job to job: planning a device, locking pages and filling twiddle
// tables costs a few tenths of a second, giving the provers another program's key milliseconds.
#pragma once

#include <functional>
#include <memory>

#include "daemon/pipeline/local_pool.hpp"
#include "daemon/worker/codec.hpp"

namespace epochd {

/// Threads: one at a time.
class KeptPool {
 public:
  /// Makes a pool on a device. Errors: throws a std::exception that says why there is none.
  using MakePool = std::function<std::unique_ptr<LocalPool>(const PoolJob&, int device)>;

  explicit KeptPool(MakePool make);
  ~KeptPool();

  /// The pool for this job, until it is let go: then what is not begun is dropped, and what is
  /// being proved waited for. One that is kept is used again if it suits. Pre: the last job's is
  /// gone; this outlives it. Errors: MakePool's, and those of a program that cannot be proved.
  std::shared_ptr<ProverPool> open(const OpenRequest& request);
  /// Gives up the memory of the pool and the program. Pre: no job is open.
  void release();

 private:
  struct Program;
  struct Settings {
    int device = -1;
    RunParams params;
    Residency residency = Residency::kDeviceOnly;
    u32 in_flight = 0;
  };
  bool suits(const OpenRequest& request) const;
  bool take(const PoolJob& job);

  MakePool make_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<LocalPool> pool_;  ///< proves program_
  Settings settings_;                ///< of pool_
};

}  // namespace epochd
