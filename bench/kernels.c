/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernels of the solver alone: each one works again and again on the same line or row, whose data stay in
 * cache, in short windows that follow each other in turn. The best window counts: what a busy machine takes
 * away costs windows, not the result. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/columns.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/program.h"
#include "base/version.h"
#include "base/watch.h"
#include "bt/solver/plan.h"
#include "bt/solver/priv.h"

#define SCHEMA "nht1-bench-kernels/1"

struct options {
    const char *json, *isa;
    int64_t n;
    double seconds, window_s;
};

#define AT(member) CONF_AT(struct options, member)

static const struct conf_option options[] = {
    {.name = "isa",
     .arg = "NAME",
     .help = "This instruction set alone. Default: all that this processor has.",
     AT(isa)},
    {.name = "n",
     .arg = "N",
     .def = "64",
     CONF_RANGE(BT_N_MIN, 512),
     .help = "Grid points along each side: lines and rows have N - 2 cells.",
     AT(n)},
    {.name = "seconds",
     .arg = "S",
     .def = "2",
     CONF_RANGE(0.001, 3600),
     .help = "Seconds for each instruction set.",
     AT(seconds)},
    {.name = "window",
     .arg = "S",
     .def = "0.0005",
     CONF_RANGE(1e-5, 10),
     .help = "Length of a window in seconds, about. Short ones fit between disturbances.",
     AT(window_s)},
    {.name = "json",
     .arg = "FILE",
     .help = "Write the result to FILE, too; - is standard output.",
     AT(json),
     .output = true},
    {.name = NULL},
};

static const struct conf_program program = {
    .name = "kernels",
    .version = nht1_build,
    .summary = "Time of each kernel of the solver on data in cache, by instruction set.",
    .examples = "  kernels --isa avx2 --seconds 10\n",
    .options = options,
};

/* A solver, and room for one batch of lines. */
struct work {
    struct bt_solver *s;
    double *u, *r, *x, *store;
    struct bt_batch_data data[3];
    struct bt_rhs_row row;
    const double *line_u[BT_LANES_MAX];
    double *line_x[BT_LANES_MAX];
};

static void xi_forward(struct work *w)
{
    w->s->kernel->forward[0](&w->s->coef, &w->data[0], w->store, w->s->zero, NULL);
}

static void eta_forward(struct work *w)
{
    w->s->kernel->forward[1](&w->s->coef, &w->data[1], w->store, w->s->zero, NULL);
}

static void zeta_forward(struct work *w)
{
    w->s->kernel->forward[2](&w->s->coef, &w->data[2], w->store, w->s->zero, NULL);
}

/* What back substitution gives is not what the next one begins with: its time stays the same. */
static void eta_backward(struct work *w)
{
    const int64_t lanes = w->s->kernel->lanes;
    w->s->kernel->backward[1](w->store, w->s->ni[1], w->s->zero, NULL, w->x, 5 * lanes, lanes,
                              (int)lanes, false);
}

static void zeta_backward(struct work *w)
{
    const int64_t lanes = w->s->kernel->lanes;
    w->s->kernel->backward[2](w->store, w->s->ni[2], w->s->zero, NULL, w->x, 5 * lanes, lanes,
                              (int)lanes, false);
}

static void rhs(struct work *w)
{
    w->s->kernel->rhs_row(&w->s->coef, &w->row);
}

static void prim(struct work *w)
{
    w->s->kernel->prim_row(&w->s->coef, w->row.u, w->row.um, w->row.n,
                           w->s->scratch[0].prim + BT_LANES_MAX, w->s->prim_stride);
}

static void pack(struct work *w)
{
    w->s->kernel->pack(w->line_u, 1, w->s->u.sm, w->s->ni[0] + 2, w->u);
}

static void unpack(struct work *w)
{
    w->s->kernel->unpack(w->x, w->line_x, 1, w->s->r.sm, w->s->ni[0], w->s->kernel->lanes, false);
}

/* row: a call is for one row, else for as many lines as a vector has lanes. */
static const struct {
    const char *name;
    void (*call)(struct work *w);
    bool row;
} kernels[] = {
    {"elimination xi", xi_forward, false},
    {"elimination eta", eta_forward, false},
    {"elimination zeta", zeta_forward, false},
    {"back substitution eta", eta_backward, false},
    {"back substitution zeta", zeta_backward, false},
    {"right-hand side", rhs, true},
    {"k and p", prim, true},
    {"pack", pack, false},
    {"unpack", unpack, false},
};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

static int work_make(struct work *w, const struct options *o, const char *isa)
{
    struct bt_problem problem = {.cls = 'U', .n = o->n, .steps = 1, .dt = 0.0008, .interval = 1};
    struct bt_decomp d;
    TRY(bt_decomp_make("auto", o->n, 1, 0, &d));
    TRY(bt_solver_new(&w->s, MPI_COMM_SELF, &problem, &d, isa));
    bt_solver_reset(w->s);
    TRY(bt_solver_step(w->s));
    bt_rhs_all(w->s);
    struct bt_solver *s = w->s;
    const int64_t lanes = s->kernel->lanes, cells = bt_plan_div_up(o->n, lanes) * lanes;
    const int64_t middle = s->ni[0] / 2 / BT_LANES_MAX * BT_LANES_MAX;
    w->u = bt_doubles(cells * 5 * lanes);
    w->r = bt_doubles(cells * 5 * lanes);
    w->x = bt_doubles(cells * 5 * lanes);
    w->store = bt_doubles(cells * BT_STORE * lanes);
    if (!w->u || !w->r || !w->x || !w->store) return mem_error("a batch of lines");
    for (int v = 0; v < lanes; v++) {
        w->line_u[v] = s->u.p + bt_field_at(&s->u, middle, bt_min64(v, s->ni[1] - 1), 0, -1);
        w->line_x[v] = s->r.p + bt_field_at(&s->r, middle, bt_min64(v, s->ni[1] - 1), 0, 0);
    }
    pack(w);
    s->kernel->pack((const double *const *)w->line_x, 1, s->r.sm, s->ni[0], w->r);
    w->data[0] = (struct bt_batch_data){.u = w->u + 5 * lanes,
                                        .ul = 5 * lanes,
                                        .um = lanes,
                                        .r = w->r,
                                        .rl = 5 * lanes,
                                        .rm = lanes,
                                        .n = s->ni[0]};
    for (int dir = 1; dir < 3; dir++)
        w->data[dir] =
            (struct bt_batch_data){.u = s->u.p + (dir == 1 ? bt_field_at(&s->u, middle, 0, 0, 0)
                                                           : bt_field_at(&s->u, 0, middle, 0, 0)),
                                   .ul = dir == 1 ? s->u.sj : s->u.sk,
                                   .um = s->u.sm,
                                   .r = s->r.p + (dir == 1 ? bt_field_at(&s->r, middle, 0, 0, 0)
                                                           : bt_field_at(&s->r, 0, middle, 0, 0)),
                                   .rl = dir == 1 ? s->r.sj : s->r.sk,
                                   .rm = s->r.sm,
                                   .n = s->ni[dir]};
    for (int64_t j = middle - 1; j <= middle + 1; j++)
        bt_rhs_prim(s, s->scratch, middle, j);
    w->row = bt_rhs_row_at(s, s->scratch, middle, middle);
    return 0;
}

static void work_free(struct work *w)
{
    bt_solver_free(w->s);
    free(w->u);
    free(w->r);
    free(w->x);
    free(w->store);
}

/* Seconds of `calls` calls. */
static double window(struct work *w, int k, int64_t calls)
{
    const double start = watch_now();
    for (int64_t i = 0; i < calls; i++)
        kernels[k].call(w);
    return watch_now() - start;
}

static int measure(const struct options *o, const char *isa, struct columns *table, json_t *list)
{
    struct work w = {0};
    int64_t calls[KERNELS];
    double best_s[KERNELS];
    int rc = work_make(&w, o, isa);
    for (int k = 0; rc == 0 && k < KERNELS; k++) {
        best_s[k] = INFINITY;
        for (calls[k] = 1; window(&w, k, calls[k]) < 0.5 * o->window_s;)
            calls[k] *= 2;
    }
    for (const double end = watch_now() + o->seconds; rc == 0 && watch_now() < end;)
        for (int k = 0; k < KERNELS; k++)
            best_s[k] = fmin(best_s[k], window(&w, k, calls[k]) / (double)calls[k]);
    for (int k = 0; rc == 0 && k < KERNELS; k++) {
        const double lanes = w.s->kernel->lanes;
        const double cells = (double)w.s->ni[0] * (kernels[k].row ? 1 : lanes);
        const double ns = 1e9 * best_s[k] / cells;
        columns_cell(table, "%s", isa);
        columns_cell(table, "%s", kernels[k].name);
        columns_cell(table, "%.2f", ns);
        columns_cell(table, "%.1f", ns * lanes);
        columns_row(table, NULL);
        json_array_append_new(list,
                              json_pack("{ss ss si sf}", "isa", isa, "kernel", kernels[k].name,
                                        "lanes", w.s->kernel->lanes, "cell_ns", ns));
    }
    work_free(&w);
    return rc;
}

static int run(void *setup)
{
    const struct options *o = setup;
    const struct bt_kernel *kernel;
    struct columns table;
    json_t *list = json_array();
    int rc = o->isa ? bt_solver_isa_check(o->isa) : 0;
    columns_begin(&table, "-8 -23 10 13");
    columns_row(&table, "ISA", "kernel", "ns a cell", "ns a vector", NULL);
    for (int i = 0; rc == 0 && (kernel = bt_kernel_at(i)) != NULL; i++)
        if (o->isa ? strcmp(o->isa, kernel->name) == 0 : kernel->supported())
            rc = measure(o, kernel->name, &table, list);
    json_t *all = json_pack("{ss sI so}", "schema", SCHEMA, "n", (json_int_t)o->n, "kernels", list);
    if (rc == 0) columns_print(&table, o->json && strcmp(o->json, "-") == 0 ? stderr : stdout);
    if (rc == 0 && o->json) rc = js_result(o->json, all);
    json_decref(all);
    return rc;
}

static const struct program frame = {
    .conf = &program, .single = true, .setup_bytes = sizeof(struct options), .run = run};

int main(int argc, char **argv)
{
    return program_main(&frame, argc, argv);
}
