"""First part of every kernel text: definitions that NVRTC, which has no header files, lacks.

A C compiler makes the emulation from the same text: then the keywords of CUDA are empty, and the threads of the grid
run one after the other.
"""

from __future__ import annotations

HEAD = r"""
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#ifdef __CUDACC_RTC__
typedef int int32_t;
typedef long long int64_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define INT32_C(x) (x)
#define INT64_C(x) (x##LL)
#define UINT32_C(x) (x##U)
#define UINT64_C(x) (x##ULL)
#define INT32_MAX 2147483647
#define INT32_MIN (-INT32_MAX - 1)
#define UINT32_MAX 4294967295U
#define INT64_MAX 9223372036854775807LL
#define INT64_MIN (-INT64_MAX - 1)
#define UINT64_MAX 18446744073709551615ULL
#define INFINITY __longlong_as_double(0x7ff0000000000000LL)
#define NAN __longlong_as_double(0x7ff8000000000000LL)
#else
#include <cmath>
#include <cstdint>
#endif
/* An instruction, where the function of that name would have to be inlined thousands of times. */
#define fma __fma_rn
#define KERNEL extern "C" __global__ void
#define INLINE static __device__ __forceinline__
#define SEPARATE static __device__ __noinline__
#define TABLE static __device__ const
/* Registers that overflow go to shared memory first (CUDA 13). */
#if __CUDACC_VER_MAJOR__ >= 13
#define SPILL_TO_SHARED asm volatile(".pragma \"enable_smem_spilling\";");
#else
#define SPILL_TO_SHARED
#endif
/* Values set aside: near in shared memory, far in local memory. The compiler must not see that they are the same. */
#define PARKING(far)                                                               \
  extern __shared__ double near_slots[];                                           \
  const unsigned near_at = (unsigned)__cvta_generic_to_shared(near_slots + threadIdx.x); \
  double far_slots[far];                                                           \
  unsigned long long far_at;                                                       \
  asm("cvta.to.local.u64 %0, %1;" : "=l"(far_at) : "l"(far_slots));
#define PARK(v, s) asm volatile("st.shared.f64 [%0+%1], %2;" ::"r"(near_at), "n"((s) * BLOCK * 8), "d"(v));
#define TAKE(v, s) double v; asm volatile("ld.shared.f64 %0, [%1+%2];" : "=d"(v) : "r"(near_at), "n"((s) * BLOCK * 8));
#define PARK_FAR(v, s) asm volatile("st.local.f64 [%0+%1], %2;" ::"l"(far_at), "n"((s) * 8), "d"(v));
#define TAKE_FAR(v, s) double v; asm volatile("ld.local.f64 %0, [%1+%2];" : "=d"(v) : "l"(far_at), "n"((s) * 8));
#define BACK(v, s) asm volatile("ld.shared.f64 %0, [%1+%2];" : "=d"(v) : "r"(near_at), "n"((s) * BLOCK * 8));
#define BACK_FAR(v, s) asm volatile("ld.local.f64 %0, [%1+%2];" : "=d"(v) : "l"(far_at), "n"((s) * 8));
#define ANEW(v, x) double v = x; asm volatile("" : "+d"(v));
#define TOGETHER __syncthreads();
#define WARP_TOGETHER __syncwarp();
INLINE int64_t bits_of(double x) { return __double_as_longlong(x); }
INLINE double number_of(int64_t bits) { return __longlong_as_double(bits); }
/* Newton's method from the processor's first 20 bits: no branch in the middle of the code. The last round brings the
   nearest number (Markstein). */
INLINE double reciprocal(double x) {
  double r, first;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(first) : "d"(x));
  r = fma(fma(-x, first, 1.0), first, first);
  r = fma(fma(-x, r, 1.0), r, r);
  r = fma(fma(-x, r, 1.0), r, r);
  return r == r ? r : first;
}
INLINE double square_root(double x) {
  double y, g, h, r;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  g = x * y;
  h = 0.5 * y;
  r = fma(-g, h, 0.5);
  g = fma(g, r, g);
  h = fma(h, r, h);
  r = fma(-g, h, 0.5);
  g = fma(g, r, g);
  h = fma(h, r, h);
  g = fma(fma(-g, g, x), h, g);
  return fabs(x) < 2.2250738585072014e-308 ? 0.0 * x : x == INFINITY ? x : g;
}
"""

EMULATION = r"""
#else
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#define KERNEL static void
#define INLINE static inline
#define SEPARATE static
#define TABLE static const
#define __launch_bounds__(...)
#define __restrict__ restrict
#define SPILL_TO_SHARED
#define PARKING(far) double near_slots[NEAR], far_slots[far];
#define PARK(v, s) near_slots[s] = v;
#define TAKE(v, s) const double v = near_slots[s];
#define PARK_FAR(v, s) far_slots[s] = v;
#define TAKE_FAR(v, s) const double v = far_slots[s];
#define BACK(v, s) v = near_slots[s];
#define BACK_FAR(v, s) v = far_slots[s];
#define ANEW(v, x) const double v = x;
#define TOGETHER
#define WARP_TOGETHER
typedef struct { unsigned x; } place_in_grid;
static _Thread_local place_in_grid threadIdx, blockIdx;
INLINE double reciprocal(double x) { return 1.0 / x; }
INLINE double square_root(double x) { return sqrt(x); }
INLINE int64_t bits_of(double x) { int64_t bits; memcpy(&bits, &x, sizeof bits); return bits; }
INLINE double number_of(int64_t bits) { double x; memcpy(&x, &bits, sizeof x); return x; }
#endif
"""
