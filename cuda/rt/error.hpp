// CUDA failures as exceptions that say what kind of failure they are, because the answers differ:
// run the epoch again, end this process, or fix the memory plan.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace epochd::cuda {

enum class ErrorKind {
  kTransient,  ///< this call failed, the context works: the epoch can be tried again
  kSticky,     ///< the context is lost: only ending the process clears it
  kOutOfPlan,  ///< memory ran out although the plan said it would not
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, cudaError_t code, const std::string& what)
      : std::runtime_error(what), kind_(kind), code_(code) {}
  ErrorKind kind() const { return kind_; }
  cudaError_t code() const { return code_; }

 private:
  ErrorKind kind_;
  cudaError_t code_;
};

/// Throws Error unless code is cudaSuccess.
void check(cudaError_t code, const char* expression, const char* file, int line);

}  // namespace epochd::cuda

#define EPOCHD_CUDA_CHECK(expr) ::epochd::cuda::check((expr), #expr, __FILE__, __LINE__)
