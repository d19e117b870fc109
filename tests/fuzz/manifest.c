/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What nht1-bt reads of a manifest: before it takes a name, and to go on with a file, with the places
 * of the parts that it lists. */
#include <stdlib.h>

#include "base/digest.h"
#include "io/target/manifest.h"
#include "tests/fuzz/fuzz.h"

/* The bytes of a part lie in the dump. */
static void look_at(const struct io_past *past, const struct io_box *box)
{
    const struct io_view v = {past->n, past->layout, *box};
    const int64_t dump_bytes = io_dump_bytes(past->layout, past->n), own = io_view_bytes(&v);
    struct io_walk walk;
    struct io_extent e;
    int64_t sum = 0, end = 0;
    FUZZ_CHECK(own >= 0 && own <= dump_bytes && past->dumps_n <= INT64_MAX / dump_bytes);
    if (box->n[1] > 50 || box->n[2] > 50) return;
    for (io_walk_start(&walk, &v); io_walk_next(&walk, &e);) {
        FUZZ_CHECK(e.offset_bytes >= end && e.length_bytes > 0 && e.buffer_bytes == sum);
        FUZZ_CHECK(e.length_bytes <= dump_bytes - e.offset_bytes);
        end = e.offset_bytes + e.length_bytes;
        sum += e.length_bytes;
    }
    FUZZ_CHECK(sum == own);
}

void fuzz_one(const unsigned char *bytes, size_t size)
{
    struct io_manifest *m = NULL;
    struct io_past past;
    int64_t step;
    fuzz_file("f.bin.json", bytes, size);
    (void)io_manifest_identify("f.bin.json", "f.bin");
    (void)io_manifest_is_of_run("f.bin.json", "0123");
    int rc = io_manifest_load(&m, "f.bin.json", "f.bin", &past);
    if (rc >= 0) {
        int64_t ids_n;
        free(io_manifest_inodes(m, &ids_n));
        for (int64_t p = 0; p < io_manifest_parts_n(m); p++) {
            const struct io_box b = io_manifest_part(m, p);
            for (int q = 0; q < 3; q++)
                FUZZ_CHECK(b.lo[q] >= 0 && b.n[q] >= 0 && b.n[q] <= past.n - b.lo[q]);
            look_at(&past, &b);
        }
        const int64_t words = digest_words(past.n);
        uint64_t *digest = words < 100000 ? calloc((size_t)words, sizeof *digest) : NULL;
        for (int64_t d = 0; digest && rc >= 0 && d < past.complete_n; d++)
            rc = io_manifest_dump(m, d, &step, digest);
        free(digest);
    }
    fuzz_message(rc);
    if (m) io_manifest_free(m);
}
