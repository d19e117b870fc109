/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_MANIFEST_IMPL_H
#define IO_MANIFEST_IMPL_H
/* Layer 1. What is behind struct io_manifest; for manifest.c and manifest_read.c. */
#include <jansson.h>

#include "io/manifest.h"

struct io_manifest_dump {
    int64_t step;
    bool complete, durable;
    char *digest; /* text of its four arrays, owned */
};

struct io_manifest {
    json_t *root;   /* everything but the dumps, which follow it in the file */
    char *head;     /* its text up to "dumps": [ */
    json_t *loaded; /* dumps of the manifest that was read, not yet taken over; or NULL */
    struct io_manifest_dump *dump; /* [dumps_n] */
    int64_t dumps_n, room_n;
    const char *path;
    int64_t n;
    bool durable; /* the run asks for durability at all */
};

/* "little" or "big", of the values in files of a format that this machine writes. */
const char *io_manifest_endian(enum io_format format);

/* Draws the run's number. ERR_IO, ERR_NOMEM. */
int io_manifest_draw(struct io_manifest *m);

/* Makes the head's text anew after a change of root. ERR_NOMEM. */
int io_manifest_head(struct io_manifest *m);

#endif
