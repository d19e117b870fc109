/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VERIFY_CHECK_H
#define VERIFY_CHECK_H
/* Serial. What is found out about one dump file; verify/judge.h makes a verdict of it. Prints
 * nothing but the listing. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "verify/finding.h"
#include "verify/listing.h"
#include "verify/manifest.h"
#include "verify/shape.h"

/* The command line. */
struct check_options {
    bool diagonal, merge;
    const char *against;  /* path, "reference" or NULL */
    int64_t n, dumps;     /* 0: not given */
    const char *layout;   /* NULL: not given */
    const char *endian;   /* "auto": not given */
    const char *json;     /* NULL: none */
    const char *progress; /* "auto", "always", "never" */
    const char *export;   /* "xdmf", "vti", "plot3d" or NULL */
};

enum check_state {
    CHECK_RIGHT,      /* the digest is the manifest's */
    CHECK_WRONG,      /* something was found in this dump */
    CHECK_UNJUDGED,   /* nothing was found, but there is no digest to compare with */
    CHECK_INCOMPLETE, /* the manifest does not say that it is complete: not looked at */
    CHECK_MISSING,    /* the file ends before the end of this dump */
    CHECK_STATES
};

struct check_dump {
    enum check_state state;
    int64_t step; /* -1: not known */
    double xce[BT_NCOMP];
    int64_t nonfinite_n, zeros_n, face_wrong_n, marker_wrong_n;
};

enum check_verdict {
    CHECK_VERIFIED, /* every value, by the manifest, or the diagonal, with a listing, was compared */
    CHECK_PARTLY,   /* the same, of the complete dumps of a run that was cut short */
    CHECK_NORMS,    /* norms alone were compared: the published ones */
    CHECK_PLAUSIBLE, /* nothing wrong was seen, and little could have been */
    CHECK_FAILED,    /* something is wrong */
    CHECK_VERDICTS
};

/* Comparison of norms with known ones; not done when ref is NULL. */
struct check_norms {
    const struct bt_reference *ref;
    double deviation; /* largest relative one */
};

struct check {
    const char *path;
    char manifest_path[4096];
    bool has_manifest;
    struct manifest manifest;
    struct shape shape;
    bool shape_found; /* by looking at the values, not told */
    int format;       /* enum shape_format, by the first bytes of the file */
    char library[64]; /* that read it; "" of raw files */
    int64_t file_bytes;
    int64_t content_bytes; /* of the dumps: of a raw file all */
    bool elsewhere;  /* they do not lie where and as the manifest says: the file was written anew */
    int64_t dumps_n; /* entries of dump, at most shape.dumps_n */
    int64_t checked_n; /* dumps looked at */
    struct check_dump *dump;
    double mean_xce[BT_NCOMP]; /* over the dumps looked at */
    struct check_norms mean, final;
    int64_t final_dump; /* that final was compared with */
    char order;         /* class whose norms fall from dump to dump, as these do; 0: not known */
    struct listing listing; /* compared_n > 0 when one was given */
    struct findings findings;
    enum check_verdict verdict; /* by judge, as all from mean_xce on */
};

/* Looks at a file. Local. c: [out] filled in as far as it got, also on errors; freed by check_free.
 * listing: where --diagonal goes. path and o are borrowed by c.
 * Returns 0 when a verdict can be made, whatever it will be, else ERR_USAGE (options, manifest,
 * listing), ERR_IO (what cannot be read) or ERR_NOMEM. */
int check_file(struct check *c, const char *path, const struct check_options *o, FILE *listing);
void check_free(struct check *c);

#endif
