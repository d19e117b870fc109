/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beff/beff_order.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>

struct beff_shuffle {
    gsl_rng *rng;
};

/* GSL takes a seed of 0 for the generator's default one, 4357; 2^32 is its way to say 0. */
#define SEED_ZERO (UINT64_C(1) << 32)

struct beff_shuffle *beff_shuffle_begin(uint64_t seed)
{
    struct beff_shuffle *s = malloc(sizeof *s);
    gsl_error_handler_t *before = gsl_set_error_handler_off();
    if (s) s->rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_set_error_handler(before);
    if (s && !s->rng) {
        free(s);
        return NULL;
    }
    if (s) gsl_rng_set(s->rng, (unsigned long)(seed ? seed : SEED_ZERO));
    return s;
}

void beff_shuffle_next(struct beff_shuffle *s, int n, int *order)
{
    beff_order_row(n, order);
    gsl_ran_shuffle(s->rng, order, (size_t)n, sizeof *order);
}

void beff_shuffle_end(struct beff_shuffle *s)
{
    if (s) gsl_rng_free(s->rng);
    free(s);
}

void beff_order_row(int n, int *order)
{
    for (int i = 0; i < n; i++)
        order[i] = i;
}

void beff_order_worst(int n, int *order)
{
    for (int i = 0; i < n; i++)
        order[i] = i % 2 ? n - 1 - i / 2 : i / 2;
}
