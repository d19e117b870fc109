/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_LANES_H
#define BT_LANES_H
/* Layer 2, kernels only. A vector of doubles, one grid line or one grid point per lane, for the
 * instruction set that this object is compiled for. The arithmetic is +, -, *, / of the compiler's
 * vector types, never contracted, and explicit fused multiply-adds: so every width and instruction
 * set gives the same bits per lane. Intrinsics for fma, because gcc 12 splits a loop of fma over a
 * 64-byte vector into two halves. */
#include <stdint.h>
#include <string.h>

#if defined __AVX512F__
#include <immintrin.h>
#define LANES 8
typedef double vd __attribute__((vector_size(64)));
static inline vd vfma(vd a, vd b, vd c)
{
    return (vd)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
static inline vd vfnma(vd a, vd b, vd c)
{
    return (vd)_mm512_fnmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
#elif defined __FMA__
#include <immintrin.h>
#define LANES 4
typedef double vd __attribute__((vector_size(32)));
static inline vd vfma(vd a, vd b, vd c)
{
    return (vd)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
static inline vd vfnma(vd a, vd b, vd c)
{
    return (vd)_mm256_fnmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
#elif defined __ARM_FEATURE_SVE_BITS && __ARM_FEATURE_SVE_BITS > 128
#include <arm_sve.h>
#define LANES (__ARM_FEATURE_SVE_BITS / 64)
typedef double vd __attribute__((vector_size(LANES * 8)));
typedef svfloat64_t fixed_ __attribute__((arm_sve_vector_bits(__ARM_FEATURE_SVE_BITS)));
static inline vd vfma(vd a, vd b, vd c)
{
    return (vd)(fixed_)svmla_f64_x(svptrue_b64(), (fixed_)c, (fixed_)a, (fixed_)b);
}
static inline vd vfnma(vd a, vd b, vd c)
{
    return (vd)(fixed_)svmls_f64_x(svptrue_b64(), (fixed_)c, (fixed_)a, (fixed_)b);
}
#elif defined __aarch64__
/* A vector is one register: gcc 12 takes those of two apart and goes through memory. */
#include <arm_neon.h>
#define LANES 2
typedef double vd __attribute__((vector_size(16)));
static inline vd vfma(vd a, vd b, vd c)
{
    return (vd)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
}
static inline vd vfnma(vd a, vd b, vd c)
{
    return (vd)vfmsq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
}
#else
/* Machines without fused multiply-add in the baseline: fma() of the C library, slow but exact. */
#define LANES 4
typedef double vd __attribute__((vector_size(32)));
static inline vd vfma(vd a, vd b, vd c)
{
    for (int v = 0; v < LANES; v++)
        c[v] = __builtin_fma(a[v], b[v], c[v]);
    return c;
}
static inline vd vfnma(vd a, vd b, vd c)
{
    return vfma(-a, b, c);
}
#endif

static inline vd vload(const double *p)
{
    vd v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void vstore(double *p, vd v)
{
    memcpy(p, &v, sizeof v);
}

static inline vd vset(double x)
{
    return x - (vd){0};
}

/* Stores the first nv lanes. */
static inline void vstore_n(double *p, vd v, int nv)
{
    if (nv == LANES) {
        vstore(p, v);
        return;
    }
    for (int i = 0; i < nv; i++)
        p[i] = v[i];
}

/* Lanes n .. n + LANES - 1 of lo and hi side by side; n is a constant, 0 .. LANES. */
#if LANES == 8
#define VSHIFT(lo, hi, n)                                                                          \
    __builtin_shufflevector(lo, hi, (n), (n) + 1, (n) + 2, (n) + 3, (n) + 4, (n) + 5, (n) + 6,     \
                            (n) + 7)
#elif LANES == 4
#define VSHIFT(lo, hi, n) __builtin_shufflevector(lo, hi, (n), (n) + 1, (n) + 2, (n) + 3)
#else
#define VSHIFT(lo, hi, n) __builtin_shufflevector(lo, hi, (n), (n) + 1)
#endif

/* The vectors n lanes before and after the aligned vector `at` of a row, which is at p; n is a constant. With 256
 * bits of x86 a shuffle across the halves takes two instructions: reading once more takes less. */
#if defined __AVX2__ && LANES == 4
#define VBEFORE(p, at, n) vload((p) - (n))
#define VAFTER(p, at, n)  vload((p) + (n))
#else
#define VBEFORE(p, at, n) VSHIFT(vload((p)-LANES), at, LANES - (n))
#define VAFTER(p, at, n)  VSHIFT(at, vload((p) + LANES), n)
#endif

/* p, as an address that the compiler keeps in a register: components are reached from it by index registers, instead of by
 * an addition each. */
static inline const double *vbase(const double *p)
{
    __asm__("" : "+r"(p));
    return p;
}

/* Transposes a LANES x LANES block: afterwards lane y of v[x] is what lane x of v[y] was. */
#if LANES == 8
#define MIX(a, b, ...)                                                                             \
    do {                                                                                           \
        vd lo_ = __builtin_shufflevector(a, b, __VA_ARGS__);                                       \
        vd hi_ = __builtin_shufflevector(a, b, MIX_HIGH(__VA_ARGS__));                             \
        a = lo_, b = hi_;                                                                          \
    } while (0)
#define MIX_HIGH(a, b, c, d, e, f, g, h)                                                           \
    MIX_UP(a), MIX_UP(b), MIX_UP(c), MIX_UP(d), MIX_UP(e), MIX_UP(f), MIX_UP(g), MIX_UP(h)
static inline void vtranspose(vd v[LANES])
{
#define MIX_UP(x) ((x) + 1)
    for (int i = 0; i < 8; i += 2)
        MIX(v[i], v[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
#undef MIX_UP
#define MIX_UP(x) ((x) + 2)
    for (int i = 0; i < 8; i += 4) {
        MIX(v[i], v[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        MIX(v[i + 1], v[i + 3], 0, 1, 8, 9, 4, 5, 12, 13);
    }
#undef MIX_UP
#define MIX_UP(x) ((x) + 4)
    for (int i = 0; i < 4; i++)
        MIX(v[i], v[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
#undef MIX_UP
}
#elif LANES == 2
static inline void vtranspose(vd v[LANES])
{
    vd lo = __builtin_shufflevector(v[0], v[1], 0, 2);
    vd hi = __builtin_shufflevector(v[0], v[1], 1, 3);
    v[0] = lo, v[1] = hi;
}
#else
static inline void vtranspose(vd v[LANES])
{
    for (int i = 0; i < 4; i += 2) {
        vd lo = __builtin_shufflevector(v[i], v[i + 1], 0, 4, 2, 6);
        vd hi = __builtin_shufflevector(v[i], v[i + 1], 1, 5, 3, 7);
        v[i] = lo, v[i + 1] = hi;
    }
    for (int i = 0; i < 2; i++) {
        vd lo = __builtin_shufflevector(v[i], v[i + 2], 0, 1, 4, 5);
        vd hi = __builtin_shufflevector(v[i], v[i + 2], 2, 3, 6, 7);
        v[i] = lo, v[i + 2] = hi;
    }
}
#endif

#endif
