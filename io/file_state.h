/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_FILE_STATE_H
#define IO_FILE_STATE_H
/* Layer 1. What is behind struct io_file; for the dispatcher's own files: file.c (writing and
 * ending), open.c (opening), resume.c (going on with a file), record.c (what the result says about
 * the file). */
#include "io/writers/busy.h"
#include "io/file.h"
#include "io/target/manifest.h"
#include "io/target/place.h"
#include "io/target/target.h"
#include "io/writers/writer.h"

/* The agreement on the dump written last: started after the write, finished by the next call, so
 * that its messages travel while the program computes. */
struct io_pending {
    bool active;
    int64_t step;
    int rc;                 /* this rank's own outcome */
    int64_t word[2];        /* sent: 0 or an error; number of complete dumps */
    int64_t lowest[2];      /* the minimum over ranks */
    MPI_Request request[2]; /* of the words and of the digest */
};

struct io_file {
    struct io_spec spec;
    const struct io_writer *writer;
    void *state; /* the writer's */
    bool writer_open;
    struct io_context ctx;
    uint64_t *digest_part, *digest_sum; /* [digest_words(n)]; the sum on rank 0 */
    struct io_pending pending;
    struct io_target target;       /* the path on every rank; the rest on rank 0 */
    struct io_place place;         /* rank 0: of the file */
    struct io_place part;          /* of this rank's part, with has_parts */
    struct io_manifest *manifest;  /* rank 0, and only with a serial file */
    enum io_format format;         /* the writer's */
    struct io_structure structure; /* rank 0: what a container begins as */
    bool has_parts;                /* a file per rank, and a manifest of them */
    bool has_file;                 /* the writer leaves a file in serial format */
    int failed; /* the agreed code, the same on every rank; 0 while all is well */
    bool ended;
    double start_s;       /* watch_now() at io_file_start */
    double waited_s;      /* in the present write, for earlier dumps */
    struct io_busy *busy; /* what the writer does behind the caller */
    struct io_stats stats;
    struct io_dump_times *times; /* [dumps_n planned] */
    struct io_resumed resumed;   /* what was there before, with spec.resume */
    bool damaged, mended;        /* with it: no library opens the container; its structure is new */
    json_t *record;              /* the same on every rank */
};

/* Adds the time since *since_s to a phase and moves *since_s to now. Local. */
void io_phase_add(struct io_file *f, enum io_phase phase, double *since_s);

/* Closes the writer if it is open. Collective; the code is this rank's own. */
int io_file_close_writer(struct io_file *f);

/* Fills f->record. Collective. */
int io_record_make(struct io_file *f);

#endif
