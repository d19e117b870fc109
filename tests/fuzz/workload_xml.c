/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A workload: what can be read is written and reads back as the same. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tests/fuzz/fuzz.h"
#include "workload/plan.h"
#include "workload/point.h"

static char *written(const struct workload *w)
{
    struct text t;
    char *out = NULL;
    FUZZ_CHECK(text_begin(&t) == 0);
    workload_write(w, t.to);
    FUZZ_CHECK(text_end(&t, &out) == 0);
    return out;
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
    for (int i = 0; i < w.points_n; i++) {
        struct workload_plan plan;
        if (workload_point_calls(&w.point[i]) > 1000 || w.point[i].ranks_n > 100 ||
            w.point[i].process_num > 1000)
            continue;
        FUZZ_CHECK(workload_plan_make(&w, i, 0, &plan) == 0);
        const struct workload_view view = workload_point_view(&w.point[i], 0);
        const int64_t length = workload_point_length(&w.point[i], w.separate, 0);
        int64_t sum = 0;
        for (int64_t c = 0; c < plan.n; c++) {
            const struct workload_call *call = &plan.call[c];
            sum += call->bytes;
            /* Some libraries hang where a read goes beyond the end of the file. */
            if (call->offset >= 0 && call->bytes > 0)
                FUZZ_CHECK(workload_view_place(&view, call->offset + call->bytes - 1) < length);
        }
        FUZZ_CHECK(plan.n == 0 || sum == plan.bytes);
        workload_plan_free(&plan);
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
