/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of measuring: partitions one after the other, or access by access; the rest of the
 * ranks waits without getting in the way; then the values and their validity. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/par.h"
#include "base/stop.h"
#include "base/watch.h"
#include "beff/io_check.h"
#include "beff/io_job.h"

/* Ranks outside the partition would spin in a barrier, on cores that others may use. */
static int wait_for_all(void)
{
    const struct timespec nap = {.tv_nsec = 5 * 1000 * 1000};
    MPI_Request request;
    int done = 0;
    TRY_MPI(MPI_Ibarrier(MPI_COMM_WORLD, &request));
    while (true) {
        TRY_MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        if (done) return 0;
        nanosleep(&nap, NULL);
    }
}

/* A step of a partition. */
typedef int step(struct beffio_job *job, struct beffio_part *p);

/* Makes a step on the ranks of a partition. Collective over all ranks; the same code on all. */
static int make_step(struct beffio_job *job, int index, step *make)
{
    struct beffio_part *p = &job->part[index];
    const int rc = p->bench.comm != MPI_COMM_NULL ? make(job, p) : 0;
    const int waited = wait_for_all();
    return par_agree(MPI_COMM_WORLD, rc < 0 ? rc : waited);
}

static int check_types(struct beffio_part *p, enum beffio_access access, bool sample)
{
    for (int t = 0; t < BEFFIO_TYPES; t++)
        TRY(beffio_check_type(&p->bench, (enum beffio_type)t, access, sample,
                              &p->bench.findings[access]));
    return 0;
}

static int write_step(struct beffio_job *job, struct beffio_part *p)
{
    p->bench.progress = job->progress;
    p->bench.progress_done = &job->progress_done;
    TRY(beffio_bench_begin(&p->bench));
    TRY(beffio_bench_access(&p->bench, BEFFIO_WRITE));
    return job->setup->check_none ? 0 : check_types(p, BEFFIO_WRITE, !job->setup->check_every);
}

static int rewrite_step(struct beffio_job *job, struct beffio_part *p)
{
    TRY(beffio_bench_access(&p->bench, BEFFIO_REWRITE));
    return job->setup->check_none ? 0 : check_types(p, BEFFIO_REWRITE, !job->setup->check_every);
}

static int read_step(struct beffio_job *job, struct beffio_part *p)
{
    (void)job;
    return beffio_bench_access(&p->bench, BEFFIO_READ);
}

/* What was wrong, and where first. */
static int findings_step(struct beffio_job *job, struct beffio_part *p)
{
    for (int a = 0; a < BEFFIO_ACCESSES; a++) {
        TRY(beffio_findings_sum(&p->bench, &p->bench.findings[a], &p->wrong[a]));
        job->wrong_n += p->wrong[a].wrong_n;
    }
    p->done = true;
    return 0;
}

/* The whole content, and then the files go. */
static int check_step(struct beffio_job *job, struct beffio_part *p)
{
    if (!job->setup->check_none) {
        const enum beffio_access last_written = BEFFIO_REWRITE;
        for (int t = 0; t < BEFFIO_TYPES; t++)
            TRY(beffio_check_type(&p->bench, (enum beffio_type)t, last_written, false,
                                  &p->bench.findings[BEFFIO_READ]));
    }
    for (int t = 0; t < BEFFIO_TYPES; t++)
        TRY(beffio_files_remove(&job->files, p->bench.comm, p->bench.index, (enum beffio_type)t,
                                &p->bench.result[BEFFIO_READ].type[t].remove_s));
    return findings_step(job, p);
}

static step *const steps[] = {write_step, rewrite_step, read_step, check_step};
enum { STEPS = sizeof steps / sizeof steps[0] };

static int measure(struct beffio_job *job)
{
    const int n = job->setup->schedule.partitions_n;
    const bool by_partition = beffio_partition_by_partition(job->setup->schedule.definition);
    for (int i = 0; i < n * STEPS; i++) {
        const int partition = by_partition ? i / STEPS : i % n;
        const int which = by_partition ? i % STEPS : i / n;
        TRY(make_step(job, partition, steps[which]));
    }
    return 0;
}

/* Removing on close counts as reading in the released program. */
static void count_removal(struct beffio_part *p, const struct beffio_setup *s)
{
    if (!s->opt.count_removal) return;
    struct beffio_measured m = p->bench.measured;
    struct beffio_values v;
    for (int t = 0; t < BEFFIO_TYPES; t++)
        m.type[BEFFIO_READ][t].s += p->bench.result[BEFFIO_READ].type[t].remove_s;
    beffio_values(&m, &v);
    p->values.partition[BEFFIO_2_1] = v.partition[BEFFIO_2_1];
}

/* The released program's value of rewriting is that of type 0, unless all types were asked for. */
static void rewrite_printed(struct beffio_part *p, const struct beffio_schedule *c)
{
    if (c->definition == BEFFIO_2_1 && !c->all_rewrites)
        p->values.access[BEFFIO_REWRITE] = p->values.type[BEFFIO_REWRITE][BEFFIO_SCATTER];
}

static bool is_capped(const struct beffio_bench *b)
{
    for (int no = 0; no < BEFFIO_PATTERNS; no++)
        if (b->result[BEFFIO_WRITE].pattern[no].capped) return true;
    return false;
}

static void judge(struct beffio_job *job, struct beffio_part *p)
{
    const struct beffio_options *o = &job->setup->opt;
    int64_t wrong = 0, least = p->values.access_bytes[0];
    for (int a = 0; a < BEFFIO_ACCESSES; a++) {
        wrong += p->wrong[a].wrong_n;
        if (p->values.access_bytes[a] < least) least = p->values.access_bytes[a];
    }
    struct beffio_room unlimited = job->room;
    unlimited.limit_bytes = 0; /* a limit of the user's is no limit of the file system's */
    p->capped = is_capped(&p->bench);
    const struct beffio_facts f = {.schedule = &job->setup->schedule,
                                   .shared = !o->noshared,
                                   .errors_n = wrong,
                                   .unchecked = job->setup->check_none,
                                   .least_bytes = least,
                                   .cache_bytes = o->cache > 0 ? o->cache : p->memory_bytes,
                                   .room_bytes = beffio_room_bytes(&unlimited),
                                   .in_memory = job->room.in_memory,
                                   .capped = p->capped,
                                   .unique = o->unique,
                                   .quick = o->quick};
    p->valid = beffio_judge(&f, p->criterion);
}

static void evaluate(struct beffio_job *job)
{
    const struct beffio_schedule *c = &job->setup->schedule;
    for (int i = 0; i < c->partitions_n; i++) {
        struct beffio_part *p = &job->part[i];
        if (!p->done) continue;
        beffio_values(&p->bench.measured, &p->values);
        count_removal(p, job->setup);
        rewrite_printed(p, c);
        judge(job, p);
        const double value = p->values.partition[c->definition];
        if (job->best < 0 || value > job->part[job->best].values.partition[c->definition])
            job->best = i;
    }
}

static int wrong_data(const struct beffio_job *job)
{
    char words[512];
    for (int i = 0; i < job->setup->schedule.partitions_n; i++)
        for (int a = 0; a < BEFFIO_ACCESSES; a++) {
            const struct beffio_part *p = &job->part[i];
            if (p->wrong[a].wrong_n == 0) continue;
            beffio_findings_words(&p->wrong[a], words, sizeof words);
            return err_set(ERR_VERIFY,
                           "%lld wrong values in what was read back; the first, on %d processes "
                           "after %s: %s",
                           (long long)job->wrong_n, p->bench.procs,
                           beffio_access_name((enum beffio_access)a), words);
        }
    return 0;
}

static int invalid(const struct beffio_job *job)
{
    const struct beffio_part *p = &job->part[job->best];
    for (int c = 0; c < BEFFIO_CRITERIA; c++)
        if (p->criterion[c].verdict == BEFFIO_FAILED)
            return err_set(ERR_INVALID, "finished, but not valid as a result: %s",
                           p->criterion[c].words);
    return 0;
}

/* Rank 0 has the results and says what is wrong with them; the others learn the code. */
static int verdict(const struct beffio_job *job)
{
    int rc = job->rank == 0 ? wrong_data(job) : 0;
    if (job->rank == 0 && rc == 0) rc = invalid(job);
    TRY_MPI(MPI_Bcast(&rc, 1, MPI_INT, 0, MPI_COMM_WORLD));
    return rc;
}

/* A consequence of being asked to stop is no error of its own. */
static int interrupted(int rc, bool keep)
{
    int mine = stop_signal(), signal = 0;
    TRY_MPI(MPI_Allreduce(&mine, &signal, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    if (rc == 0 || signal == 0) return rc;
    err_clear();
    return err_set(ERR_INTERRUPT, "interrupted by signal %d%s", signal,
                   keep ? "" : "; the data files are removed");
}

int beffio_job_run(struct beffio_job *job)
{
    const struct beffio_setup *s = job->setup;
    const int64_t patterns = (int64_t)s->schedule.partitions_n * BEFFIO_ACCESSES * BEFFIO_PATTERNS;
    if (job->rank == 0)
        job->progress = progress_begin(progress_mode_of(s->opt.quiet ? "never" : s->opt.progress),
                                       "b_eff_io", "pattern", patterns);
    const double begun = watch_now();
    const int rc = interrupted(measure(job), s->opt.keep);
    job->took_s = watch_now() - begun;
    progress_end(job->progress);
    job->progress = NULL;
    if (job->rank == 0) evaluate(job);
    return rc < 0 ? rc : verdict(job);
}
