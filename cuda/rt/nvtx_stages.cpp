#include "cuda/rt/nvtx_stages.hpp"

#include <nvtx3/nvToolsExt.h>

namespace epochd::cuda {

void NvtxStages::stage_begins(const char* name) {
  nvtxRangePushA(name);
}

void NvtxStages::stage_ends(const char*) {
  nvtxRangePop();
}

}  // namespace epochd::cuda
