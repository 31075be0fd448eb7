"""What kernel text begins with: the names that NVRTC, which has no header files, does not know.

Compiled by a C compiler the same text is the emulation: then the words of CUDA mean nothing, and the threads of
the grid are run one after the other.
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
#define LOW_WORD(x) __double2loint(x)
/* Newton's method from the processor's first 20 bits: no branch in the middle of the code. */
INLINE double reciprocal(double x) {
  double r, first;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(first) : "d"(x));
  r = fma(fma(-x, first, 1.0), first, first);
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
INLINE int LOW_WORD(double x) { int64_t bits; memcpy(&bits, &x, sizeof bits); return (int)(uint32_t)bits; }
#endif
"""

# Sine and cosine together: Cody and Waite's reduction, pi/2 in three parts, then the polynomials of FDLIBM. The first
# difference is exact, and the quadrant is in the last bits of the shifted number. CUDA's own functions carry the
# reduction of huge angles with them, and a call in the middle of a large kernel costs registers: angles beyond 2^45 are
# not a number here.
SINE_COSINE = r"""
INLINE void sine_cosine(double x, double *s, double *c) {
  const double shifted = fma(x, 6.36619772367581382433e-01, 6755399441055744.0);
  const double n = shifted - 6755399441055744.0;
  double r = fabs(x) < 35184372088832.0 ? fma(n, -1.57079632679489655800e+00, x) : NAN;
  r = fma(n, -6.12323399573676603587e-17, r);
  r = fma(n, 1.49738490485916983200e-33, r);
  const double z = r * r;
  double p = 1.58969099521155010221e-10, q = -1.13596475577881948265e-11;
  p = fma(p, z, -2.50507602534068634195e-08);
  p = fma(p, z, 2.75573137070700676789e-06);
  p = fma(p, z, -1.98412698298579493134e-04);
  p = fma(p, z, 8.33333333332248946124e-03);
  p = fma(p, z, -1.66666666666666324348e-01);
  q = fma(q, z, 2.08757232129817482790e-09);
  q = fma(q, z, -2.75573143513906633035e-07);
  q = fma(q, z, 2.48015872894767294178e-05);
  q = fma(q, z, -1.38888888888741095749e-03);
  q = fma(q, z, 4.16666666666666019037e-02);
  const double sine = fma(z * r, p, r), cosine = fma(z * z, q, fma(-0.5, z, 1.0));
  const int quadrant = LOW_WORD(shifted);
  const double a = quadrant & 1 ? cosine : sine, b = quadrant & 1 ? sine : cosine;
  *s = quadrant & 2 ? -a : a;
  *c = (quadrant + 1) & 2 ? -b : b;
}
"""
