/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_STAT_IMPL_H
#define BASE_STAT_IMPL_H
/* Floor 0. What the files of base/stat share. All functions are local. */
#include <gsl/gsl_rng.h>
#include <stdint.h>

enum { STAT_RESAMPLES = 4000 };

/* Records that there is no memory for n values. Returns ERR_NOMEM. */
int stat_no_memory(int n);

/* A sorted copy of x[0..n-1], n >= 1, freed by the caller; NULL without memory. */
double *stat_sorted_copy(const double *x, int n);

/* A generator, freed with gsl_rng_free; NULL without memory. */
gsl_rng *stat_rng(uint64_t seed);

/* The median of n values drawn from x[0..n-1] with replacement. draw: [out] room for n values. */
double stat_resampled_median(gsl_rng *rng, const double *x, double *draw, int n);

#endif
