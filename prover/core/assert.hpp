// EPOCHD_ASSERT states what only our own bug can break; it is always on and aborts. Anything a
// file, a proof, a flag or a device can break is a Result or an exception instead.
#pragma once

namespace epochd {

[[noreturn]] void assertion_failed(const char* expression, const char* file, int line) noexcept;

}  // namespace epochd

#define EPOCHD_ASSERT(expr) \
  ((expr) ? static_cast<void>(0) : ::epochd::assertion_failed(#expr, __FILE__, __LINE__))
#ifdef NDEBUG
#define EPOCHD_DASSERT(expr) static_cast<void>(0)
#else
#define EPOCHD_DASSERT(expr) EPOCHD_ASSERT(expr)
#endif
