#include "prover/core/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace epochd {

void assertion_failed(const char* expression, const char* file, int line) noexcept {
  std::fprintf(stderr, "epochd: internal error: `%s` does not hold at %s:%d. This is a bug.\n",
               expression, file, line);
  std::abort();
}

}  // namespace epochd
