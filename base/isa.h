/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_ISA_H
#define BASE_ISA_H
/* Layer 0. For sources that the Makefile compiles once per instruction set: whether this processor
 * has the one that the object is compiled for, and names made of the set's name. */
#include <stdbool.h>
#if defined __ARM_FEATURE_SVE_BITS
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

/* Local. */
static inline bool isa_supported(void)
{
#if defined __AVX512F__
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
#elif defined __AVX2__
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#elif defined __ARM_FEATURE_SVE_BITS && __ARM_FEATURE_SVE_BITS > 0
    /* Vectors of exactly this length. */
    return (getauxval(AT_HWCAP) & HWCAP_SVE) &&
           (prctl(PR_SVE_GET_VL) & PR_SVE_VL_LEN_MASK) * 8 == __ARM_FEATURE_SVE_BITS;
#else
    return true;
#endif
}

/* ISA_JOIN(a_, b): the identifier a_b; ISA_TEXT(a): "a"; macros among the arguments are replaced.
 */
#define ISA_JOIN_(a, b) a##b
#define ISA_JOIN(a, b)  ISA_JOIN_(a, b)
#define ISA_TEXT_(a)    #a
#define ISA_TEXT(a)     ISA_TEXT_(a)

#endif
