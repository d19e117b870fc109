/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/solver/field.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/err.h"
#include "base/mem.h"
#include "bt/solver/problem.h"

#define LINE       8                 /* doubles in 64 bytes */
#define HUGE_BYTES ((size_t)2 << 20) /* of the usual huge page */

double *bt_doubles(int64_t n)
{
    const size_t bytes = (size_t)((n + LINE - 1) / LINE * LINE + LINE) * sizeof(double);
    const size_t align = bytes < HUGE_BYTES ? LINE * sizeof(double) : HUGE_BYTES;
    void *p;
    if (posix_memalign(&p, align, bytes) != 0) return NULL;
    /* Advice, for as many huge pages as lie in the array as a whole. */
    if (align == HUGE_BYTES) (void)madvise(p, bytes / align * align, MADV_HUGEPAGE);
    return p;
}

int bt_field_new(struct bt_field *f, const int64_t lo[3], const int64_t hi[3], double fill)
{
    const int64_t rows = hi[1] - lo[1], planes = hi[2] - lo[2];
    f->sm = LINE * ((hi[0] - lo[0] + LINE - 1) / LINE | 1); /* an odd number of cache lines */
    f->sj = BT_NCOMP * f->sm;
    f->sk = f->sj * rows;
    /* Cells before 0 of a row lie in the padding of the row before; one line before the first row,
     * two after the last one for vectors that overrun it. */
    const int64_t n = f->sk * planes + 3 * LINE;
    f->bytes = n * (int64_t)sizeof(double);
    f->block = bt_doubles(n);
    if (!f->block)
        return mem_error("a block of %lld bytes; use more ranks or hosts", (long long)f->bytes);
    f->p = f->block + LINE - lo[2] * f->sk - lo[1] * f->sj;
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < planes; k++) {
        const int64_t first = k == 0 ? 0 : LINE + k * f->sk;
        const int64_t end = k == planes - 1 ? n : LINE + (k + 1) * f->sk;
        for (int64_t i = first; i < end; i++)
            f->block[i] = fill;
    }
    return 0;
}

void bt_field_free(struct bt_field *f)
{
    free(f->block);
    f->block = NULL;
}
