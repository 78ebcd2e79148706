// Host/device markers. A function marked EPOCHD_HD is compiled for both by nvcc and is plain C++
// elsewhere, so that chips and field arithmetic are written once. EPOCHD_HD_INLINE is also always
// inlined: scalar code that files compiled for different instruction sets share must leave no
// out-of-line copy, since the linker would keep only one of them.
#pragma once

#ifdef __CUDACC__
#define EPOCHD_HD __host__ __device__
#define EPOCHD_INLINE __forceinline__
#define EPOCHD_HD_INLINE __host__ __device__ __forceinline__
#else
#define EPOCHD_HD
#define EPOCHD_INLINE inline __attribute__((always_inline))
#define EPOCHD_HD_INLINE inline __attribute__((always_inline))
#endif
