/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_WRITER_H
#define IO_WRITER_H
/* Layer 1. For those who write a writer: one const struct io_writer per writer_<name>.c and one
 * line in writer_list.h. docs/writers.md walks through one. Callers of writers: io/file.c, which
 * checks arguments, creates, locks and preallocates the file, times, counts bytes and agrees on
 * errors, and io/read.c for the way back; a writer moves bytes. */
#include <jansson.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "io/writers/container.h"
#include "io/file.h"
#include "io/view.h"

/* Of each row a bit. */
enum {
#define IO_SETTING(name, type, member, capability, ...) BIT_OF_##capability,
#include "io/setting_list.h"
#undef IO_SETTING
};

enum io_caps {
    IO_CAP_SERIAL_FILE = 1, /* leaves a file in serial format at the path */
    IO_CAP_HINTS = 2,       /* passes hints to the library */
    IO_CAP_WRAPPER = 4,     /* wraps another writer, "check:posix" */
    IO_CAP_PARTS = 8,       /* leaves a file per rank beside the path and a manifest at it */
    IO_CAP_COLLECTIVE =
        16,                /* writes by collective calls of MPI-IO, which have hints of their own */
    IO_CAP_YARDSTICK = 32, /* what programs commonly do: others are compared with it */
/* What else it obeys when it writes, of struct io_tuning: a capability for each setting. */
#define IO_SETTING(name, type, member, capability, ...) capability = 256 << BIT_OF_##capability,
#include "io/setting_list.h"
#undef IO_SETTING
};

/* Any of these: what is written can be read back. */
#define IO_CAPS_DATA (IO_CAP_SERIAL_FILE | IO_CAP_PARTS)

/* What a writer rests on beyond plain writing, as `nht1-bt --probe` tries it. */
enum io_need {
    IO_NEED_URING = 1,
    IO_NEED_INDEPENDENT = 2, /* of MPI-IO, and all that follow */
    IO_NEED_COLLECTIVE = 4,
    IO_NEED_NONBLOCKING = 8,
    IO_NEED_VIEW = 16,
    IO_NEED_SYNC = 32,
    IO_NEED_MPIIO = 62, /* any of these */
};

struct io_writer;
struct io_busy;

/* What a writer is given at open; borrowed, outlives the writer's state. */
struct io_context {
    MPI_Comm comm; /* the file's own duplicate: messages cannot meet those of others */
    int rank, size;
    const char *path;
    const struct io_view *view;      /* mine */
    const struct io_view *all_views; /* [size], every rank's */
    int64_t dump_bytes;              /* of the whole array */
    struct io_body body;             /* where the dumps lie in the file */
    int64_t dumps_n;                 /* planned */
    MPI_Info info;                   /* hints, never MPI_INFO_NULL */
    int64_t first_dump;              /* the dump that is written first; > 0 after a restart */
    int64_t durable_n;               /* dumps known to be on the device; for messages */
    struct io_tuning tuning;         /* every member has a value that makes sense */
    enum io_sync sync;               /* when data must be durable: a writer may flush early */
    int64_t *requests_n;             /* [out] add the number of write calls made */
    double *wait_s;                  /* [out] add what write waited for earlier dumps */
    struct io_busy *busy;            /* [out] io_busy_add what goes on behind the caller's back */
    const struct io_writer *inner;   /* what a wrapper wraps; NULL for the others */

    /* For reading; NULL and 0 where the file is opened for writing. */
    const int64_t *plan; /* [plan_n] the dumps that will be read, in this order; dumps_n is what the
                            file must be long enough for, first_dump 0 */
    int64_t plan_n;
    char *part; /* [tuning.buffer_bytes] memory for what is read at a time, aligned */
    const struct io_box *boxes; /* [boxes_n] of the ranks that wrote, where they left parts */
    int64_t boxes_n;
};

/* Where a reader puts what it has read. Local. */
struct io_taker {
    void *state;
    /* The bytes [start, start + bytes) of the staging buffer of v, which is the calling rank's view
     * or one of some of its cells, are at data, which is used no more afterwards. In any order, each
     * byte once; markers may be left out. With layout mijk start and bytes are multiples of
     * IO_WORD_BYTES. */
    void (*take)(void *state, const struct io_view *v, const char *data, int64_t start,
                 int64_t bytes);
    /* The bytes [start, start + bytes) of the dump are at data: of these, those of v. */
    void (*pick)(void *state, const struct io_view *v, const char *data, int64_t start,
                 int64_t bytes);
};

struct io_writer {
    const char *name; /* Required. */
    const char *help; /* Required. One line for --io help. */
    unsigned caps;    /* Required. Of enum io_caps. */
    unsigned needs;   /* Of enum io_need. */
    enum io_format
        format;        /* of FILE; other than IO_RAW: with the slots of io/writers/container.h. */
    size_t state_size; /* Required. Bytes of private state, zeroed before open. */

    /* Whether this system can run it. why: [out] of IO_WRITER_WHY bytes, where it cannot: what is
     * missing, with the package that has it. Optional, default: yes. Local. */
    bool (*usable)(char *why);

    /* Prepares for writing, or, with ctx->plan, for reading, and for that alone; the file exists with
     * its full length. Collective. Required. */
    int (*open)(void *state, const struct io_context *ctx);

    /* Memory of the writer's into which the caller may stage dump d, the next one, laid out as a
     * staging buffer; write is then called with it. May wait for memory. The same answer until
     * write; NULL for all dumps or for none. Local. Optional, default: NULL. */
    void *(*buffer)(void *state, const struct io_context *ctx, int64_t dump);

    /* Writes my bytes of dump d: on return buf may be changed by the caller. Called by every rank
     * in the same order. Returns a code of this rank's own, not agreed, and must come back on every
     * rank even when one of them fails: a failing rank goes on with its messages. Required. */
    int (*write)(void *state, const struct io_context *ctx, int64_t dump, const void *buf);

    /* For a writer that goes on after write has returned: the number of dumps, counted from the
     * file's first, whose bytes of this rank's are all in the file. Does not wait, makes progress
     * where that needs a call. A dump is complete when it is so on every rank. Local.
     * Optional, default: what write returned 0 for. */
    int64_t (*done)(void *state, const struct io_context *ctx);

    /* Waits until all that was written is in the file, errors included. Called by every rank.
     * The code is this rank's own. Optional, with done. */
    int (*drain)(void *state, const struct io_context *ctx);

    /* Reads my bytes of dump d, the next one of ctx->plan, and hands them over piece by piece. Called
     * by every rank in the same order, not after a failure. The code is this rank's own, and as in
     * write a failing rank still exchanges its messages; their content does not matter then. No more than a few pieces
     * of tuning.buffer_bytes are in memory at a time. Optional, default: as the writer posix. */
    int (*read)(void *state, const struct io_context *ctx, int64_t dump, const struct io_taker *to);

    /* Makes what was written durable, after drain. Collective. Required. */
    int (*sync)(void *state, const struct io_context *ctx);

    /* Ends writing or reading; called once whatever happened before. Collective. Required. */
    int (*close)(void *state, const struct io_context *ctx);

    /* Adds to a JSON object what is to be known about the open file: hints as the library reports
     * them, the library's component. Called once after open, on every rank. Local. Optional. */
    int (*describe)(void *state, const struct io_context *ctx, json_t *into);
};

/* The default writer, with which others are compared; it needs no library. Static. */
const struct io_writer *io_writer_plain(void);

/* The listed writer of that name, or NULL. "check:posix" gives the wrapper, if what it wraps
 * exists. */
const struct io_writer *io_writer_find(const char *name);

/* The message about a name that no writer has, with those that there are. Returns ERR_USAGE. */
int io_writer_unknown(const char *name);

/* The writer behind the colon of "check:posix"; NULL when there is no colon or no such writer. */
const struct io_writer *io_writer_inner(const char *name);

/* Capabilities of a writer by name, those of what it wraps included; 0 for an unknown name. */
unsigned io_writer_caps(const char *name);

/* Whether a writer by name, or what it wraps, goes on behind the caller's back; false for an unknown name. */
bool io_writer_in_background(const char *name);

/* Format of the file of a writer by name, of what it wraps where it is a wrapper; IO_RAW for an
 * unknown name. */
enum io_format io_writer_format(const char *name);

/* Whether a writer on the list can be used on this system, and what is missing where it cannot: "" or a
 * text in why, which is returned. Local. */
#define IO_WRITER_WHY 320
bool io_writer_usable(const struct io_writer *d);
const char *io_writer_lacks(const struct io_writer *d, char why[IO_WRITER_WHY]);

/* Whether it can, and has dumps of this layout in its files: records are a format of their own. */
bool io_writer_can(const struct io_writer *d, enum io_layout layout);

/* The i-th listed writer, NULL past the last. */
const struct io_writer *io_writer_at(int i);

#endif
