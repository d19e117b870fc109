/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VERIFY_LISTING_H
#define VERIFY_LISTING_H
/* Serial. The diagonal listing of [F93] 2.4: for each dump, for i = 0..N-1, for m = 0..4 the value
 * U_m(i,i,i), one per line, Fortran F15.10 (docs/format.md section 5). Printing, and comparing with
 * a listing in a file, plain or compressed with gzip. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A value agrees with a listing when |a - b| <= LISTING_ABS + LISTING_REL |b|: a unit of the last
 * printed digit, and what the order of operations does to the values of a run. */
#define LISTING_ABS 1e-10
#define LISTING_REL 1e-9

struct listing {
    void *file; /* gzFile */
    char path[1024];
    int64_t line; /* last line read */
    int64_t compared_n, wrong_n;
    int64_t first_dump, first_i, first_line; /* the first value that does not agree */
    int first_m;
    double first_want, first_have;
    double deviation; /* largest |a - b|, infinite once one is not a number */
    bool ends_early;  /* ended before the dumps did */
    bool goes_on;     /* has values left after the last dump */
};

/* Prints one dump. Local. diagonal: [i][m]. Whether it arrives, start_printed tells in the end. */
void listing_print(FILE *to, int64_t n, const double *diagonal);

/* Opens a listing. Local. name: a path, or "reference" for the shipped one of this N: looked for in
 * $NHT1_LISTINGS, in share/nht1/listings beside the folder of the program, and in the source tree.
 * Returns 0, ERR_USAGE when there is no reference for N or the name is too long, ERR_IO. */
int listing_open(struct listing *l, const char *name, int64_t n);

/* Compares one dump with the next 5 N lines. Local. diagonal: NULL passes over the lines.
 * Returns 0 whether they agree or not, ERR_USAGE when the listing is none, ERR_IO. */
int listing_compare(struct listing *l, int64_t n, int64_t dump, const double *diagonal);

/* Notes whether lines are left, and closes. Local. l may be all zero. */
int listing_close(struct listing *l);

#endif
