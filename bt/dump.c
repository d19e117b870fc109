/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/dump.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/watch.h"
#include "bt/solver/problem.h"

#define ROWS 8 /* taken at a time: their values stay in the core's own caches */

int bt_dump_new(struct bt_dump *d, int64_t n)
{
    const int64_t words = digest_words(n);
    *d = (struct bt_dump){.n = n, .threads = omp_get_max_threads()};
    d->digest = mem_new(words, sizeof *d->digest, "the digests of a dump");
    d->part = mem_new(d->threads * words, sizeof *d->part, "the digests of %d threads", d->threads);
    return d->digest && d->part ? 0 : ERR_NOMEM;
}

void bt_dump_free(struct bt_dump *d)
{
    free(d->digest);
    free(d->part);
    d->digest = d->part = NULL;
}

/* A few rows of a plane, into file order and into the digest. digest_s: [in,out] seconds of a pass for the digest
 * alone. The clock is not read where there is none, since a row of a small class takes no longer than that. */
static void take_rows(struct bt_dump *d, const struct bt_state *x, const struct io_view *v,
                      struct io_rows rows, void *staged, double *digest_s)
{
    const struct io_field from = {x->u, x->sm, x->sj, x->sk};
    uint64_t *part = d->part + omp_get_thread_num() * digest_words(d->n);
    if (staged && io_view_take_rows(v, &from, rows, staged, part)) return;
    if (staged) io_view_stage_rows(v, &from, rows, staged);
    const double t0 = watch_now();
    for (int64_t j = rows.j0; j < rows.j1; j++)
        for (int m = 0; m < BT_NCOMP; m++)
            digest_row(part, d->n, x->lo[0], x->n[0], x->lo[1] + j, x->lo[2] + rows.k, m,
                       x->u + rows.k * x->sk + j * x->sj + m * x->sm);
    *digest_s += watch_now() - t0;
}

void bt_dump_take(struct bt_dump *d, const struct bt_state *x, const struct io_view *v,
                  void *staged)
{
    const int64_t words = digest_words(d->n), blocks = (x->n[1] + ROWS - 1) / ROWS;
    const double start = watch_now();
    double digesting_s = 0; /* of the first thread */
    memset(d->part, 0, (size_t)(d->threads * words) * sizeof *d->part);
#pragma omp parallel num_threads(d->threads)
    {
        double digest_s = 0;
#pragma omp for schedule(static) collapse(2) nowait
        for (int64_t k = 0; k < x->n[2]; k++)
            for (int64_t b = 0; b < blocks; b++) {
                const int64_t end = (b + 1) * ROWS < x->n[1] ? (b + 1) * ROWS : x->n[1];
                take_rows(d, x, v, (struct io_rows){k, b * ROWS, end}, staged, &digest_s);
            }
#pragma omp master
        digesting_s = digest_s;
    }
    const double t0 = watch_now(); /* all threads are done */
    d->stage_s += t0 - start - digesting_s;
    d->digest_s += digesting_s;
    memset(d->digest, 0, (size_t)words * sizeof *d->digest);
    for (int t = 0; t < d->threads; t++)
        for (int64_t i = 0; i < words; i++)
            d->digest[i] += d->part[t * words + i];
    d->digest_s += watch_now() - t0;
}
