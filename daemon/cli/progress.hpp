// How far a proof is: a bar on a terminal, a line a stage otherwise. On stderr.
#pragma once

#include "daemon/cli/text.hpp"
#include "daemon/pipeline/run_job.hpp"

namespace epochd {

class ProgressMonitor : public JobMonitor {
 public:
  ProgressMonitor();
  void enter(Phase phase) override;
  void surveyed(u64 count) override;
  void saved(u64 label, bool was_stored) override;
  void check() override {}

 private:
  void clear_bar();

  bool is_terminal_;
  bool has_bar_ = false;
  u64 count_ = 0;  ///< epochs; 0: not known yet
  Stopwatch proving_;
};

}  // namespace epochd
