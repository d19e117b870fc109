/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of measuring: partitions one after the other, or access by access; the rest of the
 * ranks waits without getting in the way; then the values and their validity. */
#include "beffio/job.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/json.h"
#include "base/par.h"
#include "base/stop.h"
#include "base/units.h"
#include "base/watch.h"
#include "beffio/check.h"

#define MB               (INT64_C(1) << 20)
#define HINTS_BYTES_MAX  (1 << 20)
#define QUICK_M_PART     (32 * MB)
#define PROBE_BYTES_MOST (256 * MB)

bool beffio_job_together(const struct beffio_job *job)
{
    return !beffio_partition_by_partition(job->setup->schedule.definition) || job->setup->opt.keep;
}

/* Memory of this host, or what its limits leave. */
static int64_t memory_here(int64_t *available)
{
    struct sys_memory m;
    sys_memory(&m);
    *available = m.available_bytes;
    return m.limit_bytes > 0 ? m.limit_bytes : m.total_bytes;
}

/* Sum over the nodes of a communicator. */
static int memory_of(MPI_Comm comm, int64_t *sum, int64_t *nodes_n)
{
    struct nodes n;
    int64_t available, mine;
    int rc = nodes_find(comm, &n);
    *nodes_n = n.count;
    mine = n.node_rank == 0 ? memory_here(&available) : 0;
    if (rc == 0)
        rc = par_check(MPI_Allreduce(&mine, sum, 1, MPI_INT64_T, MPI_SUM, comm), "MPI_Allreduce");
    nodes_free(&n);
    return rc;
}

static int memory_find(struct beffio_job *job)
{
    const struct beffio_options *o = &job->setup->opt;
    int64_t nodes_n, available;
    int64_t each = memory_here(&available) / job->nodes.node_size;
    TRY(memory_of(MPI_COMM_WORLD, &job->memory_total_bytes, &nodes_n));
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &each, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD));
    TRY_MPI(MPI_Allreduce(&available, &job->room.memory_bytes, 1, MPI_INT64_T, MPI_MIN,
                          MPI_COMM_WORLD));
    job->memory_per_process_bytes = o->mb > 0 ? o->mb * MB : each;
    if (o->mt > 0) job->memory_total_bytes = o->mt * MB;
    const bool cap = job->setup->schedule.definition == BEFFIO_2_1;
    job->m_part_bytes = beffio_m_part_bytes(job->memory_per_process_bytes, cap);
    if (o->quick && job->m_part_bytes > QUICK_M_PART) job->m_part_bytes = QUICK_M_PART;
    return 0;
}

static int file_text(const char *path, char **text)
{
    FILE *from = fopen(path, "re");
    if (!from) return err_set_errno(ERR_USAGE, errno, "-i %s", path);
    *text = calloc(1, HINTS_BYTES_MAX + 1);
    int rc = *text ? 0 : err_set(ERR_NOMEM, "no memory for %s", path);
    if (rc == 0 && fread(*text, 1, HINTS_BYTES_MAX + 1, from) > HINTS_BYTES_MAX)
        rc = err_set(ERR_USAGE, "-i %s: more than %d bytes", path, HINTS_BYTES_MAX);
    if (rc == 0 && ferror(from)) rc = err_set_errno(ERR_USAGE, errno, "-i %s", path);
    fclose(from);
    return rc;
}

static int hints_here(struct beffio_job *job, char **text)
{
    TRY(file_text(job->setup->opt.info, text));
    return beffio_hints_parse(&job->hints, job->setup->opt.info, *text);
}

/* Rank 0 reads the file, everybody the text. */
static int hints_read(struct beffio_job *job)
{
    char *text = NULL;
    int rc = 0;
    if (!job->setup->opt.info) return 0;
    if (job->rank == 0) rc = hints_here(job, &text);
    if (job->rank != 0) text = calloc(1, HINTS_BYTES_MAX + 1);
    if (!text && rc == 0) rc = err_set(ERR_NOMEM, "no memory for the hints");
    rc = par_agree(MPI_COMM_WORLD, rc);
    if (rc == 0)
        rc = par_check(MPI_Bcast(text, HINTS_BYTES_MAX, MPI_CHAR, 0, MPI_COMM_WORLD), "MPI_Bcast");
    if (rc == 0 && job->rank != 0) rc = beffio_hints_parse(&job->hints, job->setup->opt.info, text);
    free(text);
    return par_agree(MPI_COMM_WORLD, rc);
}

static int file_system_look(struct beffio_job *job)
{
    char probe[BEFFIO_PATH_MAX];
    const int n = snprintf(probe, sizeof probe, "%s/%s", job->setup->opt.path, job->setup->prefix);
    if (n < 0 || n >= (int)sizeof probe) return err_set(ERR_USAGE, "-p: the name is too long");
    TRY(sys_path_fs(probe, &job->fs));
    job->room.free_bytes = job->fs.free_bytes;
    job->room.in_memory = job->fs.in_memory;
    job->room.limit_bytes = job->setup->opt.max_space;
    job->room_bytes = beffio_room_bytes(&job->room);
    return 0;
}

/* Only rank 0's opinion counts, so that all end at the same calls. */
static int room_find(struct beffio_job *job)
{
    TRY(par_agree(MPI_COMM_WORLD, file_system_look(job)));
    TRY_MPI(MPI_Bcast(&job->room, (int)sizeof job->room, MPI_BYTE, 0, MPI_COMM_WORLD));
    TRY_MPI(MPI_Bcast(&job->room_bytes, 1, MPI_INT64_T, 0, MPI_COMM_WORLD));
    return 0;
}

static int rate_find(struct beffio_job *job)
{
    double mine = 0;
    job->rate = (double)job->setup->opt.rate;
    if (job->rate > 0) return 0;
    int64_t most = job->room_bytes / 4 / job->size;
    if (most > PROBE_BYTES_MOST) most = PROBE_BYTES_MOST;
    TRY(par_agree(MPI_COMM_WORLD, beffio_files_probe(&job->files, most, &mine)));
    TRY_MPI(MPI_Allreduce(&mine, &job->rate, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    return 0;
}

static int files_begin(struct beffio_job *job)
{
    const struct beffio_setup *s = job->setup;
    struct beffio_files *f = &job->files;
    f->dir = s->opt.path;
    f->prefix = s->prefix;
    f->force = s->opt.force;
    f->keep = s->opt.keep;
    f->untouched = s->opt.dry_run;
    f->rank = job->rank;
    f->partitions_n = s->schedule.partitions_n;
    memcpy(f->procs, s->schedule.procs, sizeof f->procs);
    job->files_begun = true;
    return beffio_files_begin(f, MPI_COMM_WORLD);
}

static int no_room(const struct beffio_job *job, int64_t missing)
{
    char gap[UNITS_TEXT_MAX], room[UNITS_TEXT_MAX], m[UNITS_TEXT_MAX];
    return err_set(
        ERR_IO,
        "%s lacks %s: one call of each pattern with M_PART = %s does not fit into the %s "
        "that may be used; free space, or give another -p, a smaller -MB or fewer -N",
        job->setup->opt.path, units_bytes((double)missing, gap),
        units_bytes_iec((double)job->m_part_bytes, m), units_bytes((double)job->room_bytes, room));
}

static int part_make(struct beffio_job *job, int index)
{
    const struct beffio_setup *s = job->setup;
    struct beffio_part *p = &job->part[index];
    struct beffio_bench *b = &p->bench;
    const int procs = s->schedule.procs[index], color = job->rank < procs ? 0 : MPI_UNDEFINED;
    struct beffio_layout expected;
    beffio_expected(&s->schedule, procs, job->m_part_bytes, job->rate * procs / job->size,
                    &expected);
    p->expected_bytes = beffio_layout_bytes(&expected);
    *b = (struct beffio_bench){.rank = job->rank,
                               .procs = procs,
                               .index = index,
                               .schedule = &s->schedule,
                               .files = &job->files,
                               .hints = &job->hints,
                               .shared_pointer = !s->opt.noshared,
                               .unique = s->opt.unique,
                               .per_call = s->per_call,
                               .layout = {.procs = procs, .m_part_bytes = job->m_part_bytes}};
    TRY_MPI(MPI_Comm_split(MPI_COMM_WORLD, color, job->rank, &b->comm));
    if (b->comm == MPI_COMM_NULL) return 0;
    TRY_MPI(MPI_Comm_set_errhandler(b->comm, MPI_ERRORS_RETURN));
    return memory_of(b->comm, &p->memory_bytes, &p->nodes_n);
}

static int parts_make(struct beffio_job *job)
{
    const struct beffio_schedule *c = &job->setup->schedule;
    int64_t share[BEFFIO_PARTITIONS_MAX];
    const int64_t missing =
        beffio_room_share(c, job->m_part_bytes, job->room_bytes, beffio_job_together(job), share);
    if (missing > 0 && !job->setup->opt.dry_run) return no_room(job, missing);
    job->part = calloc((size_t)c->partitions_n, sizeof *job->part);
    if (!job->part) return err_set(ERR_NOMEM, "no memory for the partitions");
    for (int i = 0; i < c->partitions_n; i++) {
        TRY(part_make(job, i));
        job->part[i].bench.share_bytes = share[i];
    }
    return 0;
}

/* A text may take the place of an earlier one of ours only, or of any with --force. */
static int text_check(const struct beffio_job *job, const char *option, const char *path)
{
    if (!path[0]) return 0;
    const int rc = js_check_text(path, job->setup->opt.force ? "" : "nht1-beffio ");
    if (rc < 0) err_prefix(option);
    return rc;
}

/* A result that cannot be written is found out before the run. */
static int targets_check(const struct beffio_job *job)
{
    const char *json = job->setup->opt.json;
    if (job->rank != 0 || job->setup->opt.dry_run) return 0;
    TRY(text_check(job, job->setup->opt.sum ? "--sum: " : "-f: ", job->setup->sum));
    TRY(text_check(job, job->setup->opt.protocol ? "--protocol: " : "-f: ", job->setup->protocol));
    if (!json) return 0;
    const int rc = js_check_target(json, "nht1-beffio/");
    if (rc < 0) err_prefix("--json: ");
    return rc;
}

static int look(struct beffio_job *job)
{
    const bool nothing_written = job->setup->opt.dry_run && job->setup->opt.rate > 0;
    TRY(nodes_find(MPI_COMM_WORLD, &job->nodes));
    TRY(memory_find(job));
    TRY(hints_read(job));
    TRY(par_agree(MPI_COMM_WORLD, targets_check(job)));
    TRY(room_find(job));
    if (!nothing_written) TRY(files_begin(job));
    TRY(rate_find(job));
    return par_json(MPI_COMM_WORLD, &job->mpi);
}

int beffio_job_make(struct beffio_job *job, struct beffio_setup *setup)
{
    memset(job, 0, sizeof *job);
    job->setup = setup;
    job->best = -1;
    job->files.lock_fd = job->files.dir_fd = -1;
    TRY_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &job->rank));
    TRY_MPI(MPI_Comm_size(MPI_COMM_WORLD, &job->size));
    TRY(beffio_setup_schedule(setup, job->size));
    TRY(look(job));
    return par_agree(MPI_COMM_WORLD, parts_make(job));
}

void beffio_job_free(struct beffio_job *job)
{
    if (job->files_begun) beffio_files_end(&job->files);
    for (int i = 0; job->part && i < job->setup->schedule.partitions_n; i++) {
        struct beffio_bench *b = &job->part[i].bench;
        beffio_bench_free(b);
        if (b->comm != MPI_COMM_NULL && b->procs > 0) MPI_Comm_free(&b->comm);
    }
    free(job->part);
    beffio_hints_free(&job->hints);
    json_decref(job->mpi);
    nodes_free(&job->nodes);
}

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
