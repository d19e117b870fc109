/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_RANKING_H
#define BT_RANKING_H
/* Layer 3. The numbers of a job: what follows from each run, and, by writer, medians over the
 * rounds. bt/judge turns them into stamps. All functions are local. */
#include "base/balance.h"
#include "bt/job.h"

/* What follows from the times of one run. NaN where something is unknown;
 * rates, too, where the writer drops the data. */
struct bt_values {
    double t_t_s;
    double computing_s;      /* T_T without the time in I/O of the slowest rank */
    double r_io;             /* bytes/s */
    double zeta;             /* T_T / T_C - 1 = zeta_io + zeta_compute: */
    double zeta_io;          /* time in I/O / T_C, the cost of the writer's calls */
    double zeta_compute;     /* computing_s / T_C - 1, how much slower computing was beside them */
    double t_c_round_s;      /* of the compute-only run of the same round and decomposition */
    double zeta_paired;      /* T_T / t_c_round_s - 1, the sum of its three terms: */
    double zeta_data;        /* the writer's calls and flushing */
    double zeta_bookkeeping; /* staging, digests, agreement, manifest */
    double zeta_slowdown; /* by how much computing was slower. Where the round has no T_C, the terms
                              * are over the best one, and their sum is zeta */
    double write_rate;    /* bytes/s while dumps were written */
    double implied_rate;  /* bytes / (T_T - T_C), bytes/s */
    double compute_s, io_s, both_s; /* computing, data on their way, both; slowest ranks' */
    double both_share;              /* both_s / io_s; NaN: no data were on their way */
    double sync_s;                  /* durability, slowest rank */
    double gop, compute_gop;        /* Gop/s of T_T and of T_C */
    bool by_dumps;                  /* R_IO from the number of dumps, since it is not N_S / I_W */
};
struct bt_values bt_values_of(const struct bt_job *job, const struct bt_run *run);

/* Times that single dumps held up the slowest rank: write call and wait for the dump before. */
struct bt_dump_times {
    int64_t n; /* dumps of all runs of the writer */
    double p50_s, p90_s, p99_s, max_s;
};

/* What a reading costs as a share of the computing during which as many dumps are written: of the part
 * of T_C, that of the round or else the best, that dumps read / dumps written is. NaN without a T_C. */
struct bt_read_values {
    double t_r_s, rate, requests; /* s, bytes/s, read calls of all ranks */
    double cached_share;          /* of the dumps, in memory before; NaN: unknown */
    double computing_s;           /* what it is compared with */
    double zeta;                  /* T_R over that, the sum of its two terms: */
    double zeta_data;             /* the writer's calls */
    double zeta_bookkeeping; /* finding the file, manifest, putting values into place, agreement */
    bool paired;             /* over the T_C of the round */
};
struct bt_read_values bt_read_values_of(const struct bt_job *job, const struct bt_run *run,
                                        const struct bt_reading *r);

/* One kind of reading of a writer's files, over its runs: medians, each by itself. */
struct bt_read_row {
    const char *writer;             /* borrowed from the job */
    const struct bt_reading *first; /* one of them: decomposition, state of the cache */
    int runs;
    int pairs; /* rounds of them with a compute-only run */
    struct bt_read_values median;
    struct balance_estimate zeta, data; /* over the pairs; looks as of a writer */
    bool right;                         /* every one */
    bool from_device; /* of every one at most CACHE_SHARE of the dumps was in memory before */
    json_t *stamps;   /* of bt/judge_read */
    const char *answer, *reason; /* as of a writer */
};
#define BT_READ_ROWS_MAX (2 * BT_READ_SHAPES_MAX)

/* Bytes/s of a reading, and the share of its dumps that was in memory before, NaN when unknown. */
double bt_reading_rate(const struct bt_reading *r);
double bt_reading_cached(const struct bt_reading *r);

/* Whether both are the same kind: decomposition, ranks, state of the cache. */
bool bt_reading_alike(const struct bt_reading *a, const struct bt_reading *b);

/* The reading of a run that is like this one; NULL: it has none. Borrowed. */
const struct bt_reading *bt_reading_of(const struct bt_run *run, const struct bt_reading *like);

/* Readings of a writer's runs that came to their end, in the order of the first run. row: [out] at
 * least BT_READ_ROWS_MAX, without stamps. Returns how many. */
int bt_read_rows(const struct bt_job *job, const char *writer, struct bt_read_row *row);

struct bt_row {
    const char *writer;             /* borrowed from the job */
    const struct bt_outcome *first; /* one of the runs */
    int runs;                       /* that came to their end */
    int pairs;                      /* rounds of them with a compute-only run */
    struct bt_values median;        /* of each quantity by itself */
    struct bt_values best;          /* of the run with the shortest T_T */
    /* One look, at the last round, where the number of rounds was given; else those of the plan up to
     * BT_AUTO_ROUNDS. */
    struct balance_estimate t_t;                                 /* s; its bounds mean nothing */
    struct balance_estimate paired, data, bookkeeping, slowdown; /* over the pairs */
    struct bt_dump_times dump;                                   /* n = 0: none */
    int64_t bytes;                                               /* of a run */
    bool verified;                                               /* every run */
    bool wrong;                                                  /* one of the runs */
    int reads_n;
    struct bt_read_row read[BT_READ_ROWS_MAX]; /* [reads_n] of bt/judge */
    bool page_cache;                           /* a run of it measured memory instead of a device */
    bool official;      /* every run is the official case, verified, in a serial file */
    json_t *stamps;     /* of bt/judge */
    const char *answer; /* of bt/judge: code of one of the stamps, borrowed; NULL: none is due */
    const char *reason; /* why it is not measurable, a word; NULL */
};

/* Whether a run may be called an official result. */
bool bt_is_official(const struct bt_job *job, const struct bt_outcome *o);

/* Writers by median T_T, shortest first; a run without writing comes last. row: [out] at least
 * BT_RUNS_MAX + 1. Returns how many rows; writers without a completed run are left out, and runs
 * that continued an earlier one. */
int bt_ranking(const struct bt_job *job, struct bt_row *row);

/* The row that the report describes in full: the fastest writer that left a right serial file, else
 * the fastest. n >= 1. */
const struct bt_row *bt_headline(const struct bt_row *row, int n);

#endif
