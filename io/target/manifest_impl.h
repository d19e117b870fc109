/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_MANIFEST_IMPL_H
#define IO_MANIFEST_IMPL_H
/* Layer 1. What is behind struct io_manifest; for manifest.c, manifest_write.c and
 * manifest_read.c. */
#include <jansson.h>

#include "io/target/journal.h"
#include "io/target/manifest.h"

struct io_manifest_dump {
    int64_t step;
    bool complete, durable;
    uint64_t *digest; /* digest_words(n) words, owned */
};

struct io_manifest {
    json_t *root;   /* everything but the dumps, which follow it in the file */
    char *head;     /* its text up to "dumps": [ */
    json_t *loaded; /* dumps of the manifest that was read, not yet taken over; or NULL */
    struct io_manifest_dump *dump; /* [dumps_n] */
    int64_t dumps_n, room_n, planned_n;
    int64_t complete_n, durable_n; /* dumps from the first on that were marked so */
    const char *path;
    int64_t n;
    bool durable;               /* the run asks for durability at all */
    bool open;                  /* between io_manifest_begin and io_manifest_end */
    struct io_journal *journal; /* NULL: the file is replaced whenever something changes */
    int64_t noted_n, noted_complete_n, noted_durable_n; /* what file and journal say */
};

/* The error where there is no memory. */
int io_manifest_no_memory(const struct io_manifest *m);

/* "little" or "big", of the values in files of a format that this machine writes. */
const char *io_manifest_endian(enum io_format format);

/* Draws the run's number. ERR_IO, ERR_NOMEM. */
int io_manifest_draw_run_id(struct io_manifest *m);

/* Sets the members that tell of a run rather than of its file: "sync" and "settings". ERR_NOMEM. */
int io_manifest_describe_run(struct io_manifest *m, const struct io_spec *spec);

/* Makes the head's text anew after a change of root. ERR_NOMEM. */
int io_manifest_make_head(struct io_manifest *m);

#endif
