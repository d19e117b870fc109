/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORKLOAD_POINT_H
#define WORKLOAD_POINT_H
/* Layer 2, free of MPI. A workload: an ordered list of working points, nine numbers each [V, 3.1],
 * and how it stands in a file. nht1-profile writes such files, nht1-workload replays them.
 *
 *     <workload version="1" mode="common" seed="1">
 *       <file index="0" name="btout.bin"/>
 *       <workingPoint file="0" processNum="4" sizeMean="42448" uniqueBytes="6791680" readFrac="0"
 *                     collFrac="1" syncFrac="1" seqFrac="0" sharedFrac="0" contMean="480">
 *         <calls function="write_at_all" n="40" bytes="1697920"/>
 *         <rank of="3" calls="40" bytes="11520" contMean="240"><calls .../></rank>
 *       </workingPoint>
 *     </workload>
 *
 * workload: version (1, required), mode "common" (default) or "separate" (a file per process), seed
 * (default 1). workingPoint: the nine numbers are required; file (default 0), think (seconds
 * between calls, default 0), nonblockingCollective "split" (default) or "request".
 *
 * This project's own extensions of the nine, which only a profile needs; what a replay obeys:
 * calls   so many calls of one function and their bytes, of one process. Where a point has any,
 *         they are the point's calls and its fractions only describe them. In a rank they are that
 *         process's alone; collective functions are called by all processes equally often.
 *         span, skips: of calls that do not follow each other in the file, how much of it all of
 *         them cover, and how many begin elsewhere than where the one before ended, with the
 *         individual pointer those before which it was moved; lead: calls before the first of these,
 *         where not all pieces between them have as many (a header, then the data). begin, shift:
 *         process r begins at the byte begin (default 0) + r * shift (default sizeMean, so that single
 *         calls interleave); in mode "separate" each at begin. Calls without any of these follow each
 *         other, each process in its own part.
 * rank    of: a process whose share is not that of the others, with its calls and its bytes, in
 *         ascending order. What is left of uniqueBytes is shared equally by the others. contMean:
 *         of this process, where it is not the point's, which is the mean of all.
 * file    the name that a profiled program gave a file, for people; a replay never opens it. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "companions/workload/function.h"

#define WORKLOAD_PROCESSES_MAX (1 << 20)
#define WORKLOAD_FILES_MAX     1024
#define WORKLOAD_BYTES_MAX     (INT64_C(1) << 60)
#define WORKLOAD_THINK_S_MAX   1e6
#define WORKLOAD_CALLS_MAX     (INT64_C(1) << 30) /* of one process in a point */

/* Calls of one function and their bytes, of one process. */
struct workload_calls {
    int kind; /* workload_kind_index */
    int64_t n, bytes;
    int64_t span, skips; /* 0: each call begins where the one before ended */
    int64_t lead;        /* calls before the first skip, 0: as many as between others */
    bool placed;         /* begin or shift is given */
    int64_t begin;       /* where these begin, of the first process */
    int64_t shift;       /* how much further on those of the next process do */
    bool shifted;        /* false: by sizeMean */
};

/* A process whose share differs from that of the others. */
struct workload_rank {
    int of;
    int64_t calls, bytes;
    double cont_mean; /* 0: the point's */
    int list_n;
    struct workload_calls *list; /* owned; none: the kinds are the point's */
};

struct workload_point {
    int64_t process_num;
    double size_mean;     /* bytes that a call of one process transfers */
    int64_t unique_bytes; /* transferred by all processes together */
    double read_frac, coll_frac, sync_frac, seq_frac, shared_frac;
    double cont_mean; /* bytes in one piece in the file; at least size_mean: no holes */
    int file;
    double think_s;
    bool request; /* nonblocking and collective is iwrite_all, not write_all_begin */
    int list_n, ranks_n;
    struct workload_calls *list; /* owned; none: the fractions decide */
    struct workload_rank *rank;  /* owned */
    int line, column;            /* where it stands in its file, 0: nowhere */
};

struct workload {
    bool separate; /* a file per process */
    uint64_t seed;
    int points_n;
    struct workload_point *point;        /* owned */
    char *file_name[WORKLOAD_FILES_MAX]; /* owned, NULL where not known */
};

/* The nine numbers by name, in the order of [V], Table of section 3.1. Numbers of a point are
 * reached by offset; whole numbers are int64_t, the others double. */
struct workload_number {
    const char *name;
    double min, max;
    bool whole;
    size_t offset;
    const char *help;
};
#define WORKLOAD_NUMBERS 9
extern const struct workload_number workload_numbers[WORKLOAD_NUMBERS];

/* The reference workload of [V, 4]: office work. */
struct workload_point workload_point_reference(void);

/* The number no of a point as a double. Local. */
double workload_point_number(const struct workload_point *p, int no);

/* Sets a number by its name from a text. Returns 0 or ERR_USAGE with a message that names it. */
int workload_point_set(struct workload_point *p, const char *name, const char *text);

/* What no single attribute shows to be wrong: a shared pointer with holes of its own for each
 * process, or in a file per process, collective calls there, ranks and calls that contradict the
 * rest. where: start of the message, "w.xml:3:5: ". Returns 0 or ERR_USAGE. */
int workload_point_check(const struct workload_point *p, bool separate, const char *where);

/* Whether they have places of their own, and do not just follow each other in the process's part of the file. */
bool workload_calls_placed(const struct workload_calls *c);

/* How much of the file these calls cover, of one process. */
int64_t workload_calls_extent(const struct workload_calls *c);

/* The first and the last process that are no <rank>; without any the last is before the first. ranks are in order. */
void workload_point_usual(const struct workload_point *p, int64_t end[2]);

/* Calls of a process that no <rank> is about: those of the lists, or as many as carry its share of
 * uniqueBytes in calls of sizeMean, the last one short. Local. */
int64_t workload_point_calls(const struct workload_point *p);

/* Appends a copy of the point, whose lists become the workload's. Returns 0 or ERR_NOMEM. */
int workload_add(struct workload *w, const struct workload_point *p);

/* Frees what it owns and clears it. */
void workload_free(struct workload *w);
void workload_point_free(struct workload_point *p);

/* How what workload_write writes begins. */
#define WORKLOAD_TEXT_BEGIN "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<workload version="

/* Writes the whole file; the caller looks after errors of the stream (ferror). What was written
 * reads back as the same workload. */
void workload_write(const struct workload *w, FILE *to);

/* Reads a text of so many bytes (companions/workload/xml.c, on expat). name: of the file, for messages
 * "name:line:column: what". Entities of its own, other elements, unknown, missing and repeated
 * attributes and numbers out of range are errors. [out] w, to be freed by workload_free, empty
 * after an error. Returns 0, ERR_USAGE or ERR_NOMEM. */
int workload_read(const char *name, const char *text, size_t bytes, struct workload *w);

#endif
