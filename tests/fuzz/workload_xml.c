/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A workload: what nht1-workload plans of each point before it makes a file, for a few processes; what
 * can be read is written and reads back as the same. */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "tests/fuzz/fuzz.h"
#include "companions/workload/plan.h"
#include "companions/workload/point.h"

enum { MEMORY_BYTES = 1 << 22, BUFFER_BYTES = 1 << 19, DEPTH = 4, POINTS_MAX = 100, RANKS = 4 };

static char *written(const struct workload *w)
{
    struct text t;
    char *out = NULL;
    FUZZ_CHECK(text_begin(&t) == 0);
    workload_write(w, t.to);
    FUZZ_CHECK(text_end(&t, &out) == 0);
    return out;
}

/* The calls of a rank lie in the file, and their data in their slots. */
static void look_at(const struct workload *w, int no, int rank)
{
    const struct workload_point *p = &w->point[no];
    const int64_t memory = workload_plan_memory(w, no, rank, BUFFER_BYTES, DEPTH);
    const int64_t length = workload_point_length(p, w->separate, rank);
    FUZZ_CHECK(memory >= 1 && length >= 0 && length < NUM_ENDLESS);
    /* The program refuses what does not fit, and so does this one. */
    if (memory > MEMORY_BYTES) return;
    struct workload_plan plan;
    FUZZ_CHECK(workload_plan_make(w, no, rank, &plan) == 0);
    const struct workload_view view = workload_point_view(p, rank);
    int64_t sum = 0;
    for (int64_t c = 0; c < plan.n; c++) {
        const struct workload_call *call = &plan.call[c];
        FUZZ_CHECK(call->bytes >= 0 && call->bytes <= plan.longest_bytes);
        sum += call->bytes;
        /* Some libraries hang where a read goes beyond the end of the file. */
        if (call->offset >= 0 && call->bytes > 0)
            FUZZ_CHECK(workload_view_place(&view, call->offset + call->bytes - 1) < length);
    }
    FUZZ_CHECK(plan.n == 0 || sum == plan.bytes);
    struct workload_slots s;
    const int rc = workload_plan_slots(&plan, workload_point_holes(p), BUFFER_BYTES, DEPTH, &s);
    fuzz_message(rc);
    if (rc == 0) {
        FUZZ_CHECK(s.bytes >= plan.longest_bytes && s.read >= (s.reads_n > 0));
        FUZZ_CHECK(plan.n * (int64_t)sizeof *plan.call + (s.read + s.write) * s.bytes +
                       2 * plan.longest_bytes <=
                   memory);
    }
    workload_plan_free(&plan);
}

void fuzz_one(const unsigned char *bytes, size_t size)
{
    struct workload w, again;
    char *text = malloc(size + 1);
    memcpy(text, bytes, size);
    const int rc = workload_read("w.xml", text, size, &w);
    fuzz_message(rc);
    free(text);
    if (rc < 0) return;
    for (int i = 0; i < w.points_n && i < POINTS_MAX; i++) {
        const int64_t last = w.point[i].process_num - 1;
        for (int rank = 0; rank < RANKS && rank <= last; rank++)
            look_at(&w, i, rank);
        if (last >= RANKS) look_at(&w, i, (int)last);
    }
    char *one = written(&w);
    FUZZ_CHECK(workload_read("w.xml", one, strlen(one), &again) == 0);
    char *two = written(&again);
    FUZZ_CHECK(strcmp(one, two) == 0);
    free(one);
    free(two);
    workload_free(&w);
    workload_free(&again);
}
