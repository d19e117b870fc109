/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Job files in both spellings; the first byte of the input chooses: 'i' for INI. */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "workload/jobfile.h"

void fuzz_one(const unsigned char *bytes, size_t size)
{
    struct workload_jobfile j;
    if (size == 0) return;
    char *text = malloc(size);
    memcpy(text, bytes + 1, size - 1);
    const int rc = workload_jobfile_read("j.conf", text, size - 1, bytes[0] == 'i', NULL, &j);
    fuzz_message(rc);
    free(text);
    if (rc < 0) return;
    for (int i = 0; i < j.n; i++) {
        if (j.phase[i].pause_s > 0) continue;
        const struct workload_shape s = workload_phase_shape(&j.phase[i], 3, 2);
        const int64_t n = workload_shape_accesses(&s), length = workload_shape_length(&s);
        FUZZ_CHECK(n >= 1 && length >= 1);
        const struct workload_extent e = workload_shape_extent(&s, 2, n - 1);
        FUZZ_CHECK(e.offset >= 0 && e.bytes >= 1 && e.offset + e.bytes <= length);
    }
    workload_jobfile_free(&j);
}
