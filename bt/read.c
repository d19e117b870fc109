/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/read.h"

#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/par.h"
#include "base/stop.h"
#include "base/sys.h"
#include "base/virtual.h"
#include "base/watch.h"
#include "bt/dump.h"
#include "bt/solver/field.h"
#include "bt/solver/plan.h"
#include "io/read.h"
#include "io/writers/writer.h"

/* ------------------------------------------------------------------ what is to be read */

static bool can_be_read(const char *writer)
{
    return (io_writer_caps(writer) & IO_CAPS_DATA) != 0;
}

static int dumps_check(const struct bt_setup *s)
{
    const int64_t dumps_n = bt_problem_dumps(&s->problem);
    bool file = false;
    for (int w = 0; w < s->writers_n; w++)
        file = file || can_be_read(s->candidate[w].writer);
    if (!file)
        return err_set(ERR_USAGE,
                       "--read %s: no writer of --io %s leaves a file to read back; name another",
                       s->opt.read, s->opt.io);
    if (s->read == BT_READ_ONE && s->read_dump > dumps_n)
        return err_set(ERR_USAGE,
                       "--read %s: the run writes %lld dump%s: give a number from 1 to %lld, or "
                       "last",
                       s->opt.read, (long long)dumps_n, dumps_n == 1 ? "" : "s",
                       (long long)dumps_n);
    return 0;
}

int bt_read_plan_make(struct bt_read_plan *plan, const struct bt_setup *s,
                      const struct bt_decomp *own, int ranks, int rank)
{
    const struct bt_options *o = &s->opt;
    char how[64];
    *plan = (struct bt_read_plan){.ranks = o->read_ranks ? (int)o->read_ranks : ranks};
    if (s->read == BT_READ_NOTHING) return 0;
    TRY(dumps_check(s));
    if (o->read_ranks > ranks)
        return err_set(ERR_USAGE,
                       "--read-ranks %lld: there %s %d: give at most that, or start more",
                       (long long)o->read_ranks, ranks == 1 ? "is" : "are", ranks);
    const char *at = o->read_decomp ? o->read_decomp : plan->ranks == ranks ? "own" : "auto";
    while (conf_next_word(&at, how, sizeof how)) {
        struct bt_decomp d = *own;
        bool known = false;
        if (strcmp(how, "own") != 0)
            TRY(bt_decomp_of_option("--read-decomp", how, own->n, plan->ranks,
                                    rank < plan->ranks ? rank : 0, &d));
        else if (plan->ranks != ranks)
            return err_set(ERR_USAGE,
                           "--read-decomp own is for %d ranks, and --read-ranks says %d: name "
                           "another one, such as auto",
                           ranks, plan->ranks);
        for (int i = 0; i < plan->shapes_n; i++)
            known = known || memcmp(plan->shape[i].p, d.p, sizeof d.p) == 0;
        if (known) continue;
        if (plan->shapes_n == BT_READ_SHAPES_MAX)
            return err_set(ERR_USAGE, "--read-decomp %s: more than %d decompositions",
                           o->read_decomp, BT_READ_SHAPES_MAX);
        for (int q = 0; rank >= plan->ranks && q < 3; q++)
            d.lo[q] = d.count[q] = 0;
        plan->own[plan->shapes_n] = plan->ranks == ranks && memcmp(d.p, own->p, sizeof d.p) == 0;
        plan->shape[plan->shapes_n++] = d;
    }
    plan->fields_n = 1;
    if (s->read == BT_READ_ALL)
        plan->fields_n = num_min(bt_problem_dumps(&s->problem), BT_READ_AT_ONCE);
    return 0;
}

int64_t bt_read_plan_bytes(const struct bt_read_plan *plan, bool whole)
{
    int64_t most = 0;
    for (int i = 0; i < plan->shapes_n; i++) {
        const struct bt_decomp *d = &plan->shape[i];
        const int64_t cells = whole ? d->n * d->n * d->n : d->count[0] * d->count[1] * d->count[2];
        most = bt_max64(most, (plan->fields_n - plan->own[i]) * cells * BT_NCOMP * 8);
    }
    return most;
}

/* ------------------------------------------------------------------ one reading */

/* What the readings of a run have in common, and the fields of the present one. */
struct read_job {
    const struct bt_read_request *q;
    const struct bt_decomp *d;
    int64_t *dump; /* [dumps_n] numbers of those that are read */
    int64_t dumps_n;
    struct bt_dump digest;
    struct bt_field block[BT_READ_AT_ONCE]; /* without memory where the field is the solver's */
    struct io_array field[BT_READ_AT_ONCE];
};

/* The dumps to be read; a random one is the same for all writers of a round. */
static int choose_dumps(struct read_job *w)
{
    const struct bt_setup *s = w->q->setup;
    const int64_t all = w->q->io->dumps_n;
    w->dumps_n = s->read == BT_READ_ALL ? all : 1;
    w->dump = mem_new(w->dumps_n, sizeof *w->dump, "a list of dumps");
    if (!w->dump) return ERR_NOMEM;
    for (int64_t i = 0; i < w->dumps_n; i++)
        w->dump[i] = i;
    if (s->read == BT_READ_ONE) w->dump[0] = s->read_dump - 1;
    if (s->read == BT_READ_LAST) w->dump[0] = all - 1;
    if (s->read == BT_READ_RANDOM) {
        gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
        if (!rng) return mem_error("choosing a dump");
        gsl_rng_set(rng, s->seed + (unsigned long)w->q->round);
        w->dump[0] = (int64_t)gsl_rng_uniform_int(rng, (unsigned long)all);
        gsl_rng_free(rng);
    }
    return 0;
}

/* Fields of the decomposition's shape: where it is the writers', the first one is the solver's. */
static int fields_new(struct read_job *w, bool own)
{
    static const int64_t lo[3] = {0, 0, 0};
    int rc = 0;
    for (int64_t i = 0; i < w->q->plan->fields_n && rc == 0; i++) {
        struct bt_field *b = &w->block[i];
        if (own && i == 0) {
            struct bt_state x;
            double *u = bt_solver_state_edit(w->q->solver, &x);
            w->field[i] = (struct io_array){.u = u, .sm = x.sm, .sj = x.sj, .sk = x.sk};
        } else {
            rc = bt_field_new(b, lo, w->d->count, NAN);
            w->field[i] = (struct io_array){.u = b->p, .sm = b->sm, .sj = b->sj, .sk = b->sk};
        }
    }
    return par_agree(w->q->comm, rc);
}

static void fields_free(struct read_job *w)
{
    for (int i = 0; i < BT_READ_AT_ONCE; i++)
        bt_field_free(&w->block[i]);
}

/* Overwrites the fields, so that an older state cannot pass for what is read now. */
static void fields_clear(struct read_job *w)
{
    const int64_t *n = w->d->count;
    for (int64_t f = 0; f < w->q->plan->fields_n; f++) {
        const struct io_array *a = &w->field[f];
#pragma omp parallel for collapse(2) schedule(static)
        for (int64_t k = 0; k < n[2]; k++)
            for (int64_t j = 0; j < n[1]; j++)
                for (int m = 0; m < BT_NCOMP; m++)
                    for (int64_t i = 0; i < n[0]; i++)
                        a->u[k * a->sk + j * a->sj + m * a->sm + i] = NAN;
    }
}

static struct io_read_spec spec_of(const struct read_job *w, int64_t first, int64_t dumps_n)
{
    const struct io_spec *io = w->q->io;
    struct io_read_spec spec = {.path = io->path,
                                .writer = io->writer,
                                .layout = io->layout,
                                .n = io->n,
                                .dumps = w->dump + first,
                                .dumps_n = dumps_n,
                                .tuning = io->tuning,
                                .hints_n = io->hints_n,
                                .hints = io->hints};
    /* Unless it stood on the command line, readers take requests of a size of their own. */
    if (!(w->q->setup->fixed & IO_CAP_BUFFER)) spec.tuning.buffer_bytes = 0;
    for (int q = 0; q < 3; q++) {
        spec.box.lo[q] = w->d->lo[q];
        spec.box.n[q] = w->d->count[q];
    }
    return spec;
}

/* Compares the fields with the manifest's digests. */
static int compare(struct read_job *w, struct io_reading *reading, struct bt_read_dump *dump,
                   int64_t dumps_n)
{
    for (int64_t i = 0; i < dumps_n; i++) {
        const struct io_array *a = &w->field[i];
        struct bt_state x = {.u = a->u, .sm = a->sm, .sj = a->sj, .sk = a->sk};
        memcpy(x.lo, w->d->lo, sizeof x.lo);
        memcpy(x.n, w->d->count, sizeof x.n);
        bt_dump_take(&w->digest, &x, NULL, NULL);
        TRY(io_read_right(reading, dump[i].dump, w->digest.digest, &dump[i].step, &dump[i].right));
    }
    return 0;
}

/* This run has written the file: an error in it is no wrong usage. */
static int of_our_file(int rc)
{
    return rc == ERR_USAGE ? ERR_IO : rc;
}

/* What this rank's data have taken since they had taken so long, which moves on to now. */
static double data_since(const struct io_reading *reading, double *spent_s)
{
    const double before_s = *spent_s;
    *spent_s = io_read_stats(reading)->data_s;
    return *spent_s - before_s;
}

/* Reads some of the dumps by the clock, each into a field of its own, and compares them when it has
 * stopped. reading: NULL for the first go, with which it is opened. r: [out] adds to it. */
static int read_some(struct read_job *w, int64_t first, int64_t dumps_n,
                     struct io_reading **reading, struct bt_reading *r)
{
    const MPI_Comm comm = w->q->comm;
    const struct io_read_spec spec = spec_of(w, first, dumps_n);
    struct bt_read_dump *dump = &r->dump[first];
    struct par_spread spread;
    double took_s[BT_READ_AT_ONCE + 1] = {0}; /* data of each dump, last of opening */
    double spent_s = *reading ? io_read_stats(*reading)->data_s : 0, slowest_s;
    TRY_MPI(MPI_Barrier(comm));
    const double start_s = watch_now();
    int rc = *reading ? io_read_go_on(*reading, spec.dumps, dumps_n)
                      : io_read_open(reading, comm, &spec);
    if (rc == 0) took_s[dumps_n] = data_since(*reading, &spent_s);
    for (int64_t i = 0; i < dumps_n && rc == 0; i++) {
        const double since_s = watch_now();
        dump[i].dump = spec.dumps[i];
        rc = io_read_dump(*reading, dump[i].dump, &w->field[i]);
        dump[i].t_s = watch_now() - since_s;
        took_s[i] = data_since(*reading, &spent_s);
    }
    const double end_s = watch_now();
    TRY(rc);
    TRY(compare(w, *reading, dump, dumps_n));
    TRY(par_spread(comm, end_s - start_s, &spread));
    r->t_r_s += spread.max;
    TRY(par_slowest(comm, took_s, dumps_n + 1, &slowest_s));
    r->data_s += slowest_s;
    for (int64_t i = 0; i < dumps_n; i++) {
        TRY(par_spread(comm, dump[i].t_s, &spread));
        dump[i].t_s = spread.max;
        r->right = r->right && dump[i].right;
    }
    return 0;
}

/* Reads all dumps of the list; what the caches hold afterwards is what it leaves there. */
static int read_all(struct read_job *w, struct bt_reading *r)
{
    const struct bt_read_request *q = w->q;
    const int64_t most = q->plan->fields_n;
    struct io_reading *reading = NULL;
    int64_t mine[2], all[2];
    int rc = 0;
    for (int64_t first = 0; rc == 0 && first < w->dumps_n; first += most) {
        rc = par_agree(q->comm, !stop_requested()
                                    ? 0
                                    : err_set(ERR_INTERRUPT, "interrupted while %s was read back",
                                              q->io->path));
        if (rc < 0) break;
        fields_clear(w);
        rc = read_some(w, first, num_min(most, w->dumps_n - first), &reading, r);
    }
    if (rc == 0) {
        mine[0] = io_read_stats(reading)->bytes;
        mine[1] = io_read_stats(reading)->requests_n;
    }
    const int close_rc = io_read_close(reading);
    TRY(of_our_file(rc < 0 ? rc : close_rc));
    TRY_MPI(MPI_Allreduce(mine, all, 2, MPI_INT64_T, MPI_SUM, q->comm));
    r->bytes = all[0];
    r->requests_n = all[1];
    return 0;
}

/* The same, with samples around it of what else the nodes do. */
static int read_sampled(struct read_job *w, struct bt_reading *r)
{
    const struct nodes *nodes = w->q->nodes;
    struct disturbance_sample before, after;
    if (!nodes) return read_all(w, r);
    disturbance_take(&before, DISTURBANCE_BEFORE, nodes->node_rank == 0);
    int rc = read_all(w, r);
    disturbance_take(&after, DISTURBANCE_AFTER, nodes->node_rank == 0);
    if (rc == 0) rc = nodes_disturbance(nodes, &before, &after, 0, &r->disturbance);
    disturbance_free(&before);
    disturbance_free(&after);
    return rc;
}

/* Whether the file is still this run's, asked before each reading. Collective. */
static int check_run_id(const struct bt_read_request *q)
{
    int rank, rc = 0;
    TRY_MPI(MPI_Comm_rank(q->comm, &rank));
    if (rank == 0 && q->run_id && !io_file_is_of_run(q->io->path, q->run_id))
        rc = err_set(ERR_IO,
                     "%s is not this run's any more: another run took it before it was read back",
                     q->io->path);
    return par_agree(q->comm, rc);
}

/* One reading, in fields that are there. r: [out] decomposition and state of the cache are set. */
static int read_once(struct read_job *w, struct bt_reading *r)
{
    const struct bt_read_request *q = w->q;
    struct io_read_cached cached;
    TRY(check_run_id(q));
    r->dumps_n = w->dumps_n;
    r->file_bytes = q->io->dumps_n * io_dump_bytes(q->io->layout, q->io->n);
    r->dump = mem_new(w->dumps_n, sizeof *r->dump, "records of reading");
    TRY(par_agree_memory(q->comm, r->dump != NULL));
    if (r->warm) {
        TRY(read_all(w, r));
        r->t_r_s = r->data_s = 0;
    } else {
        TRY(io_read_drop(q->comm, q->io->path, q->setup->opt.read_drop_system));
    }
    TRY(of_our_file(io_read_cached(q->comm, q->io->path, w->dump, w->dumps_n, &cached)));
    r->dump_bytes = cached.bytes;
    r->cached_bytes = cached.known ? cached.cached_bytes : -1;
    r->right = true;
    return read_sampled(w, r);
}

static void reading_free(struct bt_reading *r)
{
    free(r->dump);
    disturbance_end(&r->disturbance);
}

int bt_read_make(const struct bt_read_request *q, struct bt_readings *to)
{
    const struct bt_setup *s = q->setup;
    const struct bt_read_plan *plan = q->plan;
    struct read_job w = {.q = q};
    struct sys_fs fs = {.in_memory = false};
    const bool virtual = virtual_machine("");
    int rc;
    *to = (struct bt_readings){0};
    if (plan->shapes_n == 0 || !can_be_read(q->io->writer)) return 0;
    if (sys_path_fs(q->io->path, &fs) < 0) err_clear();
    to->reading = mem_new((int64_t)plan->shapes_n * s->read_states_n, sizeof *to->reading,
                          "the results of reading");
    rc = to->reading ? 0 : ERR_NOMEM;
    if (rc == 0) rc = choose_dumps(&w);
    if (rc == 0) rc = bt_dump_new(&w.digest, q->io->n);
    TRY_TO(out, rc, par_agree(q->comm, rc));
    for (int shape = 0; shape < plan->shapes_n; shape++) {
        w.d = &plan->shape[shape];
        TRY_TO(out, rc, fields_new(&w, plan->own[shape]));
        for (int state = 0; state < s->read_states_n; state++) {
            struct bt_reading *r = &to->reading[to->n];
            *r = (struct bt_reading){.warm = s->read_warm[state],
                                     .own = plan->own[shape],
                                     .ranks = plan->ranks,
                                     .in_memory = fs.in_memory,
                                     .network = fs.network,
                                     .virtual = virtual};
            bt_decomp_name(w.d, r->decomp);
            rc = read_once(&w, r);
            if (rc < 0) {
                reading_free(r);
                goto out;
            }
            to->n++;
        }
        fields_free(&w);
    }
out:
    fields_free(&w);
    bt_dump_free(&w.digest);
    free(w.dump);
    return rc;
}

void bt_readings_free(struct bt_readings *r)
{
    for (int i = 0; i < r->n; i++)
        reading_free(&r->reading[i]);
    free(r->reading);
    *r = (struct bt_readings){0};
}
