/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the harness of nht1-beff adds to a message: its ping-pong of 1 byte, 300 iterations as in a
 * run, against a bare loop of MPI_Send and MPI_Recv, and with the tags of release 3.6 inside the
 * clock. They take turns, so that a disturbance meets all alike. Prints medians and their
 * difference; --json FILE keeps them.
 *
 *     tests/mpi-run -np 2 build/bench/pingpong [--pairs N] [--json FILE] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/program.h"
#include "base/stat.h"
#include "base/version.h"
#include "base/watch.h"
#include "companions/beff/traffic.h"

enum { LOOP = 300, BYTES = 1, ROOM_BYTES = 1 << 16 };

struct options {
    int64_t pairs;
    const char *json;
};

static const struct conf_option table[] = {
    {.name = "pairs",
     .arg = "N",
     .def = "2000",
     CONF_RANGE(10, 1e6),
     CONF_AT(struct options, pairs),
     .help = "How often each is measured."},
    {.name = "json",
     .arg = "FILE",
     CONF_AT(struct options, json),
     .output = true,
     .help = "Write the times to FILE."},
    {.name = NULL},
};

static const struct conf_program program = {.name = "pingpong",
                                            .version = nht1_build,
                                            .summary = "What the harness of nht1-beff costs.",
                                            .options = table};

/* The least that a ping-pong needs. */
static int bare_pingpong(MPI_Comm comm, int rank, double *time_s)
{
    static unsigned char out, in;
    TRY_MPI(MPI_Barrier(comm));
    const double begin_s = watch_now();
    for (int i = 0; i < LOOP; i++) {
        if (rank == 0) {
            MPI_Send(&out, BYTES, MPI_BYTE, 1, 0, comm);
            MPI_Recv(&in, BYTES, MPI_BYTE, 1, 0, comm, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&in, BYTES, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE);
            MPI_Send(&out, BYTES, MPI_BYTE, 0, 0, comm);
        }
    }
    *time_s = watch_now() - begin_s;
    return 0;
}

static int harness(struct beff_traffic *t, bool tagged, double *time_s)
{
    const int other = 1 - t->rank;
    const struct beff_pattern pair = {
        .ping_pong = true,
        .slots_n = 2,
        .slots_max = 2,
        .sends_n = 1,
        .calls_n = 1,
        .processes_n = 2,
        .messages_n = 2,
        .slot = {{t->rank ? BEFF_NONE : other, t->rank ? other : BEFF_NONE, 0},
                 {t->rank ? other : BEFF_NONE, t->rank ? BEFF_NONE : other, 0}}};
    const struct beff_exchange ex = {&pair, BEFF_SENDRECV, BYTES, LOOP, true, tagged};
    return beff_traffic_time(t, &ex, time_s);
}

/* The three ways, pairs times each. */
enum { BARE, HARNESS, TAGGED, WAYS };

static int way_times(struct beff_traffic *t, int64_t pairs, double *time_s)
{
    for (int64_t i = 0; i < pairs; i++)
        for (int k = 0; k < WAYS; k++) {
            const int way = (int)((i + k) % WAYS);
            double *const s = &time_s[way * pairs + i];
            TRY(way == BARE ? bare_pingpong(t->comm, t->rank, s) : harness(t, way == TAGGED, s));
        }
    return 0;
}

static int report(const struct options *o, const double *time_s)
{
    struct stat_summary a, b, c;
    TRY(stat_summary(time_s + BARE * o->pairs, (int)o->pairs, &a));
    TRY(stat_summary(time_s + HARNESS * o->pairs, (int)o->pairs, &b));
    TRY(stat_summary(time_s + TAGGED * o->pairs, (int)o->pairs, &c));
    const double message = 1e9 / (2.0 * LOOP);
    printf(
        "ping-pong of 1 byte, ns per message: bare loop %.1f (quartiles %.1f to %.1f), nht1-beff "
        "%.1f (%.1f to %.1f): %+.2f %%, lower quartiles %+.2f %%\n",
        a.median * message, a.q1 * message, a.q3 * message, b.median * message, b.q1 * message,
        b.q3 * message, 100 * (b.median / a.median - 1), 100 * (b.q1 / a.q1 - 1));
    printf("with the tags of release 3.6 %.1f (%.1f to %.1f): %+.1f ns, lower quartiles %+.1f ns\n",
           c.median * message, c.q1 * message, c.q3 * message, (c.median - b.median) * message,
           (c.q1 - b.q1) * message);
    if (!o->json) return 0;
    json_t *out = json_pack(
        "{sI si so so so so so so}", "pairs_n", (json_int_t)o->pairs, "loop_n", LOOP,
        "bare_message_s", js_real(a.median / (2.0 * LOOP)), "harness_message_s",
        js_real(b.median / (2.0 * LOOP)), "tagged_message_s", js_real(c.median / (2.0 * LOOP)),
        "overhead", js_real(b.median / a.median - 1), "overhead_of_lower_quartiles",
        js_real(b.q1 / a.q1 - 1), "overhead_of_minima", js_real(b.min / a.min - 1));
    const int rc = js_result(o->json, out);
    json_decref(out);
    return rc;
}

static int compare(void *setup)
{
    const struct options *o = setup;
    struct beff_traffic t;
    int n;
    TRY_MPI(MPI_Comm_size(MPI_COMM_WORLD, &n));
    if (n != 2) return err_set(ERR_USAGE, "two ranks are needed: mpirun -np 2");
    double *times = mem_new(WAYS * o->pairs, sizeof *times, "the times");
    int rc = par_agree_memory(MPI_COMM_WORLD, times != NULL);
    if (rc == 0) {
        rc = beff_traffic_make(MPI_COMM_WORLD, ROOM_BYTES, BEFF_ROOM, 0, &t);
        if (rc == 0) rc = par_agree(t.comm, way_times(&t, o->pairs, times));
        if (rc == 0) rc = par_agree(t.comm, t.rank == 0 ? report(o, times) : 0);
        beff_traffic_free(&t);
    }
    free(times);
    return rc;
}

static const struct program frame = {
    .conf = &program, .single = true, .setup_bytes = sizeof(struct options), .run = compare};

int main(int argc, char **argv)
{
    return program_main(&frame, argc, argv);
}
