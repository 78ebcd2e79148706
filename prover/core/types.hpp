// Fixed-width integer names used across the project. The .h headers, because the freestanding
// RISC-V toolchain that compiles the verifier has no C++ library.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace epochd {

using u8 = ::uint8_t;
using u16 = ::uint16_t;
using u32 = ::uint32_t;
using u64 = ::uint64_t;
using i32 = ::int32_t;
using i64 = ::int64_t;
__extension__ using u128 = unsigned __int128;
__extension__ using i128 = __int128;
using ::size_t;

}  // namespace epochd
