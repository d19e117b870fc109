/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_RECORD_H
#define PROFILE_RECORD_H
/* Layer 3. What the preloaded library leaves of one process, and nht1-profile reads: a file that is
 * mapped into memory while the program runs, so that nothing is lost when it dies, by SIGKILL too.
 *
 *     DIR/rank-R      struct profile_map of a rank, of whose files, phases and runs files_n, phases_n and
 *                     runs_n hold something; sparse, in the byte order of the machine
 *     DIR/process-P-N the same of a process that is not a rank, P its number
 *     DIR/here-P-HOST an empty file: process P of that host has the library in it, or had
 *     DIR/file-HASH   struct profile_before of a name that the program has changed
 *     DIR/special-HASH the same of a FIFO, a device or a socket that the program has made by mknod and its like
 *     DIR/names       PROFILE_NAMES_BYTES, a bit for the last part of each of these names
 *     DIR/now-HASH    what stands for the name while writes are dropped: struct profile_stand_in, or a
 *                     folder
 *     DIR/unseen-W-P  something that cannot be followed: W a word of profile_unseen, P a process; holds
 *                     the program's name and what it was about, a line each
 *
 * A phase becomes a working point: the calls on one file from its opening, or from the last change
 * at which the user wants to separate, to the next. The n-th phase of a file on one rank belongs
 * to the n-th of that file on the others; a file that is opened by other numbers of processes is
 * another one here. Times are seconds of CLOCK_REALTIME. */
#include <stdint.h>

#include "companions/workload/function.h"
#include "companions/workload/runs.h"

#define PROFILE_MAGIC        UINT64_C(0x33657270316e7468)
#define PROFILE_FILES_MAX    16384
#define PROFILE_NAME_MAX     1024
#define PROFILE_PHASE_MAX    16384
#define PROFILE_RUNS_MAX     65536
#define PROFILE_BINS         512 /* of the timeline */
#define PROFILE_BURSTS_MAX   2048
#define PROFILE_TOGETHER_MAX 16384
#define PROFILE_SIZES        48 /* of the histogram: a call of b bytes counts in floor(log2 b) */

/* Ends, with the number of the profiler, the name of what an earlier run has left, while the next one runs. */
#define PROFILE_ASIDE ".before-"

/* The name of DIR/here-P-HOST: DIR, the process, its host. */
#define PROFILE_HERE     "%.3800s/here-%d-%.255s"
#define PROFILE_HERE_MAX 4096

/* Settings of the library, in its environment. */
#define PROFILE_ENV_DIR    "NHT1_PROFILE_DIR"
#define PROFILE_ENV_SPLIT  "NHT1_PROFILE_SPLIT"  /* run, open, direction, or a number of calls */
#define PROFILE_ENV_DROP   "NHT1_PROFILE_DROP"   /* 1: writes are dropped */
#define PROFILE_ENV_OUTPUT "NHT1_PROFILE_OUTPUT" /* the device of standard output with writes */
#define PROFILE_ENV_READS  "NHT1_PROFILE_READS"  /* 1: what is read of written files is compared */
#define PROFILE_ENV_FILES  "NHT1_PROFILE_FILES"  /* a folder: POSIX calls on files below it */
#define PROFILE_ENV_RUNS   "NHT1_PROFILE_RUNS"   /* 1: accesses are recorded one by one, as runs */

/* The interface through which a program uses a file. */
/* A folder is no file that data are moved in. */
enum profile_interface { PROFILE_MPI_IO, PROFILE_POSIX, PROFILE_FOLDER };

/* Functions that move no data but take time, and waiting for requests of MPI-IO. */
enum profile_other {
    PROFILE_OPEN,
    PROFILE_VIEW,
    PROFILE_SYNC,
    PROFILE_SIZE, /* set_size, preallocate; ftruncate, fallocate */
    PROFILE_SEEK,
    PROFILE_WAIT,
    PROFILE_CLOSE,
    PROFILE_RENAME,
    PROFILE_REMOVE,
    PROFILE_OTHERS
};

struct profile_calls {
    uint64_t n, bytes;
    uint64_t ns, ns_max; /* inside the function, or inside both of a split collective call */
};

/* What a rank did with a file, so that two runs can be compared: the data access functions, then the
 * others. Waiting and asking are not in it. */
#define PROFILE_TRACED (WORKLOAD_KINDS + PROFILE_OTHERS)
struct profile_trace {
    struct profile_traced {
        uint64_t n, bytes;
    } of[PROFILE_TRACED];
    uint64_t digest; /* of functions, sizes and offsets in their order */
    uint64_t
        read_sum; /* of what was read by POSIX calls after the file was opened for writing, and where */
    int32_t thread;  /* the first one's number */
    int32_t threads; /* that used the file: 0, 1, or 2 for more */
};

#define PROFILE_PATH_MAX    4096
#define PROFILE_NAMES_BYTES 65536

/* What a name referred to before the program's first call that changes it, or that would. */
struct profile_before {
    int64_t before_size; /* -1: there was none */
    int64_t before_s;    /* when it was modified, and */
    int32_t before_ns;
    int64_t changed_s; /* when anything of it was changed, which no program can set */
    int32_t changed_ns;
    int32_t before_mode; /* its permissions */
    int32_t written;     /* it was opened for writing, or changed in other ways */
    int32_t
        created; /* it is younger than the folder of counters: by the program, past this library */
    int32_t directory; /* it was, or became, a folder */
    int32_t writable;  /* what was there could be opened for writing */
    int32_t gone;      /* the program has removed or renamed it since */
    int32_t special;   /* what the program has made there is no file */
    int32_t temporary; /* where six characters of the name begin that mkstemp has chosen; 0: none */
    char name[PROFILE_PATH_MAX];  /* whole path */
    char moved[PROFILE_PATH_MAX]; /* to where the program has renamed it in the end; or empty */
};

/* What a program that drops its writes has open instead of a file. The kernel keeps its position, its
 * names and who has it open; the rest is here, mapped by all processes that use it. */
#define PROFILE_STAND_IN_MAGIC UINT64_C(0x6e692d646e617473)
struct profile_stand_in {
    uint64_t magic;
    int64_t size;    /* that the file would have */
    int32_t written; /* opened for writing in this run */
    int32_t pad;
    char name[PROFILE_PATH_MAX]; /* of the file that the real run has left */
};

/* What the library cannot trace; such a run has no zeta. */
enum profile_unseen {
    PROFILE_UNSEEN_MEMORY,
    PROFILE_UNSEEN_DESCRIPTORS,
    PROFILE_UNSEEN_LIMIT,
    PROFILE_UNSEEN_LONG,
    PROFILE_UNSEEN_SECOND,
    PROFILE_UNSEEN_STATIC,
    PROFILE_UNSEEN_DIRECT,
    PROFILE_UNSEEN_URING,
    PROFILE_UNSEEN_AIO,
    PROFILE_UNSEEN_MAPPED,
    PROFILE_UNSEEN_LINKED,
    PROFILE_UNSEEN_SHAPED,
    PROFILE_UNSEEN_STDIO,
    PROFILE_UNSEEN_OPENED,
    PROFILE_UNSEEN_JUMP,
    PROFILE_UNSEEN_CALLBACK,
    PROFILE_UNSEEN_TOOL,
    PROFILE_UNSEEN_MANY,
    PROFILE_UNSEEN_EARLIER,
    PROFILE_UNSEEN_NAMELESS,
    PROFILE_UNSEEN_LISTED,
    PROFILE_UNSEEN_OUTSIDE,
    PROFILE_UNSEEN_AWAY,
    PROFILE_UNSEEN_BEHIND,
    PROFILE_UNSEENS
};

/* Their names in file names and in results. */
static inline const char *profile_unseen_word(int what)
{
    static const char *const word[PROFILE_UNSEENS] = {
        "memory", "descriptors", "limit",   "long",     "second", "static",  "direct", "uring",
        "aio",    "mapped",      "linked",  "shaped",   "stdio",  "opened",  "jump",   "callback",
        "tool",   "many",        "earlier", "nameless", "listed", "outside", "away",   "behind"};
    return word[what];
}

struct profile_file {
    char name[PROFILE_NAME_MAX];
    int32_t comm_size, comm_rank; /* of the communicator that it was opened with */
    int32_t phases_n;             /* of this file, on this rank */
    int32_t opens_n;
    int32_t interface; /* enum profile_interface */
    int32_t local;     /* on a file system of this node alone */
    int32_t chosen;    /* where six characters of the name begin that mkstemp has chosen; 0: none */
    int32_t each; /* all ranks have opened it, each by itself; known when the program has ended */
    int32_t
        temporary; /* bytes of the name before what was made and is gone in the end, 0: it is not gone; known
                          when the program has ended */
    struct profile_trace trace;
};

/* Where in the file the calls of a function lay, those through views without holes. */
struct profile_places {
    uint64_t n;         /* calls */
    int64_t begin, end; /* the bytes that all of them cover; end 0: nothing yet */
    int64_t next;       /* where the last one ended */
    uint64_t skips;     /* calls that did not begin where the one before had ended */
    uint64_t lead;      /* calls before the first of those */
};

/* Notes where a call lay. */
static inline void profile_place(struct profile_places *l, int64_t begin, int64_t bytes)
{
    l->n++;
    if (bytes == 0) return;
    if (l->end > 0 && begin != l->next) {
        if (l->skips == 0) l->lead = l->n - 1;
        l->skips++;
    }
    if (l->end == 0 || begin < l->begin) l->begin = begin;
    l->next = begin + bytes;
    if (l->next > l->end) l->end = l->next;
}

/* Kinds whose places are known come first: all but those with the shared pointer. */
#define PROFILE_PLACED WORKLOAD_KIND(SHARED, 0, BLOCKING, 0)

struct profile_phase {
    int32_t file;    /* index, -1: more files than there is room for */
    int32_t ordinal; /* the n-th phase of the file on this rank */
    int32_t comm_size, comm_rank;
    int32_t
        opening; /* of the file by MPI-IO on this rank in which it is, from 1; 0: it may be of several */
    double begin_s, end_s;
    uint64_t pieces;  /* contiguous pieces in the file, all calls */
    uint64_t unknown; /* calls whose pieces are not known */
    uint64_t
        sequential; /* calls that began where the one before on the file had ended; the first */
    uint64_t sizes[2][PROFILE_SIZES]; /* calls by size; reads, writes */
    uint64_t think_ns;                /* from call to call outside of MPI-IO */
    struct profile_calls kind[WORKLOAD_KINDS];
    struct profile_places places[PROFILE_PLACED];
};

/* From best to worst. */
enum profile_state {
    PROFILE_FINALIZED = 1, /* or, without MPI, ended by itself */
    PROFILE_RUNNING,       /* and, when the program is over, died */
    PROFILE_ABORTED,       /* called MPI_Abort */
};

/* One of the slowest calls of a rank. */
#define PROFILE_SLOW 10
struct profile_slow {
    uint64_t ns; /* 0: none */
    double begin_s;
    int64_t at, bytes; /* at: the byte in the file where it began, -1: not known */
    int32_t file, kind;
};

/* A time in which one thread or another was inside I/O, for inside_ns of it. */
struct profile_burst {
    uint64_t begin_ns, end_ns, inside_ns;
};

/* Two of them as one. What both say of the same time counts once where they are inside I/O all along. */
static inline struct profile_burst profile_burst_joined(const struct profile_burst *a,
                                                        const struct profile_burst *b)
{
    struct profile_burst one = {.begin_ns = a->begin_ns < b->begin_ns ? a->begin_ns : b->begin_ns,
                                .end_ns = a->end_ns > b->end_ns ? a->end_ns : b->end_ns,
                                .inside_ns = a->inside_ns + b->inside_ns};
    if (one.inside_ns > one.end_ns - one.begin_ns) one.inside_ns = one.end_ns - one.begin_ns;
    return one;
}

struct profile_map {
    uint64_t magic;
    int32_t rank, size; /* -1, 0: no rank */
    int32_t state, abort_code;
    int32_t by_direction; /* phases end where reading and writing follow each other */
    int64_t pid, parent;
    char host[256];
    char program[256]; /* its name, without a folder */
    char library[256]; /* MPI's own words, first line; empty: no MPI */
    /* End of MPI_Init, else when the library was loaded; MPI_Finalize, else the last call. */
    double init_s, last_s;
    /* Up to MPI_Finalize: CPU time of the process since it began, and of its thread that called MPI_Init the
     * time since then in which it ran, or could have run and had no processor; 0: not known. */
    double user_s, system_s, ran_s, waited_s;
    int32_t files_n, phases_n;
    int32_t files_lost, phases_lost; /* that found no room of their own */
    int32_t dropping;
    uint64_t dropped_n, dropped_bytes;
    uint64_t kept_n, kept_bytes; /* writes that are made as reads: the shared pointer's */
    struct profile_calls other[PROFILE_OTHERS];
    uint64_t synced_n; /* openings for writing by O_SYNC or O_DSYNC */
    /* Notes that this library has made of names (struct profile_before), of a rank from MPI_Init to MPI_Finalize, and their
     * time; whether that is inside I/O. */
    uint64_t notes_n, notes_ns;
    int32_t notes_inside;
    /* Of a rank: what of all that was before the end of MPI_Init, or after MPI_Finalize began. */
    uint64_t outside_bytes[2], outside_ns;  /* read, written; inside I/O */
    struct profile_slow slow[PROFILE_SLOW]; /* in no order */
    double
        bins_s; /* when the first bin begins: init_s, or earlier where a rank wrote before MPI_Init */
    double bin_s; /* width of a bin */
    uint64_t bin_bytes[2][PROFILE_BINS], bin_ns[PROFILE_BINS];
    /* Accesses that are not among the runs. unplaced: by the shared pointer, or through a view whose pieces are not known; lost:
     * when there was no room for another run. */
    struct profile_missed {
        uint64_t n, bytes;
    } unplaced, lost;
    int32_t runs_n;
    /* Without outside_ns; in the order of time, and apart by more than the gap: 0 until they are too many. */
    int32_t bursts_n;
    uint64_t burst_gap_ns;
    /* Of a rank: the first calls that all ranks make together are none of these. */
    int32_t together_n;
    struct profile_burst burst[PROFILE_BURSTS_MAX];
    struct profile_together {
        uint64_t begin_ns, end_ns;
    } together[PROFILE_TOGETHER_MAX];
    struct profile_file file[PROFILE_FILES_MAX];
    struct profile_phase phase[PROFILE_PHASE_MAX];
    struct workload_run run[PROFILE_RUNS_MAX];
};

#endif
