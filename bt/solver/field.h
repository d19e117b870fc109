/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_FIELD_H
#define BT_FIELD_H
/* Layer 2. Of the solver, and of readings in other shapes (bt/read.h). A block of five-component values, [k][j][m][i] with i fastest:
 * one (j,k) row of all five components is contiguous. Rows are padded to an odd number of 64-byte
 * lines, so that neighbouring rows and planes spread over the sets of a cache, and the first
 * interior cell of every row is 64-byte aligned. */
#include <stdint.h>

struct bt_field {
    double *block;      /* what is freed */
    double *p;          /* cell (0,0,0) in the field's own local indices, component 0 */
    int64_t sm, sj, sk; /* strides in values of m, j, k; of i: 1 */
    int64_t bytes;
};

/* Allocates cells lo[q] .. hi[q]-1 along x, y, z (lo <= 0) and fills everything, padding included,
 * with a value, planes touched first by the threads that will use them. ERR_NOMEM. Cell (0,0,0) is
 * 64-byte aligned; vectors may overrun the last cell of a row by up to 10 values. */
int bt_field_new(struct bt_field *f, const int64_t lo[3], const int64_t hi[3], double fill);
void bt_field_free(struct bt_field *f);

/* Offset in values of component m of cell (i,j,k) from p. */
static inline int64_t bt_field_at(const struct bt_field *f, int64_t k, int64_t j, int64_t m,
                                  int64_t i)
{
    return k * f->sk + j * f->sj + m * f->sm + i;
}

/* 64-byte aligned array of doubles, not filled; on huge pages where it fills some and the system
 * gives them. NULL when there is no room. */
double *bt_doubles(int64_t n);

#endif
