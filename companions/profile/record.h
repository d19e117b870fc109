/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_RECORD_H
#define PROFILE_RECORD_H
/* Layer 3. What the preloaded library leaves of one rank, and nht1-profile reads: a file that is
 * mapped into memory while the program runs, so that nothing is lost when it dies, by SIGKILL too.
 *
 *     DIR/rank-R      struct profile_map, of whose files and phases files_n and phases_n hold something;
 *                     sparse, in the byte order of the machine
 *     DIR/file-HASH   struct profile_before of a file that was opened or deleted
 *
 * A phase becomes a working point: the calls on one file from its opening, or from the last change
 * at which the user wants to separate, to the next. The n-th phase of a file on one rank belongs
 * to the n-th of that file on the others; a file that is opened by other numbers of processes is
 * another one here. Times are seconds of CLOCK_REALTIME. */
#include <stdint.h>

#include "companions/workload/function.h"

#define PROFILE_MAGIC     UINT64_C(0x31657270316e7468)
#define PROFILE_FILES_MAX 16384
#define PROFILE_NAME_MAX  1024
#define PROFILE_PHASE_MAX 16384
#define PROFILE_BINS      512 /* of the timeline */
#define PROFILE_SIZES     48  /* of the histogram: a call of b bytes counts in floor(log2 b) */

/* Settings of the library, in its environment. */
#define PROFILE_ENV_DIR   "NHT1_PROFILE_DIR"
#define PROFILE_ENV_SPLIT "NHT1_PROFILE_SPLIT" /* run, open, direction, or a number of calls */
#define PROFILE_ENV_DROP  "NHT1_PROFILE_DROP"  /* 1: writes are dropped */
#define PROFILE_ENV_PAST  "NHT1_PROFILE_PAST"  /* 0: writes past MPI-IO are not counted */

/* Functions of MPI-IO that move no data but take time, and waiting for requests of its. */
enum profile_other {
    PROFILE_OPEN,
    PROFILE_VIEW,
    PROFILE_SYNC,
    PROFILE_SIZE, /* set_size, preallocate */
    PROFILE_SEEK,
    PROFILE_WAIT,
    PROFILE_CLOSE,
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
    int32_t thread;  /* the first one's number */
    int32_t threads; /* that used the file: 0, 1, or 2 for more */
};

/* A file as the program would find it; the real run leaves what it found before its first call. */
struct profile_before {
    int64_t size;        /* -1: there is none */
    int64_t before_size; /* when the run began */
    int32_t written;     /* it was opened for writing */
    int32_t created; /* by the program, past MPI-IO: it is younger than the folder of counters */
    char name[4096]; /* whole path */
};

struct profile_file {
    char name[PROFILE_NAME_MAX];
    int32_t comm_size, comm_rank; /* of the communicator that it was opened with */
    int32_t phases_n;             /* of this file, on this rank */
    int32_t opens_n;
    struct profile_trace trace;
};

/* Where in the file the calls of a function lay, those through views without holes. */
struct profile_places {
    uint64_t n;         /* calls */
    int64_t begin, end; /* the bytes that all of them cover; end 0: nothing yet */
    int64_t next;       /* where the last one ended */
    uint64_t skips;     /* calls that did not begin where the one before had ended */
};

/* Kinds whose places are known come first: all but those with the shared pointer. */
#define PROFILE_PLACED WORKLOAD_KIND(SHARED, 0, BLOCKING, 0)

struct profile_phase {
    int32_t file;    /* index, -1: more files than there is room for */
    int32_t ordinal; /* the n-th phase of the file on this rank */
    int32_t comm_size, comm_rank;
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

/* From good to bad. */
enum profile_state {
    PROFILE_FINALIZED = 1,
    PROFILE_RUNNING, /* and, when the program is over, died */
    PROFILE_ABORTED, /* called MPI_Abort */
};

/* One of the slowest calls of a rank. */
#define PROFILE_SLOW 10
struct profile_slow {
    uint64_t ns; /* 0: none */
    double begin_s;
    int64_t at, bytes; /* at: the byte in the file where it began, -1: not known */
    int32_t file, kind;
};

struct profile_map {
    uint64_t magic;
    int32_t rank, size, state, abort_code;
    int64_t pid;
    char host[256];
    char library[256];     /* MPI's own words, first line */
    double init_s, last_s; /* end of MPI_Init; MPI_Finalize, else the last call */
    /* Up to MPI_Finalize: CPU time of the process since it began, and of its thread that called MPI_Init the
     * time since then in which it ran, or could have run and had no processor; 0: not known. */
    double user_s, system_s, ran_s, waited_s;
    int32_t files_n, phases_n;
    int32_t files_lost, phases_lost; /* that found no room of their own */
    int32_t dropping;
    uint64_t dropped_n, dropped_bytes;
    uint64_t kept_n, kept_bytes;      /* writes that are made as reads: the shared pointer's */
    uint64_t past_n, past_bytes;      /* written into files past MPI-IO */
    char past_name[PROFILE_NAME_MAX]; /* of the first of them */
    struct profile_calls other[PROFILE_OTHERS];
    struct profile_slow slow[PROFILE_SLOW]; /* in no order */
    double bin_s;                           /* width of a bin, from init_s on */
    uint64_t bin_bytes[2][PROFILE_BINS], bin_ns[PROFILE_BINS];
    struct profile_file file[PROFILE_FILES_MAX];
    struct profile_phase phase[PROFILE_PHASE_MAX];
};

#endif
