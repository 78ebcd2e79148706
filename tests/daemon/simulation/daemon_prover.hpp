// A prover whose proofs are hashes, whose time is the scheduler's, and whose failures are the
// seed's.
#pragma once

#include "daemon/pipeline/job_prover.hpp"
#include "tests/daemon/simulation/ledger.hpp"

namespace epochd::simulation {

/// Told what the prover does, on the thread of the job.
class ProverWatcher {
 public:
  virtual ~ProverWatcher() = default;
  virtual void begins(const JobKey& key) = 0;  ///< from here on a crash is the job's
  virtual void proving(const JobKey& key, u64 label) = 0;
  virtual void proved(u64 label) = 0;
  virtual void resumed() = 0;
  virtual void failed(bool is_internal) = 0;  ///< in a way that may pass
  virtual void leaves() = 0;                  ///< verified, stopped, refused: the handler goes on
};

/// `pace_s`: the longest time an epoch usually takes. `may_fail`: now and then something is lost.
JobProverFactory make_daemon_prover(Scheduler& scheduler, FileSystem& fs, ProverWatcher& watcher,
                                    double pace_s, bool may_fail);

}  // namespace epochd::simulation
