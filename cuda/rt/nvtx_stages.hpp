// Stages as NVTX ranges, for the timelines of NVIDIA's profilers. Costs next to nothing while no
// profiler is attached.
#pragma once

#include "prover/core/stage.hpp"

namespace epochd::cuda {

/// Ranges of the calling thread.
class NvtxStages : public StageListener {
 public:
  void stage_begins(const char* name) override;
  void stage_ends(const char* name) override;
};

}  // namespace epochd::cuda
