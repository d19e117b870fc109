/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/par.h"
#include "base/simulation.h"
#include "base/suggestion.h"
#include "base/sys.h"
#include "base/watch.h"
#include "bt/solver/plan.h"
#include "bt/solver/priv.h"
#include "bt/solver/parts.h"

const char *const bt_phase_name[BT_PHASES] = {"exchange", "rhs", "xi", "eta", "zeta", "pipe_wait"};

/* ------------------------------------------------------------------ choice of kernel */

const char *bt_solver_isas(void)
{
    static char names[128]; /* made once, the same every time */
    if (!names[0])
        for (int i = 0; bt_kernel_at(i); i++) {
            if (i) strcat(names, " ");
            strncat(names, bt_kernel_at(i)->name, 30);
        }
    return names;
}

/* Index of the kernel that isa asks for, or of the best one here for auto. */
static int kernel_choose(const char *isa, int *choice)
{
    const char *asked = isa ? "--isa" : "NHT1_ISA";
    if (!isa) isa = getenv("NHT1_ISA");
    const bool any = !isa || !*isa || strcmp(isa, "auto") == 0;
    for (int i = 0; bt_kernel_at(i); i++) {
        const struct bt_kernel *k = bt_kernel_at(i);
        if (!any && strcmp(isa, k->name) != 0) continue;
        *choice = i;
        if (k->supported()) return 0;
        if (!any)
            return err_set(ERR_USAGE, "%s %s: this processor does not have it; try --isa auto",
                           asked, isa);
    }
    struct suggestion near = {.word = isa};
    char meant[SUGGESTION_TEXT_MAX];
    suggestion_try(&near, "auto");
    for (int i = 0; bt_kernel_at(i); i++)
        suggestion_try(&near, bt_kernel_at(i)->name);
    return err_set(ERR_USAGE, "%s %s: not one of: auto %s%s", asked, isa, bt_solver_isas(),
                   suggestion_text(&near, "", meant));
}

int bt_solver_isa_check(const char *isa)
{
    int choice;
    return kernel_choose(isa, &choice);
}

/* The best kernel that every rank has; and the smallest number of threads and second-level cache of all ranks,
 * since they are part of the pipelines' message size. Collective. */
static int ranks_agree(struct bt_solver *s, const char *isa)
{
    int choice = 0;
    TRY(par_agree(s->comm, kernel_choose(isa, &choice)));
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &choice, 1, MPI_INT, MPI_MAX, s->comm));
    s->kernel = bt_kernel_at(choice);
    s->threads = omp_get_max_threads();
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &s->threads, 1, MPI_INT, MPI_MIN, s->comm));
    /* A simulated machine is not this one. */
    s->near_bytes = bt_plan_near(simulation() ? 0 : sys_cache2_bytes());
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &s->near_bytes, 1, MPI_INT64_T, MPI_MIN, s->comm));
    return 0;
}

/* ------------------------------------------------------------------ making a solver */

/* Sets U on this rank's cells to a function of the global index. */
static void fill(struct bt_solver *s, void (*value)(const struct bt_exact *, int64_t, int64_t,
                                                    int64_t, double[BT_NCOMP]))
{
    const struct bt_decomp *d = &s->d;
#pragma omp parallel for schedule(static) collapse(2) num_threads(s->threads)
    for (int64_t k = 0; k < d->count[2]; k++)
        for (int64_t j = 0; j < d->count[1]; j++) {
            double *row =
                s->u.p + bt_field_at(&s->u, k - s->skip[2], j - s->skip[1], 0, -s->skip[0]);
            for (int64_t i = 0; i < d->count[0]; i++) {
                double x[BT_NCOMP];
                value(&s->exact, d->lo[0] + i, d->lo[1] + j, d->lo[2] + k, x);
                for (int m = 0; m < BT_NCOMP; m++)
                    row[m * s->u.sm + i] = x[m];
            }
        }
}

/* dt H = - dt L(Ue), made by the same operator that it has to balance: [BT] section 6. */
static int forcing_new(struct bt_solver *s)
{
    s->forced = false;
    fill(s, bt_exact_at);
    TRY(bt_exchange(s));
    bt_rhs_all(s);
    if (s->active) {
#pragma omp parallel for schedule(static) collapse(2) num_threads(s->threads)
        for (int64_t k = 0; k < s->ni[2]; k++)
            for (int64_t j = 0; j < s->ni[1]; j++)
                for (int m = 0; m < BT_NCOMP; m++) {
                    const double *r = s->r.p + bt_field_at(&s->r, k, j, m, 0);
                    double *h = s->h.p + bt_field_at(&s->h, k, j, m, 0);
                    for (int64_t i = 0; i < s->ni[0]; i++)
                        h[i] = -r[i];
                }
    }
    s->forced = true;
    return 0;
}

/* Everything that can fail on a rank of its own. Local. */
static int parts_new(struct bt_solver *s)
{
    static const double d[3] = {0.75, 0.75, 1.0};
    const double inverse_h = (double)(s->problem.n - 1), dt = s->problem.dt;
    const int64_t n = s->problem.n;
    s->active = true;
    s->coef.t1 = dt * inverse_h * inverse_h;
    s->coef.t2 = 0.5 * dt * inverse_h;
    s->coef.t1_kappa = s->coef.t1 * BT_KAPPA;
    s->coef.v_flux = s->coef.t2 / s->coef.t1_kappa;
    s->coef.square_p = 0.5 * BT_C2 / s->coef.t1_kappa;
    s->coef.square_v = 1.0 / (6.0 * s->coef.t1_kappa);
    s->coef.inv_t2_cubed = 1.0 / (s->coef.t2 * s->coef.t2 * s->coef.t2);
    s->coef.visc = s->coef.t1 * BT_KAPPA / s->coef.t2;
    s->coef.heat = s->coef.t1 * BT_KE / (BT_C2 * s->coef.t2);
    for (int q = 0; q < 3; q++) {
        const int64_t first = s->d.lo[q], past = first + s->d.count[q];
        s->skip[q] = first == 0;
        s->ni[q] = bt_max64(0, bt_min64(past, n - 1) - bt_max64(first, 1));
        s->active = s->active && s->ni[q] > 0;
        s->coef.td[q] = s->coef.t1 * d[q];
        s->coef.diff[q] = s->coef.td[q] / s->coef.t2;
        s->coef.del[q] = (1.0 + 2.0 * s->coef.td[q]) / s->coef.t2;
        s->coef.del4[q] = s->coef.del[q] / BT_C2;
    }
    TRY(bt_exact_new(&s->exact, n));
    s->memory_bytes += 3 * BT_NCOMP * n * (int64_t)sizeof(double);
    if (!s->charge) TRY(bt_block_new(s));
    s->memory_bytes += s->u.bytes + s->r.bytes + s->h.bytes;
    TRY(bt_exchange_new(s));
    TRY(bt_rhs_new(s));
    TRY(bt_sweep_new(s));
    return bt_batch_new(s);
}

int bt_solver_new(struct bt_solver **out, MPI_Comm comm, const struct bt_problem *p,
                  const struct bt_decomp *d, const char *isa)
{
    return bt_solver_new_charged(out, comm, p, d, isa, NULL);
}

int bt_solver_new_charged(struct bt_solver **out, MPI_Comm comm, const struct bt_problem *p,
                          const struct bt_decomp *d, const char *isa, const char *charge)
{
    int rc = 0;
    struct bt_solver *s = mem_new(1, sizeof *s, "a solver");
    *out = NULL;
    if (s && charge) s->charge = mem_new(1, sizeof *s->charge, "a solver");
    rc = par_agree_memory(comm, s && (s->charge || !charge));
    if (rc < 0) {
        if (s) free(s->charge);
        free(s);
        return rc;
    }
    s->problem = *p;
    s->d = *d;
    s->comm = MPI_COMM_NULL;
    TRY_MPI_TO(failed, rc, MPI_Comm_dup(comm, &s->comm));
    TRY_TO(failed, rc, ranks_agree(s, isa));
    TRY_TO(failed, rc, par_agree(s->comm, parts_new(s)));
    TRY_TO(failed, rc, bt_batch_agree(s));
    s->forced = charge != NULL;
    if (charge) {
        TRY_TO(failed, rc, bt_charge_new(s, charge));
    } else {
        TRY_TO(failed, rc, forcing_new(s));
        bt_solver_reset(s);
    }
    *out = s;
    return 0;
failed:
    bt_solver_free(s);
    return rc;
}

void bt_solver_free(struct bt_solver *s)
{
    if (!s) return;
    bt_batch_free(s);
    bt_sweep_free(s);
    bt_rhs_free(s);
    bt_exchange_free(s);
    bt_block_free(s);
    bt_exact_free(&s->exact);
    free(s->charge);
    if (s->comm != MPI_COMM_NULL) MPI_Comm_free(&s->comm);
    free(s);
}

/* ------------------------------------------------------------------ running it */

void bt_solver_reset(struct bt_solver *s)
{
    if (!s->charge) fill(s, bt_exact_initial);
}

int bt_solver_step(struct bt_solver *s)
{
    const double start = watch_now();
    TRY(s->inner > 0 ? bt_exchange_begin(s) : bt_exchange(s));
    s->phase_s[BT_PHASE_EXCHANGE] += watch_now() - start;
    return bt_sweep(s, 0, 3, BT_SWEEP_RHS | BT_SWEEP_ADD);
}

int bt_solver_rhs(struct bt_solver *s)
{
    TRY(bt_exchange(s));
    bt_rhs_all(s);
    return 0;
}

int bt_solver_sweep(struct bt_solver *s, int dir)
{
    return bt_sweep(s, dir, dir + 1, 0);
}

void bt_solver_add(struct bt_solver *s)
{
    if (!s->active) return;
    for (int64_t k = 0; k < s->ni[2]; k++)
        for (int64_t j = 0; j < s->ni[1]; j++)
            for (int m = 0; m < BT_NCOMP; m++)
                for (int64_t i = 0; i < s->ni[0]; i++)
                    s->u.p[bt_field_at(&s->u, k, j, m, i)] +=
                        s->r.p[bt_field_at(&s->r, k, j, m, i)];
}

/* ------------------------------------------------------------------ looking at it */

const char *bt_solver_isa(const struct bt_solver *s)
{
    return s->kernel->name;
}

const char *bt_solver_charged_utc(const struct bt_solver *s)
{
    return s->charge ? s->charge->utc : "";
}

int64_t bt_solver_memory_bytes(const struct bt_solver *s)
{
    return s->memory_bytes;
}

const double *bt_solver_phases_s(const struct bt_solver *s)
{
    return s->phase_s;
}

void bt_solver_phases_clear(struct bt_solver *s)
{
    memset(s->phase_s, 0, sizeof s->phase_s);
}

struct bt_state bt_solver_state(const struct bt_solver *s)
{
    struct bt_state x = {.sm = s->u.sm, .sj = s->u.sj, .sk = s->u.sk};
    x.u = s->u.p + bt_field_at(&s->u, -s->skip[2], -s->skip[1], 0, -s->skip[0]);
    for (int q = 0; q < 3; q++) {
        x.lo[q] = s->d.lo[q];
        x.n[q] = s->d.count[q];
    }
    return x;
}

double *bt_solver_state_edit(struct bt_solver *s, struct bt_state *where)
{
    if (where) *where = bt_solver_state(s);
    return s->u.p + bt_field_at(&s->u, -s->skip[2], -s->skip[1], 0, -s->skip[0]);
}

static struct bt_state interior_state(const struct bt_solver *s, const struct bt_field *f)
{
    struct bt_state x = {.u = f->p, .sm = f->sm, .sj = f->sj, .sk = f->sk};
    for (int q = 0; q < 3; q++) {
        x.lo[q] = s->d.lo[q] + s->skip[q];
        x.n[q] = s->active ? s->ni[q] : 0;
    }
    return x;
}

struct bt_state bt_solver_rhs_state(const struct bt_solver *s)
{
    return interior_state(s, &s->r);
}

struct bt_state bt_solver_forcing(const struct bt_solver *s)
{
    return interior_state(s, &s->h);
}
