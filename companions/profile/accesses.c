/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/profile/accesses.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/num.h"
#include "base/text.h"

/* Where the files of all processes stand among those of the result. */
struct index {
    struct names number;
    const char **name; /* [number.n], borrowed; owned */
    int *of; /* [PROFILE_FILES_MAX]: of the process at hand; -1: none of its runs is there; owned */
};

/* The number of a file in the result by its name, -1: there is no memory for another one. */
static int file_number(struct index *x, const char *name)
{
    const int64_t known = names_find(&x->number, name, strlen(name));
    const int64_t n = (int64_t)x->number.n;
    if (known >= 0) return (int)known;
    if ((n & (n - 1)) == 0) { /* full: twice as many */
        const char **more = mem_grow(x->name, n ? 2 * n : 1, sizeof *more, "the names of files");
        if (more) x->name = more;
        if (!more) return err_clear(), -1;
    }
    if (names_put(&x->number, name, n) < 0) return err_clear(), -1;
    x->name[n] = name;
    return (int)n;
}

/* A run of a process with the number of its file in the result. Returns whether it is sound and there is room. */
static bool run_of(const struct profile_map *m, int r, struct index *x, struct workload_run *out)
{
    *out = m->run[r];
    if (!workload_run_sound(out, m->files_n)) return false;
    int *const number = &x->of[out->file];
    if (*number < 0) *number = file_number(x, m->file[out->file].name);
    out->file = *number;
    return *number >= 0;
}

/* Goes through the runs of all processes: counts them or, with a stream, writes them. */
static void each_run(const struct profile_run *run, struct index *x,
                     struct workload_accessfile *head, FILE *to)
{
    int process = 0;
    for (int p = 0; p < run->size; p++) {
        const struct profile_map *m = run->rank[p];
        /* Ranks keep their numbers; of other processes those count that have accessed something. */
        if (p >= run->mpi_n && (!m || m->runs_n == 0)) continue;
        for (int f = 0; f < PROFILE_FILES_MAX; f++)
            x->of[f] = -1;
        for (int r = 0; m && r < m->runs_n; r++) {
            struct workload_run one;
            const bool sound = run_of(m, r, x, &one);
            if (to && sound) workload_accessfile_run(process, &one, to);
            if (to) continue;
            head->runs_n += sound;
            if (sound) continue;
            const int64_t n = num_max(1, num_min(m->run[r].n, WORKLOAD_CALLS_MAX));
            head->lost_n = num_sum(head->lost_n, n);
            head->lost_bytes =
                num_sum(head->lost_bytes, num_product(n, num_max(0, m->run[r].bytes)));
        }
        process++;
    }
    head->processes_n = process;
}

int profile_accesses_save(const struct profile_run *run, const char *path,
                          struct workload_accessfile *head)
{
    struct text text;
    struct index *x = mem_new(1, sizeof *x, "the names of files");
    *head = (struct workload_accessfile){0};
    if (!x) return ERR_NOMEM;
    x->of = mem_new(PROFILE_FILES_MAX, sizeof *x->of, "the names of files");
    int rc = x->of ? text_begin(&text) : ERR_NOMEM;
    for (int p = 0; p < run->size; p++) {
        const struct profile_map *m = run->rank[p];
        if (!m) continue;
        head->unplaced_n = num_sum(head->unplaced_n, (int64_t)m->unplaced.n);
        head->unplaced_bytes = num_sum(head->unplaced_bytes, (int64_t)m->unplaced.bytes);
        head->lost_n = num_sum(head->lost_n, (int64_t)m->lost.n);
        head->lost_bytes = num_sum(head->lost_bytes, (int64_t)m->lost.bytes);
    }
    if (rc == 0) {
        each_run(run, x, head, NULL);
        head->files_n = (int)x->number.n;
        workload_accessfile_head(head, text.to);
        for (int f = 0; f < head->files_n; f++)
            workload_accessfile_name(f, x->name[f], text.to);
        each_run(run, x, head, text.to);
        rc = text_save(&text, path);
    }
    names_free(&x->number);
    free(x->name);
    free(x->of);
    free(x);
    return rc;
}
