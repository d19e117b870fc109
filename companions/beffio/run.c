/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of measuring: partitions one after the other, or access by access; the rest of the
 * ranks waits without getting in the way; then the values and the judgement of them. */
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/program.h"
#include "base/stamp.h"
#include "base/stop.h"
#include "base/watch.h"
#include "companions/beffio/check.h"
#include "companions/beffio/job.h"

/* --- measuring ------------------------------------------------------------------------------ */

/* Looks at the files of all types as an access left them. */
static int check_types(struct beffio_part *p, enum beffio_access found_by,
                       enum beffio_access left_by, bool sample)
{
    for (int t = 0; t < BEFFIO_TYPES; t++)
        TRY(beffio_check_type(&p->bench, (enum beffio_type)t, left_by, sample,
                              &p->bench.findings[found_by]));
    return 0;
}

/* What is left of the space when a partition begins: rank 0 knows what those before it took. */
static int share_set(const struct beffio_job *job, struct beffio_part *p)
{
    struct beffio_bench *b = &p->bench;
    int64_t used = 0;
    if (!beffio_job_together(job)) return 0;
    for (int i = 0; i < b->index; i++)
        used += beffio_layout_bytes(&job->part[i].bench.layout);
    b->share_bytes = beffio_room_left(&job->setup->schedule, job->m_part_bytes, job->room_bytes,
                                      used, b->index, b->evenly);
    TRY_MPI(MPI_Bcast(&b->share_bytes, 1, MPI_INT64_T, 0, b->comm));
    return 0;
}

/* Steps of a partition, collective over its ranks: the three accesses, then the content, the whole
 * of it or samples; then the files go, and what was wrong is added up. */
enum { CHECK = BEFFIO_ACCESSES, STEPS };

static int step(struct beffio_job *job, struct beffio_part *p, int which)
{
    const enum beffio_check check = job->setup->check;
    struct beffio_bench *b = &p->bench;
    if (which == BEFFIO_WRITE) {
        b->progress = job->progress;
        TRY(share_set(job, p));
        TRY(beffio_bench_begin(b));
    }
    if (which != CHECK) {
        const enum beffio_access access = (enum beffio_access)which;
        TRY(beffio_bench_access(b, access));
        if (access == BEFFIO_READ || check == BEFFIO_CHECK_NONE) return 0;
        return check_types(p, access, access, check != BEFFIO_CHECK_EVERY);
    }
    if (check != BEFFIO_CHECK_NONE) TRY(check_types(p, BEFFIO_READ, BEFFIO_REWRITE, p->sample));
    for (int t = 0; t < BEFFIO_TYPES; t++)
        TRY(beffio_files_remove(&job->files, b->comm, b->index, (enum beffio_type)t,
                                &b->measured.remove_s[t]));
    for (int a = 0; a < BEFFIO_ACCESSES; a++) {
        TRY(beffio_findings_sum(b, &b->findings[a], &p->wrong[a]));
        if (job->wrong_n == 0 && p->wrong[a].wrong_n > 0)
            job->wrong_first =
                (struct beffio_wrong){p->wrong[a], b->procs, job->reps_done, (enum beffio_access)a};
        job->wrong_n += p->wrong[a].wrong_n;
    }
    p->done = true;
    return 0;
}

/* Ranks outside the partition would spin in a barrier, on cores that others may use. */
static int wait_for_all(void)
{
    const struct timespec nap = {.tv_nsec = 5 * 1000 * 1000};
    MPI_Request request;
    int done = 0;
    TRY_MPI(MPI_Ibarrier(MPI_COMM_WORLD, &request));
    for (;; nanosleep(&nap, NULL)) {
        TRY_MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        if (done) return 0;
    }
}

/* All partitions once: one after the other, or access by access. */
static int measure_all(struct beffio_job *job)
{
    const int n = job->setup->schedule.partitions_n;
    const bool by_partition = beffio_partition_by_partition(job->setup->schedule.definition);
    for (int i = 0; i < n; i++) {
        struct beffio_part *p = &job->part[i];
        struct beffio_bench *b = &p->bench;
        p->done = false;
        memset(&b->measured, 0, sizeof b->measured);
        memset(b->result, 0, sizeof b->result);
        memset(b->findings, 0, sizeof b->findings);
        b->layout = (struct beffio_layout){.procs = b->procs, .m_part_bytes = job->m_part_bytes};
    }
    for (int i = 0; i < n * STEPS; i++) {
        struct beffio_part *p = &job->part[by_partition ? i / STEPS : i % n];
        const int which = by_partition ? i % STEPS : i / n;
        const int rc = p->bench.comm != MPI_COMM_NULL ? step(job, p, which) : 0;
        const int waited = wait_for_all();
        TRY(par_agree(MPI_COMM_WORLD, rc < 0 ? rc : waited));
    }
    return 0;
}

/* --- judging, on rank 0 --------------------------------------------------------------------- */

/* wrong_n: of all that is judged together, this partition's among them. */
static void judge(const struct beffio_job *job, struct beffio_part *p, int64_t wrong_n)
{
    const struct beffio_options *o = &job->setup->opt;
    struct beffio_facts f = {.schedule = &job->setup->schedule,
                             .shared = !o->noshared,
                             .unchecked = job->setup->check == BEFFIO_CHECK_NONE,
                             .least_bytes = p->values.access_bytes[0],
                             .cache_bytes = o->cache > 0 ? o->cache : p->memory_bytes,
                             .nodes_n = p->nodes_n,
                             .shifted = p->bench.shift > 0 && job->setup->shift < 0,
                             .in_memory = job->room.in_memory,
                             .behind = sys_fs_behind(&job->fs),
                             .hides = job->fs.hides,
                             .unique = job->setup->unique,
                             .quick = o->quick};
    for (int a = 0; a < BEFFIO_ACCESSES; a++) {
        f.errors_n += p->wrong[a].wrong_n;
        if (p->values.access_bytes[a] < f.least_bytes) f.least_bytes = p->values.access_bytes[a];
    }
    f.elsewhere_n = wrong_n - f.errors_n;
    for (int i = 0; i < job->setup->schedule.partitions_n; i++)
        f.left_n += !job->part[i].done;
    for (int no = 0; no < BEFFIO_PATTERNS; no++)
        if (p->bench.result[BEFFIO_WRITE].pattern[no].capped) f.capped = true;
    double share = 0, bytes = 0;
    for (int i = 0; i < BEFFIO_TYPES; i++) {
        const double part = p->bench.result[BEFFIO_READ].type[i].cached_share;
        const double size = (double)p->bench.measured.type[BEFFIO_READ][i].bytes;
        if (!isfinite(part)) continue;
        share += part * size;
        bytes += size;
    }
    f.cached_share = p->cached_share = bytes > 0 ? share / bytes : NAN;
    p->capped = f.capped;
    p->valid = beffio_judge(&f, p->criterion);
    beffio_honesty(&f, &p->honesty);
}

static void evaluate(struct beffio_job *job, int64_t wrong_n)
{
    const struct beffio_schedule *c = &job->setup->schedule;
    job->best = -1;
    for (int i = 0; i < c->partitions_n; i++) {
        struct beffio_part *p = &job->part[i];
        if (!p->done) continue;
        beffio_values(c, &p->bench.measured, &p->values);
        judge(job, p, wrong_n);
        const double value = p->values.partition[c->definition];
        if (job->best < 0 || value > job->part[job->best].values.partition[c->definition])
            job->best = i;
    }
}

double beffio_job_maximum(const struct beffio_job *job, bool *valid)
{
    double of_all = NAN, of_valid = NAN;
    for (int r = 0; r < job->reps_done; r++) {
        of_all = fmax(of_all, job->rep[r].value);
        if (job->rep[r].valid) of_valid = fmax(of_valid, job->rep[r].value);
    }
    const bool any = !isnan(of_valid);
    if (valid) *valid = any && job->wrong_n == 0;
    return any ? of_valid : of_all;
}

json_t *beffio_job_stamps(const struct beffio_job *job, const struct beffio_part *p)
{
    json_t *list = json_array();
    const bool whole = !p;
    if (whole && job->best >= 0) p = &job->part[job->best];
    if (p && p->done) {
        const bool disturbed = job->disturbance.disturbed;
        if (p->valid)
            stamp_add(list, STAMP_VALID, disturbed ? SEVERITY_NOTE : SEVERITY_GOOD, NULL,
                      "Valid by definition %s%s.",
                      beffio_definition_name(job->setup->schedule.definition),
                      disturbed ? ", but disturbed" : "");
        for (int c = 0; c < BEFFIO_CRITERIA && !p->valid; c++)
            if (!p->criterion[c].met)
                stamp_add(
                    list, STAMP_NOT_VALID, SEVERITY_BAD, NULL, "Not valid by definition %s: %s.",
                    beffio_definition_name(job->setup->schedule.definition), p->criterion[c].words);
        stamp_add(list, p->honesty.honest ? STAMP_CACHE_HONEST : STAMP_NOT_CACHE_HONEST,
                  p->honesty.honest ? SEVERITY_GOOD : SEVERITY_WARN,
                  json_pack("{sf so}", "cache_factor", p->honesty.factor, "cached_share",
                            isfinite(p->cached_share) ? json_real(p->cached_share) : json_null()),
                  "%s: %s.", p->honesty.honest ? "Cache-honest" : "Not cache-honest",
                  p->honesty.words);
        if (p->capped)
            stamp_add(list, STAMP_CAPPED, SEVERITY_WARN,
                      json_pack("{sI}", "share_bytes", (json_int_t)p->bench.share_bytes),
                      "Writing ended at the limit of space.");
    }
    if (!whole) return list;
    const int asked = (int)job->setup->opt.repeat;
    if (job->reps_done < asked)
        stamp_add(
            list, STAMP_INTERRUPTED, SEVERITY_WARN,
            json_pack("{si si}", "repetitions_done_n", job->reps_done, "repetitions_n", asked),
            "Interrupted: the job did not finish; %d of %d repetitions %s complete.",
            job->reps_done, asked, job->reps_done == 1 ? "is" : "are");
    disturbance_stamp(&job->disturbance, list);
    if (job->setup->opt.quick)
        stamp_add(list, STAMP_QUICK, SEVERITY_NOTE, NULL, "A trial run (--quick).");
    program_stamp_oversubscribed(list, &job->nodes);
    return list;
}

/* --- a run ---------------------------------------------------------------------------------- */

/* Measures as often as asked. Rank 0 keeps the repetition that has the median value, the lower one
 * of two: each is put aside, since which one it is shows at the end. */
static int repeat(struct beffio_job *job)
{
    const int reps_n = (int)job->setup->opt.repeat, n = job->setup->schedule.partitions_n;
    const size_t bytes = (size_t)n * sizeof *job->part;
    struct beffio_part *aside = mem_new(reps_n, bytes, "repetitions");
    double *sorted = mem_new(reps_n, sizeof *sorted, "repetitions");
    int rc = par_agree_memory(MPI_COMM_WORLD, aside && sorted);
    for (int r = 0; rc == 0 && r < reps_n; r++) {
        const int64_t before_n = job->wrong_n;
        rc = measure_all(job);
        if (rc < 0 || job->rank != 0) continue;
        const int64_t wrong_n = job->wrong_n - before_n;
        evaluate(job, wrong_n);
        const struct beffio_part *best = &job->part[job->best];
        job->rep[r] = (struct beffio_rep){best->values.partition[job->setup->schedule.definition],
                                          best->bench.procs, best->valid, wrong_n};
        memcpy(aside + r * n, job->part, bytes);
        sorted[r] = job->rep[r].value;
        job->reps_done = r + 1;
    }
    if (job->rank == 0 && job->reps_done > 0) {
        gsl_sort(sorted, 1, (size_t)job->reps_done);
        int r = job->reps_done - 1;
        while (r > 0 && job->rep[r].value != sorted[(job->reps_done - 1) / 2])
            r--;
        for (int i = 0; i < n; i++) { /* what the library reports is collected over repetitions */
            json_t *const library = job->part[i].bench.library;
            job->part[i] = aside[r * n + i];
            job->part[i].bench.library = library;
        }
    }
    if (job->rank == 0) evaluate(job, job->wrong_n);
    free(aside);
    free(sorted);
    return rc;
}

/* Rank 0 has the results and judges them; the error code is broadcast. */
static int verdict(const struct beffio_job *job)
{
    char words[512], rep[48] = "";
    int rc = 0;
    if (job->rank == 0 && job->wrong_n > 0) {
        const struct beffio_wrong *w = &job->wrong_first;
        beffio_findings_words(&w->found, words, sizeof words);
        if (job->setup->opt.repeat > 1) snprintf(rep, sizeof rep, " in repetition %d", w->rep + 1);
        rc = err_set(ERR_VERIFY,
                     "%lld wrong values in what was read back; the first%s, on %d processes "
                     "after %s: %s",
                     (long long)job->wrong_n, rep, w->procs, beffio_access_name(w->access), words);
    }
    for (int c = 0; job->rank == 0 && rc == 0 && c < BEFFIO_CRITERIA; c++)
        if (!job->part[job->best].criterion[c].met)
            rc = err_set(ERR_INVALID, "finished, but not valid as a result: %s",
                         job->part[job->best].criterion[c].words);
    TRY_MPI(MPI_Bcast(&rc, 1, MPI_INT, 0, MPI_COMM_WORLD));
    return rc;
}

int beffio_job_run(struct beffio_job *job)
{
    const struct beffio_setup *s = job->setup;
    const int64_t patterns =
        s->opt.repeat * s->schedule.partitions_n * BEFFIO_ACCESSES * BEFFIO_PATTERNS;
    if (job->rank == 0)
        job->progress = progress_begin(progress_mode_of(s->opt.quiet ? "never" : s->opt.progress),
                                       "b_eff_io", "pattern", patterns);
    struct disturbance_sample before, after;
    disturbance_take(&before, DISTURBANCE_BEFORE, job->nodes.node_rank == 0);
    const double begun = watch_now();
    int rc = repeat(job);
    int mine = stop_signal(), signal = 0;
    TRY_MPI(MPI_Allreduce(&mine, &signal, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    job->took_s = watch_now() - begun;
    disturbance_take(&after, DISTURBANCE_AFTER, job->nodes.node_rank == 0);
    const int told = nodes_disturbance(&job->nodes, &before, &after, 0, &job->disturbance);
    if (rc == 0) rc = told;
    disturbance_free(&before);
    disturbance_free(&after);
    progress_end(job->progress);
    job->progress = NULL;
    if (rc == 0) return verdict(job);
    if (signal == 0) return rc;
    err_clear(); /* a consequence of being asked to stop is no error of its own */
    return err_set(ERR_INTERRUPT, "interrupted by signal %d%s", signal,
                   s->opt.keep ? "" : "; the data files are removed");
}
