/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What nht1-bt reads of a manifest: before it takes a name, and to go on with a file. */
#include <stdlib.h>

#include "base/digest.h"
#include "io/manifest.h"
#include "tests/fuzz/fuzz.h"

void fuzz_one(const unsigned char *bytes, size_t size)
{
    struct io_manifest *m = NULL;
    struct io_past past;
    int64_t step;
    fuzz_file("f.bin.json", bytes, size);
    (void)io_manifest_look("f.bin.json", "f.bin");
    (void)io_manifest_is_of("f.bin.json", "0123");
    int rc = io_manifest_load(&m, "f.bin.json", "f.bin", &past);
    if (rc >= 0) {
        int64_t ids_n;
        free(io_manifest_inodes(m, &ids_n));
        for (int64_t p = 0; p < io_manifest_parts_n(m); p++) {
            const struct io_box b = io_manifest_part(m, p);
            for (int q = 0; q < 3; q++)
                FUZZ_CHECK(b.lo[q] >= 0 && b.n[q] >= 0 && b.n[q] <= past.n - b.lo[q]);
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
