/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Error and residual norms, [BT] section 10. Squares are summed exactly (base/sum.h), so that the
 * result does not know how the grid is shared. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/par.h"
#include "base/sum.h"
#include "bt/solver/priv.h"

_Static_assert(sizeof(struct sum) % sizeof(int64_t) == 0, "sums travel as arrays of integers");

/* Adds the sums of all threads and ranks; x = sqrt(sum / (N-2)^3) * scale. */
static int finish(struct bt_solver *s, struct sum *part, double scale, double x[BT_NCOMP])
{
    const int words = (int)(sizeof(struct sum) / sizeof(int64_t));
    struct sum total[BT_NCOMP];
    for (int m = 0; m < BT_NCOMP; m++)
        sum_clear(&total[m]);
    for (int t = 0; t < s->threads; t++)
        for (int m = 0; m < BT_NCOMP; m++) {
            sum_carry(&part[t * BT_NCOMP + m]);
            for (int w = 0; w < words; w++)
                ((int64_t *)&total[m])[w] += ((const int64_t *)&part[t * BT_NCOMP + m])[w];
        }
    for (int m = 0; m < BT_NCOMP; m++)
        sum_carry(&total[m]);
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, total, BT_NCOMP * words, MPI_INT64_T, MPI_SUM, s->comm));
    const double inner = (double)(s->problem.n - 2);
    for (int m = 0; m < BT_NCOMP; m++)
        x[m] = scale * sqrt(sum_value(&total[m]) / (inner * inner * inner));
    return 0;
}

/* One set of sums per thread. */
static struct sum *sums_new(const struct bt_solver *s)
{
    struct sum *part = mem_new(s->threads * BT_NCOMP, sizeof *part, "norms");
    for (int i = 0; part && i < s->threads * BT_NCOMP; i++)
        sum_clear(&part[i]);
    return part;
}

static void error_row(const struct bt_solver *s, int64_t k, int64_t j, struct sum *part)
{
    const struct bt_decomp *d = &s->d;
    const double *u = s->u.p + bt_field_at(&s->u, k - s->skip[2], j - s->skip[1], 0, -s->skip[0]);
    for (int64_t i = 0; i < d->count[0]; i++) {
        double exact[BT_NCOMP];
        bt_exact_at(&s->exact, d->lo[0] + i, d->lo[1] + j, d->lo[2] + k, exact);
        for (int m = 0; m < BT_NCOMP; m++) {
            const double e = u[m * s->u.sm + i] - exact[m];
            sum_add(&part[m], e * e);
        }
    }
}

int bt_solver_error_norms(struct bt_solver *s, double xce[BT_NCOMP])
{
    int rc;
    struct sum *part = sums_new(s);
    TRY_TO(done, rc, par_agree_memory(s->comm, part));
#pragma omp parallel for schedule(static) collapse(2) num_threads(s->threads)
    for (int64_t k = 0; k < s->d.count[2]; k++)
        for (int64_t j = 0; j < s->d.count[1]; j++)
            error_row(s, k, j, part + omp_get_thread_num() * BT_NCOMP);
    rc = finish(s, part, 1.0, xce);
done:
    free(part);
    return rc;
}

static void residual_row(const struct bt_solver *s, int64_t k, int64_t j, struct sum *part)
{
    for (int m = 0; m < BT_NCOMP; m++) {
        const double *r = s->r.p + bt_field_at(&s->r, k, j, m, 0);
        for (int64_t i = 0; i < s->ni[0]; i++)
            sum_add(&part[m], r[i] * r[i]);
    }
}

int bt_solver_residual_norms(struct bt_solver *s, double xcr[BT_NCOMP])
{
    int rc;
    struct sum *part = sums_new(s);
    TRY_TO(done, rc, par_agree_memory(s->comm, part));
    TRY_TO(done, rc, bt_exchange(s));
    bt_rhs_all(s);
    if (s->active) {
#pragma omp parallel for schedule(static) collapse(2) num_threads(s->threads)
        for (int64_t k = 0; k < s->ni[2]; k++)
            for (int64_t j = 0; j < s->ni[1]; j++)
                residual_row(s, k, j, part + omp_get_thread_num() * BT_NCOMP);
    }
    rc = finish(s, part, 1.0 / s->problem.dt, xcr);
done:
    free(part);
    return rc;
}
