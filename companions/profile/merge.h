/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_MERGE_H
#define PROFILE_MERGE_H
/* Layer 3. Makes working points and a result of the files that the ranks of a program have left. All
 * functions are local. */
#include <jansson.h>
#include <stdio.h>

#include "base/err.h"
#include "companions/profile/record.h"
#include "companions/workload/point.h"

/* Something that the program did and that the library cannot trace. */
struct profile_not_seen {
    enum profile_unseen what;
    char program[256];
    char name[PROFILE_NAME_MAX]; /* of a file or a function */
};
#define PROFILE_NOT_SEEN_MAX 16

/* One run of the program as its processes saw it. */
struct profile_run {
    int size;    /* processes: ranks first, then others; 0: none left anything */
    int mpi_n;   /* ranks that the program had; 0: it is not an MPI program */
    int ranks_n; /* processes that left something */
    const struct profile_map **rank; /* [size], NULL for a rank without a file */
    int beside_n;          /* processes that are no ranks, and began and ended while these ran */
    double begin_s, end_s; /* first MPI_Init, last MPI_Finalize */
    double wall_s;         /* MPI_Init to MPI_Finalize, slowest rank; else of the command */
    double io_s;           /* inside I/O meanwhile, mean over ranks; without MPI over processes */
    double io_max_s;       /* slowest of them, of all its threads together */
    double io_max_any_s;   /* while at least one thread of that was */
    int io_max_rank;
    /* While at least one of them, or of those beside them, was inside I/O, inside a call of all ranks when the last of them had begun it; at most,
     * where one had more than PROFILE_BURSTS_MAX bursts or PROFILE_TOGETHER_MAX such calls. */
    double io_any_s;
    double io_wait_s; /* in collective calls that the last rank had not begun: mean over ranks */
    int64_t bytes[2]; /* read, written */
    int64_t outside_bytes
        [2]; /* of these, before or after wall_s, or by processes that began or ended there */
    int64_t calls[2];
    int64_t dropped_bytes, kept_bytes;
    int64_t posix_bytes[2], posix_calls[2]; /* of these, by POSIX calls */
    int64_t notes_n;                        /* of names, that the library made meanwhile, and */
    double notes_s, notes_max_s; /* their time, summed over all processes, and of the slowest, */
    bool notes_inside;           /* which is inside I/O, as with --t-c */
    bool at_once;                /* processes that are no ranks were inside I/O while others were */
    bool shared;              /* several ranks, but not all, have opened a file, each by itself */
    int lost_n;               /* files and working points that were counted with others */
    enum profile_state state; /* the worst of all processes */
    struct profile_not_seen not_seen[PROFILE_NOT_SEEN_MAX];
    int not_seen_n;
};

/* Copies what the processes of a command have left in a folder. command_s: how long it took. Returns 0, ERR_IO
 * or ERR_NOMEM; a folder without any process's file is not an error, size is 0 then. */
int profile_load(const char *dir, double command_s, struct profile_run *run);
void profile_free(struct profile_run *run);

/* What was not seen, as a sentence without its end. */
void profile_not_seen_text(const struct profile_not_seen *n, char out[ERR_MESSAGE_MAX]);

/* Bytes per second that were read, or written, within the time that wall_s is. seconds: this one, or a median. */
double profile_rate(const struct profile_run *run, int write, double seconds);

/* "rank" or "process", and one of its number: ranks are those of MPI, processes are numbered by time. */
const char *profile_process_word(const struct profile_run *run, int index);

/* The working points, by time. [out] w: to be freed by workload_free; left_out: points that are not in it,
 * because nht1-workload would refuse them; why: of the first of them. Returns 0 or ERR_NOMEM. */
int profile_workload(const struct profile_run *run, struct workload *w, int *left_out,
                     char why[ERR_MESSAGE_MAX]);

/* The "profile" object of the result: files, working points with their calls,
 * sizes and times over ranks, other functions, timeline. New reference. */
json_t *profile_json(const struct profile_run *run);

/* The same as text. */
void profile_print(const struct profile_run *run, FILE *to);

#endif
