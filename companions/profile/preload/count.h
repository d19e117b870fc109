/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_PRELOAD_COUNT_H
#define PROFILE_PRELOAD_COUNT_H
/* Layer 3. The counters of this process, in a mapped file (record.h), whatever interface the calls come
 * through. Free of MPI. Functions marked "locked" are called between count_lock and count_unlock; the
 * others lock by themselves where they have to. */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "companions/profile/record.h"

/* Hidden: none of these names may interpose one of the program's. */
#pragma GCC visibility push(hidden)

/* Reads the settings. Returns whether the process is profiled. */
bool count_setup(void);

const char *count_dir(void); /* the folder of counters */
bool count_dropping(void);   /* writes are dropped */
bool count_digests(void);    /* what is read of written files is compared between runs */

/* Above 0: the thread is in a call that is counted already, or in this library. */
int *count_inside(void);

/* The thread goes into a function of the program that may have come in the middle of anything, such as the handler of a
 * signal: nothing is followed until it returns. Safe in handlers. */
struct count_back {
    int inside, deep;
};
struct count_back count_called_back(void); /* what was before */
void count_returned(struct count_back was);
bool count_is_back(void); /* in such a function */

/* It ends the process or becomes another program, if that does not fail: what it does from here on is followed. Locks of
 * the calls that it came in the middle of are given up, which is told, as they may be half done. */
void count_left(void);

/* It is left by a jump: to what was when another one, which goes on, had begun, or (0, 0) out of all of them, and out of
 * the calls that they came in the middle of. */
void count_left_for(struct count_back to);

/* Makes the counters: of a rank, or (rank -1) of a process that is none so far; if they exist they
 * become those of that rank. NULL: errno. */
struct profile_map *count_begin(int rank, int size);
struct profile_map *count_map(void); /* NULL: none were made */

/* MPI_Finalize or the end of the process: first of both. */
void count_end(void);
void count_leaving(void);  /* the process ends: count_end, and nothing is to be ended any more */
void count_going_on(void); /* it did not */

/* The process was forked: the counters are its parent's, and another thread of it may have been changing
 * them. */
void count_forked(void);

void count_lock(void);
void count_unlock(void);

/* Every mutex of the library is locked and unlocked by these: last locked, first unlocked. A thread that is cancelled
 * leaves none locked, nor does a handler that does not return (count_left), which is told. */
void count_hold(pthread_mutex_t *mutex);
void count_release(pthread_mutex_t *mutex);

/* The time of day of the program's start, and what has passed since, even if the clock is set. */
uint64_t count_now_ns(void);

/* How a program uses a file that it has open. */
struct use {
    int file, comm_size, comm_rank;
    int phase;   /* index, -1: the next call begins one */
    int opening; /* by MPI-IO, from 1 */
    bool last_write;
    uint64_t calls;             /* in the phase */
    uint64_t end_ns, end_io_ns; /* of the last call, and the time inside I/O then */
};

/* The place in the table of a file with so many processes, locked; the last one holds all that found none. */
int count_file(const char *name, int comm_size, int comm_rank, enum profile_interface interface);

/* Notes where six characters of the name of a file begin that mkstemp has chosen. */
void count_chosen(int file, const char *name, int at);

/* Enters a call into the trace of its file, locked. function: a kind, or WORKLOAD_KINDS + a profile_other. */
void count_trace(int file, int function, int64_t bytes, int64_t at);

/* The phase that a call belongs to, locked; begins one where --split says so. */
struct profile_phase *count_phase(struct use *use, bool write, uint64_t start_ns);

/* Enters a data access into its phase: calls, bytes, sizes, time, thinking, timeline; locked. before_ns: of
 * its first half. */
void count_access(struct use *use, struct profile_phase *p, int kind, int64_t bytes,
                  uint64_t start_ns, uint64_t end_ns, uint64_t before_ns);

/* Whether the runs of this process are asked for (PROFILE_ENV_RUNS). */
bool count_runs_wanted(void);

/* Enters a call into the runs of this process, if these are asked for (PROFILE_ENV_RUNS), locked. flags:
 * workload_run_flags; at: its first byte in the file, -1: not known. */
void count_run(int file, enum workload_run_call call, int flags, int64_t at, int64_t bytes);

/* Time inside I/O of a call that is not over, locked. */
void count_half(uint64_t ns);

/* Where to enter a call that took so long, locked; NULL: it is none of the slowest. */
struct profile_slow *count_slow(uint64_t ns);

/* Counts a function that moves no data. comm_size: of the ranks that call it together; 1: of a process for itself. */
void count_other(enum profile_other what, int comm_size, uint64_t start_ns);

/* Counts a note that was made of a name since start_ns. */
void count_noted(uint64_t start_ns);

/* When a call begins, now that its names are noted, which was begun at start_ns: now. Where the run is compared with one
 * without writes at start_ns, so that notes are not taken for computing. */
uint64_t count_begun(uint64_t start_ns);

/* Counts one opening after which each write is flushed. */
void count_synced(void);

/* Whether the limit on file sizes allows as much, beyond which a write ends the program; else errno is set. */
bool count_fits(size_t bytes);

/* Tells nht1-profile of something that cannot be traced. what: a word of record.h; name: of a file or
 * program. Safe in the child of vfork. Returns whether this is new. */
bool count_unseen(const char *what, const char *name);

/* The same of something that cannot be followed, with the reason that an error number gives. */
bool count_unseen_why(int why, const char *name);

/* Takes that back where the folder of the counters can be reached. */
void count_unseen_unless_here(const char *what);

/* Notes that there is no room to trace a change of a file; while writes are dropped the process ends, rather
 * than change the file itself. */
void count_no_room(const char *name);

#pragma GCC visibility pop

#endif
