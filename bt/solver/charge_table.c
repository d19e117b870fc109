/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What computing costs: measured, and remembered in a table (bt/solver/charge.h). */
#include "bt/solver/charge.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/simulation.h"
#include "base/store.h"
#include "base/sys.h"
#include "base/version.h"
#include "base/watch.h"
#include "bt/solver/plan.h"
#include "bt/solver/priv.h"

#define SHAPE_MAX   96
#define COST_MAX_S  1e6 /* no block is so large */
#define REPEATS_MIN 5
#define REPEATS_MAX 51
#define ENOUGH_S    0.3 /* of measuring a shape */

/* ------------------------------------------------------------------ measuring */

/* Real time that one sweep took, and its parts. */
struct sweep_time {
    double cpu_s, forward_s, backward_s;
};

/* A sweep as a rank in the middle of a chain makes it, without messages: so many groups are eliminated
 * before the first one is back-substituted, then one for one. */
static void sweep(struct bt_solver *s, int dir, unsigned flags, struct sweep_time *t)
{
    const struct bt_chain *c = &s->chain[dir];
    const int64_t batches = bt_batch_count(s, dir), lanes = s->kernel->lanes;
    const int64_t group = c->divided ? c->group : 1;
    const int64_t groups = bt_plan_div_up(batches, group);
    const int64_t ahead = c->divided ? bt_min64(c->window, s->d.p[dir]) : 1;
    const int64_t cells = s->ni[dir] * BT_STORE * lanes;
    double *const store = c->divided ? s->pipe_store : s->scratch[0].store;
    const double *const in = c->divided ? c->carry_in.buffer[0] : NULL;
    const double *const w_in = c->divided ? c->w_in.buffer[0] : NULL;
    double *const out = c->divided ? c->carry_out.buffer[0] : NULL;
    double *const w_out = c->divided ? c->w_out.buffer[0] : NULL;
    const double cpu_s = simulation_cpu_now();
    *t = (struct sweep_time){0};
    for (int64_t g = 0; g < groups + ahead - 1; g++) {
        const double t0 = simulation_wall_now();
        for (int64_t b = g * group; g < groups && b < bt_min64((g + 1) * group, batches); b++)
            bt_batch_forward(s, &s->scratch[0], dir, flags, b,
                             store + (g % ahead * group + b - g * group) * cells, in ? in : s->zero,
                             out);
        const double t1 = simulation_wall_now();
        const int64_t back = g - ahead + 1;
        for (int64_t b = back * group; back >= 0 && b < bt_min64((back + 1) * group, batches); b++)
            bt_batch_backward(s, &s->scratch[0], dir, flags, b,
                              store + (back % ahead * group + b - back * group) * cells,
                              w_in ? w_in : s->zero, w_out);
        t->forward_s += t1 - t0;
        t->backward_s += simulation_wall_now() - t1;
    }
    t->cpu_s = simulation_cpu_now() - cpu_s;
}

static double median(double *value, int n)
{
    gsl_sort(value, 1, (size_t)n);
    return gsl_stats_median_from_sorted_data(value, 1, (size_t)n);
}

/* What n repeats of a sweep come to: the processor time of their median, shared by elimination and back
 * substitution as real time was in the median. */
static void sweep_result(const struct sweep_time *t, int n, int64_t batches, double *forward_s,
                         double *backward_s)
{
    double cpu_s[REPEATS_MAX], share[REPEATS_MAX];
    for (int i = 0; i < n; i++) {
        cpu_s[i] = t[i].cpu_s;
        share[i] = t[i].forward_s / (t[i].forward_s + t[i].backward_s);
    }
    const double batch_s = median(cpu_s, n) / (double)batches, part = median(share, n);
    *forward_s = part * batch_s;
    *backward_s = (1 - part) * batch_s;
}

/* Steps of this rank's block alone, after one that is not timed, with halos as they are. */
static void measure(struct bt_solver *s, struct bt_charge *c)
{
    static const unsigned flags[3] = {BT_SWEEP_RHS, 0, BT_SWEEP_ADD};
    struct sweep_time t[3][REPEATS_MAX], first;
    double pack_s[REPEATS_MAX], unpack_s[REPEATS_MAX];
    const double start_s = simulation_cpu_now();
    int n = 0;
    for (int dir = 0; dir < 3; dir++)
        sweep(s, dir, flags[dir], &first);
    while (n < REPEATS_MIN || (n < REPEATS_MAX && simulation_cpu_now() - start_s < ENOUGH_S)) {
        pack_s[n] = simulation_cpu_now();
        bt_exchange_pack(s);
        unpack_s[n] = simulation_cpu_now();
        pack_s[n] = unpack_s[n] - pack_s[n];
        bt_exchange_unpack(s);
        unpack_s[n] = simulation_cpu_now() - unpack_s[n];
        for (int dir = 0; dir < 3; dir++)
            sweep(s, dir, flags[dir], &t[dir][n]);
        n++;
    }
    for (int dir = 0; dir < 3; dir++)
        sweep_result(t[dir], n, bt_batch_count(s, dir), &c->forward_s[dir], &c->backward_s[dir]);
    c->pack_s = median(pack_s, n);
    c->unpack_s = median(unpack_s, n);
}

/* With memory for the fields for as long as it takes. Local. */
static int measure_here(struct bt_solver *s)
{
    struct bt_charge *const c = s->charge;
    s->charge = NULL; /* so that it computes */
    int rc = bt_block_new(s);
    if (rc == 0) {
        for (int dir = 0; dir < 3; dir++) /* any numbers do that are finite */
            bt_pipe_clear(&s->chain[dir]);
        bt_exchange_clear(s);
        measure(s, c);
    }
    bt_block_free(s);
    s->charge = c;
    return rc;
}

/* ------------------------------------------------------------------ the table */

static bool cost_valid(const json_t *number)
{
    const double s = json_number_value(number);
    return json_is_number(number) && s >= 0 && s <= COST_MAX_S;
}

/* A cost that is a text would be read as 0, and computing be free. */
static bool charge_valid(const json_t *entry)
{
    static const char *const sweeps[] = {"forward_s", "backward_s"};
    for (int k = 0; k < 2; k++) {
        const json_t *costs = json_object_get(entry, sweeps[k]);
        if (json_array_size(costs) != 3) return false;
        for (size_t dir = 0; dir < 3; dir++)
            if (!cost_valid(json_array_get(costs, dir))) return false;
    }
    return json_is_string(json_object_get(entry, "shape")) &&
           json_is_string(json_object_get(entry, "utc")) &&
           cost_valid(json_object_get(entry, "pack_s")) &&
           cost_valid(json_object_get(entry, "unpack_s"));
}

static const struct store table_kind = {.name = "kernels.json",
                                        .schema = "nht1-kernels/1",
                                        .title = "table of kernels",
                                        .holds = "times of computing",
                                        .option = "--charge",
                                        .valid = charge_valid};

/* What the cost of computing depends on. */
static void shape_of(const struct bt_solver *s, char shape[SHAPE_MAX])
{
    const int64_t *n = s->ni;
    const struct bt_chain *c = s->chain;
    snprintf(shape, SHAPE_MAX, "%lldx%lldx%lld of %lld by %dx%dx%d, groups %lld %lld %lld",
             (long long)n[0], (long long)n[1], (long long)n[2], (long long)s->problem.n, s->d.p[0],
             s->d.p[1], s->d.p[2], (long long)c[0].group, (long long)c[1].group,
             (long long)c[2].group);
    if (!s->active) snprintf(shape, SHAPE_MAX, "nothing");
}

static json_t *key_of(const struct bt_solver *s, const char *shape)
{
    struct sys_cpu cpu;
    sys_cpu(&cpu);
    return json_pack("{ss so ss ss}", "cpu", cpu.model, "kernel",
                     json_sprintf("%s/%s", BT_KERNEL_VERSION, s->kernel->name), "build", nht1_build,
                     "shape", shape);
}

static json_t *triple(const double v[3])
{
    return json_pack("[fff]", v[0], v[1], v[2]);
}

int bt_charge_table(const char *path, json_t **root)
{
    return store_read(&table_kind, path, root);
}

void bt_charge_read(const json_t *e, struct bt_charge *c)
{
    for (size_t dir = 0; dir < 3; dir++) {
        c->forward_s[dir] = json_number_value(json_array_get(json_object_get(e, "forward_s"), dir));
        c->backward_s[dir] =
            json_number_value(json_array_get(json_object_get(e, "backward_s"), dir));
    }
    c->pack_s = js_number(e, "pack_s");
    c->unpack_s = js_number(e, "unpack_s");
    snprintf(c->utc, sizeof c->utc, "%s", store_text(e, "utc"));
}

/* What rank 0 knows of all ranks. */
struct table {
    char (*shape)[SHAPE_MAX]; /* [size] */
    int *measures;            /* [size] whether this rank is to measure */
    int *like;                /* [size] the first rank with this rank's shape */
    struct bt_charge *charge; /* [size] */
};

/* Of every shape, the first rank has it from the table or is to measure it. Rank 0. */
static int look_up(const struct bt_solver *s, const char *path, int size, struct table *t)
{
    json_t *root, *key = key_of(s, "");
    TRY(bt_charge_table(path, &root));
    for (int r = 0; r < size; r++) {
        t->like[r] = 0;
        while (strcmp(t->shape[t->like[r]], t->shape[r]) != 0)
            t->like[r]++;
        if (t->like[r] < r || strcmp(t->shape[r], "nothing") == 0) continue;
        js_set(key, "shape", json_string(t->shape[r]));
        const json_t *found = store_find(json_object_get(root, "entries"), key);
        t->measures[r] = found == NULL;
        if (found) bt_charge_read(found, &t->charge[r]);
    }
    json_decref(key);
    json_decref(root);
    return 0;
}

/* Rank 0 puts what was measured into the table, and gives every rank that of the first like it. */
static int enter(const struct bt_solver *s, const char *path, int size, struct table *t)
{
    for (int r = 0; r < size; r++) {
        struct bt_charge *c = &t->charge[r];
        if (t->like[r] < r) *c = t->charge[t->like[r]];
        if (!t->measures[r]) continue;
        watch_utc(c->utc);
        json_t *key = key_of(s, t->shape[r]), *e = json_copy(key);
        js_set(e, "n", json_integer(s->problem.n));
        js_set(e, "ranks", json_integer((json_int_t)s->d.p[0] * s->d.p[1] * s->d.p[2]));
        js_set(e, "grid", json_sprintf("%dx%dx%d", s->d.p[0], s->d.p[1], s->d.p[2]));
        js_set(e, "lanes", json_integer(s->kernel->lanes));
        js_set(e, "forward_s", triple(c->forward_s));
        js_set(e, "backward_s", triple(c->backward_s));
        js_set(e, "pack_s", js_real(c->pack_s));
        js_set(e, "unpack_s", js_real(c->unpack_s));
        js_set(e, "utc", json_string(c->utc));
        const int rc = store_replace(&table_kind, path, key, e);
        json_decref(key);
        TRY(rc);
    }
    return 0;
}

static void table_free(struct table *t)
{
    free(t->shape);
    free(t->measures);
    free(t->like);
    free(t->charge);
}

static int table_new(struct table *t, int n)
{
    t->shape = mem_new(n, SHAPE_MAX, "the shapes of %d blocks", n);
    t->measures = mem_new(n, sizeof(int), "the shapes of %d blocks", n);
    t->like = mem_new(n, sizeof(int), "the shapes of %d blocks", n);
    t->charge = mem_new(n, sizeof(struct bt_charge), "the costs of %d blocks", n);
    return t->shape && t->measures && t->like && t->charge ? 0 : ERR_NOMEM;
}

int bt_charge_new(struct bt_solver *s, const char *path)
{
    char shape[SHAPE_MAX] = "";
    int rank, size, measures, rc;
    const int bytes = (int)sizeof *s->charge;
    struct table t = {0};
    TRY_MPI(MPI_Comm_rank(s->comm, &rank));
    TRY_MPI(MPI_Comm_size(s->comm, &size));
    if (s->threads != 1)
        return err_set(ERR_USAGE, "computing is charged by rank: OMP_NUM_THREADS=1, not %d",
                       s->threads);
    shape_of(s, shape);
    TRY_TO(out, rc, par_agree(s->comm, table_new(&t, rank == 0 ? size : 0)));
    TRY_MPI_TO(out, rc,
               MPI_Gather(shape, SHAPE_MAX, MPI_CHAR, t.shape, SHAPE_MAX, MPI_CHAR, 0, s->comm));
    TRY_TO(out, rc, par_agree(s->comm, rank == 0 ? look_up(s, path, size, &t) : 0));
    TRY_MPI_TO(out, rc, MPI_Scatter(t.measures, 1, MPI_INT, &measures, 1, MPI_INT, 0, s->comm));
    TRY_MPI_TO(out, rc,
               MPI_Scatter(t.charge, bytes, MPI_BYTE, s->charge, bytes, MPI_BYTE, 0, s->comm));
    TRY_TO(out, rc, par_agree(s->comm, measures ? measure_here(s) : 0));
    TRY_MPI_TO(out, rc,
               MPI_Gather(s->charge, bytes, MPI_BYTE, t.charge, bytes, MPI_BYTE, 0, s->comm));
    TRY_TO(out, rc, par_agree(s->comm, rank == 0 ? enter(s, path, size, &t) : 0));
    TRY_MPI_TO(out, rc,
               MPI_Scatter(t.charge, bytes, MPI_BYTE, s->charge, bytes, MPI_BYTE, 0, s->comm));
out:
    table_free(&t);
    return rc;
}
