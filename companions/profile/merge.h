/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_MERGE_H
#define PROFILE_MERGE_H
/* Layer 3. From the files that the ranks of a program have left to working points and a result. All
 * functions are local. */
#include <jansson.h>
#include <stdio.h>

#include "base/err.h"
#include "companions/profile/record.h"
#include "companions/workload/point.h"

/* One run of the program as its ranks saw it. */
struct profile_run {
    int size;                        /* ranks that the program had; 0: none left anything */
    int ranks_n;                     /* ranks that left something */
    const struct profile_map **rank; /* [size], NULL for a rank without a file */
    double wall_s;                   /* MPI_Init to MPI_Finalize, slowest rank */
    double io_s;                     /* inside MPI-IO, mean over ranks */
    double io_max_s;                 /* slowest rank */
    int io_max_rank;
    int64_t bytes[2]; /* read, written */
    int64_t calls[2];
    int64_t dropped_bytes, kept_bytes;
    int64_t past_n, past_bytes;     /* written into files past MPI-IO */
    const struct profile_map *past; /* a rank that has done so, or NULL */
    int lost_n;                     /* files and working points that were counted with others */
    enum profile_state state;       /* the worst of all ranks */
};

/* Maps what the ranks have left in a folder. Returns 0, ERR_IO or ERR_NOMEM; a folder without any
 * rank's file is no error, size is 0 then. */
int profile_load(const char *dir, struct profile_run *run);
void profile_free(struct profile_run *run);

/* The working points, by time. [out] w: to be freed by workload_free; left_out: points that are not in it,
 * because nht1-workload would refuse them; why: of the first of them. Returns 0 or ERR_NOMEM. */
int profile_workload(const struct profile_run *run, struct workload *w, int *left_out,
                     char why[ERR_MESSAGE_MAX]);

/* What was gathered, as the "profile" object of the result: files, working points with their calls,
 * sizes and times over ranks, other functions, timeline. New reference. */
json_t *profile_json(const struct profile_run *run);

/* The same in words. */
void profile_print(const struct profile_run *run, FILE *to);

#endif
