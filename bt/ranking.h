/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_RANKING_H
#define BT_RANKING_H
/* Floor 2. The runs of a job, summed up by writer: the headline is the median over the rounds. */
#include "bt/job.h"

struct bt_row {
    const char *writer;       /* borrowed from the job */
    int runs;                 /* that came to their end */
    double t_t_s, best_t_t_s; /* median, best */
    double ci_lo_s, ci_hi_s;  /* 95 % confidence interval of the median T_T; NaN below 3 runs */
    double zeta, best_zeta;   /* of these; NaN without T_C */
    double r_io, best_r_io;   /* bytes/s; NaN for a run without writing */
    double write_rate;        /* bytes/s while dumps were written, median */
    double sync_s;            /* durability, slowest rank, median */
    double slowness;          /* time of computing between the dumps over T_C, median; NaN */
    int64_t bytes;
    bool verified; /* every run */
    bool wrong;    /* one of the runs */
    bool serial_file;
    bool page_cache;                /* a run of it measured memory instead of a device */
    bool official;                  /* the official case of [F93], verified, in a serial file */
    const struct bt_outcome *first; /* one of the runs */
};

/* What follows from the time of one run. NaN where something is unknown. */
struct bt_values {
    double r_io; /* bytes/s */
    double zeta;
    double write_rate;       /* bytes/s */
    double implied_rate;     /* bytes / (T_T - T_C), bytes/s */
    double gop, compute_gop; /* Gop/s of T_T and of T_C */
    bool by_dumps;           /* R_IO from the number of dumps, since it is not N_S / I_W */
};
struct bt_values bt_values_of(const struct bt_job *job, const struct bt_run *run);

/* Whether a run may be called an official result. */
bool bt_is_official(const struct bt_job *job, const struct bt_outcome *o);

/* Writers by median T_T, shortest first; runs without writing come last. row: [out] at least
 * BT_RUNS_MAX + 1. Returns how many rows; writers without a completed run are left out, and runs
 * that continued an earlier one. Local. */
int bt_ranking(const struct bt_job *job, struct bt_row *row);

#endif
