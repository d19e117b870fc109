/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VERIFY_MANIFEST_H
#define VERIFY_MANIFEST_H
/* Serial. Reads the manifest FILE.json of a dump file, docs/format.md section 4, and trusts nothing
 * in it: every member is checked for presence, type, range and agreement with the others. */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "verify/shape.h"

struct manifest_dump {
    int64_t step;
    bool complete;
    const uint64_t *digest; /* digest_words(n) words; NULL when the dump is not complete */
};

struct manifest {
    struct shape shape;  /* dumps_n: as planned */
    int format;          /* enum shape_format */
    int64_t file_bytes;  /* 0: not told, as of raw files */
    int64_t data_offset; /* -1: not told */
    int64_t chunk;       /* 0: there are none */
    bool resumed;        /* a later run continued the file */
    int64_t steps, interval;
    double dt;
    char run_id[33], writer[64], kernel[64], file[256];
    int64_t dumps_n; /* entries, at most shape.dumps_n */
    int64_t complete_n;
    struct manifest_dump *dump; /* [dumps_n] */
    uint64_t *words;            /* where the digests lie */
    json_t *parts;              /* of the writer perrank; NULL when there are none */
};

/* Reads a manifest. Local. m: [out] zeroed when there is none; freed by manifest_free.
 * Returns 1, or 0 when no such file exists, ERR_USAGE when it is not a manifest or contradicts itself,
 * ERR_IO when it cannot be read, ERR_NOMEM. */
int manifest_read(const char *path, struct manifest *m);
void manifest_free(struct manifest *m);

/* The time step of a dump, -1 when the manifest (may be NULL) does not tell. Local. */
int64_t manifest_step(const struct manifest *m, int64_t dump);

/* True when the manifest says that the dump is complete. Local. */
bool manifest_complete(const struct manifest *m, int64_t dump);

#endif
