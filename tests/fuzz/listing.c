/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A listing of the diagonal, plain or gzipped, compared with two dumps of N = 6. */
#include "tests/fuzz/fuzz.h"
#include "verify/listing.h"

void fuzz_one(const unsigned char *bytes, size_t size)
{
    static const double diagonal[30] = {2, 1, 2, 2, 5};
    struct listing l = {.file = NULL};
    fuzz_file("list", bytes, size);
    int rc = listing_open(&l, "list", 6);
    for (int64_t d = 0; rc >= 0 && d < 2; d++)
        rc = listing_compare(&l, 6, d, diagonal);
    if (rc >= 0) rc = listing_close(&l);
    fuzz_message(rc);
    listing_close(&l);
}
