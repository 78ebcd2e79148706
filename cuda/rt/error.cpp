#include "cuda/rt/error.hpp"

namespace epochd::cuda {
namespace {

ErrorKind kind_of(cudaError_t code) {
  switch (code) {
    case cudaErrorMemoryAllocation:
      return ErrorKind::kOutOfPlan;
    case cudaErrorInvalidValue:
    case cudaErrorInvalidConfiguration:
    case cudaErrorLaunchOutOfResources:
    case cudaErrorNotReady:
      return ErrorKind::kTransient;
    default:
      return ErrorKind::kSticky;
  }
}

}  // namespace

void check(cudaError_t code, const char* expression, const char* file, int line) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // a non-sticky error must not surface in the next call
  throw Error(kind_of(code), code,
              std::string(cudaGetErrorName(code)) + ": " + cudaGetErrorString(code) + " in " +
                  expression + " at " + file + ":" + std::to_string(line));
}

}  // namespace epochd::cuda
