/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFF_ORDER_H
#define BEFF_ORDER_H
/* Floor 2, free of MPI. Orders in which processes stand in a row. All functions are local. */
#include <stdint.h>

/* Random orders that follow from a seed. */
struct beff_shuffle;

/* Returns NULL when there is no memory. */
struct beff_shuffle *beff_shuffle_begin(uint64_t seed);

/* order: [out] n numbers 0..n-1, every order equally likely (Fisher and Yates; GSL). Each call
 * gives the next one of the seed's sequence. */
void beff_shuffle_next(struct beff_shuffle *s, int n, int *order);
void beff_shuffle_end(struct beff_shuffle *s);

/* 0, 1, 2, ... */
void beff_order_row(int n, int *order);

/* 0, n-1, 1, n-2, 2, ...: the worst ring where neighbouring ranks are near each other. */
void beff_order_worst(int n, int *order);

#endif
