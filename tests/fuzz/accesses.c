/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Accesses of a program: what is read lies in its files, can be put in order, and is written as what it was. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "companions/workload/accessfile.h"
#include "tests/fuzz/fuzz.h"

enum { PROCESSES = 3, CALLS_MAX = 1 << 16 };

static void look_at(const struct workload_accessfile *a)
{
    struct workload_step *step;
    int64_t calls;
    if (a->mine_calls > CALLS_MAX) return;
    FUZZ_CHECK(workload_runs_expand(a->run, a->mine_n, &step, &calls) == 0);
    FUZZ_CHECK(calls == a->mine_calls);
    for (int64_t i = 0; i < calls; i++) {
        const struct workload_run *r = &a->run[step[i].run];
        FUZZ_CHECK(step[i].offset >= 0);
        FUZZ_CHECK(r->bytes == 0 || step[i].offset + r->bytes <= a->file[r->file].length_bytes);
        FUZZ_CHECK(i == 0 || step[i - 1].order <= step[i].order);
    }
    free(step);
}

/* The runs of one process and all that is beside them, written and read again. */
static void write_again(const struct workload_accessfile *a, int process)
{
    struct workload_accessfile head = *a, again;
    struct text t;
    char *out = NULL;
    head.runs_n = a->mine_n;
    FUZZ_CHECK(text_begin(&t) == 0);
    workload_accessfile_head(&head, t.to);
    for (int f = 0; f < a->files_n; f++)
        workload_accessfile_name(f, a->file[f].name, t.to);
    for (int64_t r = 0; r < a->mine_n; r++)
        workload_accessfile_run(process, &a->run[r], t.to);
    FUZZ_CHECK(text_end(&t, &out) == 0);
    FUZZ_CHECK(workload_accessfile_read("a.jsonl", out, strlen(out), process, &again) == 0);
    FUZZ_CHECK(again.mine_n == a->mine_n && again.mine_calls == a->mine_calls);
    for (int64_t r = 0; r < a->mine_n; r++)
        FUZZ_CHECK(memcmp(&again.run[r], &a->run[r], sizeof again.run[r]) == 0);
    workload_accessfile_free(&again);
    free(out);
}

void fuzz_one(const unsigned char *bytes, size_t size)
{
    struct workload_accessfile a;
    for (int process = 0; process < PROCESSES; process++) {
        const int rc = workload_accessfile_read("a.jsonl", (const char *)bytes, size, process, &a);
        fuzz_message(rc);
        if (rc < 0) return;
        look_at(&a);
        if (process < a.processes_n) write_again(&a, process);
        workload_accessfile_free(&a);
    }
}
