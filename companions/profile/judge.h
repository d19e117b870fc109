/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_JUDGE_H
#define PROFILE_JUDGE_H
/* Layer 3. zeta of a program from its pairs of runs, and the answer of docs/zeta.md. All functions are
 * local. */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/balance.h"
#include "base/disturbance.h"
#include "companions/profile/certificate.h"
#include "companions/profile/merge.h"

/* A pair of runs: with writes, and without. */
struct profile_round {
    double t_t_s, t_c_s;
    double t_io_s, c_io_s;     /* while a rank was inside I/O: opens and reads are in both */
    double t_wait_s, c_wait_s; /* of ranks in collective calls that the last rank had not begun */
    double took_s;             /* the whole pair */
    int64_t dropped_bytes, kept_bytes;
    struct certificate certificate;
    bool dropped_first;
    bool not_made;   /* a run of it could not be begun, or the program failed without its writes */
    bool page_cache; /* T_T measured memory: what was written had not reached a device */
    struct disturbance with, without; /* ended by profile_rounds_end */
};
void profile_rounds_end(struct profile_round *round, int n);

/* What kept the processors of a run's ranks busy. here: of this node, over the whole command, with the CPU
 * time of its children. Returns 0 or ERR_NOMEM. */
int profile_disturbance(const struct profile_run *run, const struct disturbance_part *here,
                        struct disturbance *d);

/* Medians over the pairs, and the answer. */
struct profile_zeta {
    int pairs;
    double t_t_s, t_c_s;
    double value, io; /* zeta; the part of it in which a rank is inside I/O */
    double wait;      /* what ranks wait more for each other in collective calls of I/O, over T_C */
    double reading;   /* inside I/O without writes, over T_C */
    struct balance_rounds rounds; /* the pairs, and the same over those that nothing disturbed */
    struct balance_estimate paired, data; /* of the two */
    json_t *stamps;                       /* owned: the answer, and the worst disturbance */
    const char *answer;                   /* code of one of the stamps */
    const char *reason;                   /* why it is not measurable, a word; NULL */
};

/* How many pairs to run. */
struct profile_pairs {
    int most;         /* that can be asked for */
    bool open;        /* they go on until it is decided */
    bool cut;         /* their time was over, or no further one could be begun */
    bool interrupted; /* they have ended because somebody has asked to stop */
    bool broken_off;  /* or because no further one could be made */
    int failed; /* exit status of the program in a run behind complete pairs, 0: none has failed */
};

/* n >= 1. Returns 0 or ERR_NOMEM. [out] z, to be freed by profile_zeta_end. */
int profile_judge(const struct profile_round *round, int n, const struct profile_pairs *pairs,
                  struct profile_zeta *z);

void profile_zeta_end(struct profile_zeta *z);

#endif
