// Host/device markers. A function marked EPOCHD_HD is compiled for both by nvcc and is plain C++
// elsewhere, so that chips and field arithmetic are written once.
#pragma once

#ifdef __CUDACC__
#define EPOCHD_HD __host__ __device__
#define EPOCHD_INLINE __forceinline__
#else
#define EPOCHD_HD
#define EPOCHD_INLINE inline __attribute__((always_inline))
#endif
