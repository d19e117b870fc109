/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORKLOAD_CLOCK_H
#define WORKLOAD_CLOCK_H
/* Layer 2. The framework of time of every measurement [A]. Three phases, setup, operations and
 * cleanup; the operations lie between two barriers, and their aggregate time is S + T + B:
 *
 *      barrier|    S    |            T             |    B    |barrier
 *             ^begun    ^first access begins       ^last ends ^ended
 *
 * each mark being that of the earliest, earliest, latest and latest process, on the clock of rank
 * 0.
 */
#include <jansson.h>
#include <mpi.h>
#include <stdbool.h>

/* B beyond this share of S + T + B, or a time shorter than these: too little data. */
#define WORKLOAD_B_SHARE       0.01
#define WORKLOAD_TIME_S        1.0
#define WORKLOAD_UNCERTAINTIES 100.0

/* Clocks of nodes drift apart, 10 microseconds in a second at most where they are kept by NTP: in
 * so many seconds by less than a thousandth of the shortest measurement. */
#define WORKLOAD_CLOCK_S 60.0

struct workload_clock {
    double offset_s;      /* of this rank's clock to that of rank 0: subtract it */
    double uncertainty_s; /* the largest of all ranks: half of the shortest round trip */
    double compared_s;    /* watch_now() then */
};

/* Measures the offsets: the shortest of many round trips with rank 0 counts. Collective. */
int workload_clock_compare(MPI_Comm comm, struct workload_clock *c);

/* The same where the last time was WORKLOAD_CLOCK_S ago or longer, by rank 0's clock. Collective. */
int workload_clock_keep(MPI_Comm comm, struct workload_clock *c);

/* The marks of one process, by its own clock. */
struct workload_marks {
    double begun, first, last, ended;
};

struct workload_times {
    double setup_s, s_s, t_s, b_s, cleanup_s; /* the slowest process's setup and cleanup */
    double sync_s, think_s;                   /* inside T: flushing, the longest; thinking */
    double *first_s, *last_s; /* per rank, after begun; owned, on rank 0 alone, else NULL */
    int ranks_n;
};

/* Puts the marks of all together. Collective; S, T and B are known to all ranks. [in,out] t: the
 * members named above are set, to be freed by workload_times_free. Returns 0, ERR_MPI or ERR_NOMEM.
 */
int workload_times_gather(MPI_Comm comm, const struct workload_clock *c,
                          const struct workload_marks *m, struct workload_times *t);
void workload_times_free(struct workload_times *t);

static inline double workload_times_aggregate(const struct workload_times *t)
{
    return t->s_s + t->t_s + t->b_s;
}

/* Whether B is insignificant and the time long enough against the clocks' uncertainty. Local. */
bool workload_times_enough(const struct workload_times *t, const struct workload_clock *c);

/* The "times" object. New reference. Local. */
json_t *workload_times_json(const struct workload_times *t);

/* Lets so many seconds pass, or until the run is asked to stop, as a program does that computes
 * between its accesses; idle or busy. Local. Returns how many passed. */
double workload_think(double s, bool busy);

#endif
