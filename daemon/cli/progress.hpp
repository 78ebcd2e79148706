// How far a proof is: a bar on a terminal, a line a stage otherwise. On stderr.
#pragma once

#include "daemon/cli/text.hpp"
#include "daemon/pipeline/run_job.hpp"

namespace epochd {

class ProgressMonitor : public JobMonitor {
 public:
  ProgressMonitor();
  void enter(Phase phase) override;
  void epoch(u64 label, u64 count, bool is_stored) override;
  void check() override {}

 private:
  void clear_bar();

  bool is_terminal_;
  bool has_bar_ = false;
  Stopwatch proving_;
};

}  // namespace epochd
