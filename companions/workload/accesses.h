/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORKLOAD_ACCESSES_H
#define WORKLOAD_ACCESSES_H
/* Layer 2, free of MPI. From a phase of a job file to the accesses of one process, the calls that
 * make them, and the memory that this takes. */
#include "companions/workload/jobfile.h"

/* How often a pattern is repeated for what the phase asks for, with `data auto` at first; at least
 * once. Local. */
int64_t workload_phase_repetitions(const struct workload_phase *p, int procs);

/* Whether a phase reads, and writes; read-modify-write does both. Local. */
bool workload_phase_reads(const struct workload_phase *p);
bool workload_phase_writes(const struct workload_phase *p);

/* Whether calls write out of the content as it is ready for all: each is contiguous in memory and file.
 * Local. */
bool workload_phase_direct(const struct workload_phase *p, const struct workload_shape *s);

/* What a process does in a phase. bytes: moved, by read-modify-write twice. NUM_ENDLESS where a
 * number does not fit. Local. */
struct workload_amount {
    int64_t accesses, calls, bytes;
};
struct workload_amount workload_phase_amount(const struct workload_phase *p,
                                             const struct workload_shape *s, int rank);

/* What a process needs for a phase: bytes, NUM_ENDLESS (base/num.h) where that does not fit. */
struct workload_need {
    int64_t file; /* length of the file */
    int64_t
        list; /* memory for the list of the accesses and what describes them to MPI; that of MPI's
                      own is estimated */
    int64_t
        ready; /* data that must lie ready in the buffers: what is written, unless it is direct */
    int64_t data; /* memory for data, what lies ready included */
};
struct workload_need workload_phase_need(const struct workload_phase *p,
                                         const struct workload_shape *s, int rank,
                                         int64_t buffer_bytes);

/* list + data. Local. */
int64_t workload_need_memory(const struct workload_need *n);

/* An access: its place in the file, the number that the shape gives it, its place in the view. */
struct workload_access {
    struct workload_extent in;
    int64_t number, view_offset;
};

struct workload_accesses {
    struct workload_access *access; /* [all], ascending in the file where there is a view; owned */
    int64_t all, n, calls;          /* of the pattern; made, the first ones; calls that make them */
    int64_t calls_in_slot;          /* flash's own memory holds all calls of a dump */
    int64_t slots_n, slot_bytes;    /* of memory for data: needed for all calls */
};

/* The accesses of a process. The shape's needs must have been found to fit. [out] a, to be freed by
 * workload_accesses_free, also after an error. Returns 0 or ERR_NOMEM. Local. */
int workload_accesses_make(const struct workload_phase *p, const struct workload_shape *s, int rank,
                           struct workload_accesses *a);
void workload_accesses_free(struct workload_accesses *a);

/* Accesses of call c: [*from, *to). Local. */
void workload_accesses_range(const struct workload_accesses *a, const struct workload_phase *p,
                             int64_t c, int64_t *from, int64_t *to);

/* Bytes of a call. Local. */
int64_t workload_accesses_bytes(const struct workload_accesses *a, const struct workload_phase *p,
                                int64_t c);

#endif
