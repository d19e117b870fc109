/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/beffio/job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/mpilib.h"
#include "base/num.h"
#include "base/par.h"
#include "base/units.h"
#include "base/watch.h"

#define MB              (INT64_C(1) << 20)
#define HINTS_BYTES_MAX (1 << 20)
#define QUICK_M_PART    (32 * MB)
#define SAMPLE_FROM     (INT64_C(256) << 30) /* files beyond this are looked at in samples */

/* Whether the files of all partitions exist at the same time. */
bool beffio_job_together(const struct beffio_job *job)
{
    return !beffio_partition_by_partition(job->setup->schedule.definition) || job->setup->opt.keep;
}

int64_t beffio_job_expected(const struct beffio_job *job)
{
    int64_t sum = 0, most = 0;
    for (int i = 0; i < job->setup->schedule.partitions_n; i++) {
        const int64_t bytes = job->part[i].expected_bytes;
        sum = num_sum(sum, bytes);
        if (bytes > most) most = bytes;
    }
    return beffio_job_together(job) ? sum : most;
}

double beffio_job_check_s(const struct beffio_job *job)
{
    double bytes = 0;
    for (int i = 0; i < job->setup->schedule.partitions_n; i++) {
        const struct beffio_part *p = &job->part[i];
        const int64_t share = p->bench.share_bytes;
        const int64_t most = p->expected_bytes < share ? p->expected_bytes : share;
        if (!p->sample && job->setup->check != BEFFIO_CHECK_NONE) bytes += (double)most;
        if (job->setup->check == BEFFIO_CHECK_EVERY) bytes += 2.0 * (double)most;
    }
    return job->rate > 0 ? bytes / job->rate : 0;
}

/* --- the system of the job ------------------------------------------------------------------ */

/* Memory of the nodes, as far as limits leave it, in sum. */
static int memory_of(const struct nodes *n, int64_t *sum)
{
    struct sys_memory here;
    sys_memory(&here);
    const int64_t mine = n->node_rank == 0 ? here.usable_bytes : 0;
    TRY_MPI(MPI_Allreduce(&mine, sum, 1, MPI_INT64_T, MPI_SUM, n->comm));
    return 0;
}

/* Each process has a buffer of M_PART. */
static int buffers_fit(const struct beffio_job *job)
{
    char part[UNITS_TEXT_MAX], all[UNITS_TEXT_MAX], room[UNITS_TEXT_MAX];
    double needed;
    int64_t free_bytes;
    int rc = nodes_memory(&job->nodes, job->m_part_bytes, &needed, &free_bytes);
    if (rc == 0 && needed > (double)free_bytes)
        rc = err_set(ERR_USAGE,
                     "-MB: buffers of M_PART = %s take %s of memory on %s, %s are free: give a "
                     "smaller -MB, or start fewer processes on a node",
                     units_bytes_iec((double)job->m_part_bytes, part), units_bytes_iec(needed, all),
                     job->nodes.host, units_bytes_iec((double)free_bytes, room));
    return par_agree(MPI_COMM_WORLD, rc);
}

/* M_PART is the 128th part of the memory of a node in the papers, of a process as released. */
static int memory_find(struct beffio_job *job)
{
    const struct beffio_options *o = &job->setup->opt;
    const enum beffio_definition d = job->setup->schedule.definition;
    struct sys_memory here;
    sys_memory(&here);
    int64_t node = here.usable_bytes, per_node = job->nodes.node_size;
    TRY(memory_of(&job->nodes, &job->memory_total_bytes));
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &node, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD));
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &per_node, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD));
    TRY_MPI(MPI_Allreduce(&here.free_bytes, &job->room.memory_bytes, 1, MPI_INT64_T, MPI_MIN,
                          MPI_COMM_WORLD));
    if (o->ranks > 0) { /* a plan for another job */
        const int64_t nodes = o->nodes > 0 ? o->nodes : 1;
        per_node = (job->size + nodes - 1) / nodes;
        job->memory_total_bytes = node * nodes;
    }
    job->memory_per_process_bytes = o->mb > 0 ? num_product(o->mb, MB) : node / per_node;
    if (o->mb > 0) node = num_product(num_product(o->mb, MB), per_node);
    if (o->mt > 0) job->memory_total_bytes = num_product(o->mt, MB);
    if (num_product(node, job->nodes.count) == NUM_ENDLESS)
        return err_set(ERR_USAGE, "-MB %" PRId64 ": more than 2^63 bytes on all nodes: give less",
                       o->mb);
    if (job->memory_total_bytes == NUM_ENDLESS)
        return err_set(ERR_USAGE, "-MT %" PRId64 ": more than 2^63 bytes: give less", o->mt);
    const bool of_node = job->setup->m_part == BEFFIO_M_PART_NODE ||
                         (job->setup->m_part == BEFFIO_M_PART_DEFINITION && d != BEFFIO_2_1);
    job->m_part_bytes =
        beffio_m_part_bytes(of_node ? node : job->memory_per_process_bytes, d == BEFFIO_2_1);
    if (o->quick && job->m_part_bytes > QUICK_M_PART) job->m_part_bytes = QUICK_M_PART;
    return o->dry_run ? 0 : buffers_fit(job);
}

static int hints_read(struct beffio_job *job)
{
    const char *path = job->setup->opt.info;
    char *text;
    int64_t bytes;
    if (!path) return 0;
    int rc = par_read_file(MPI_COMM_WORLD, path, HINTS_BYTES_MAX, &text, &bytes);
    if (rc < 0) err_prefix("-i ");
    if (rc == 0) rc = beffio_hints_parse(&job->hints, path, text);
    free(text);
    return par_agree(MPI_COMM_WORLD, rc);
}

/* Only rank 0's opinion counts, so that all end at the same calls. */
static int room_find(struct beffio_job *job)
{
    char probe[BEFFIO_PATH_MAX];
    const int n = snprintf(probe, sizeof probe, "%s/%s", job->setup->opt.path, job->setup->prefix);
    const bool fits = n >= 0 && n < (int)sizeof probe - 64; /* names of data files are longer */
    TRY(par_agree(MPI_COMM_WORLD, fits ? sys_path_fs(probe, &job->fs)
                                       : err_set(ERR_USAGE, "-p: the name is too long")));
    /* Where it is not told, more than there is anywhere: writing ends when the time is over. */
    job->room.free_bytes = job->fs.free_bytes < 0 ? INT64_C(1) << 60 : job->fs.free_bytes;
    job->room.in_memory = job->fs.in_memory;
    job->room.limit_bytes = job->setup->opt.max_space;
    TRY_MPI(MPI_Bcast(&job->room, (int)sizeof job->room, MPI_BYTE, 0, MPI_COMM_WORLD));
    job->room_bytes = beffio_room_bytes(&job->room);
    const int64_t quick = job->setup->quick_bytes;
    if (quick > 0 && quick < job->room_bytes) job->room_bytes = quick;
    return 0;
}

/* A bounded amount per node, however many processes there are. */
static int rate_find(struct beffio_job *job)
{
    double mine = 0;
    job->rate = (double)job->setup->opt.rate;
    if (job->rate > 0) return 0;
    int64_t most =
        beffio_probe_bytes(job->room.free_bytes, job->nodes.count) / job->nodes.node_size;
    TRY(par_agree(MPI_COMM_WORLD, beffio_files_probe(&job->files, &most, &mine)));
    TRY_MPI(MPI_Allreduce(&mine, &job->rate, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    TRY_MPI(MPI_Allreduce(&most, &job->probe_bytes, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
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
    return beffio_files_begin(f, MPI_COMM_WORLD);
}

/* What the MPI library cannot do is refused before anything is written. */
static int ordered_check(const struct beffio_job *job)
{
    const struct beffio_schedule *c = &job->setup->schedule;
    int most = 0;
    for (int i = 0; i < c->partitions_n; i++)
        if (c->procs[i] > most) most = c->procs[i];
    if (job->setup->opt.noshared || job->rank != 0 || beffio_ordered_most(most, true) >= MB + 8 ||
        !mpilib_may_be_ompio())
        return 0;
    return err_set(ERR_USAGE,
                   "-N %d: OMPIO cannot move 1 MB of each of so many processes in one ordered call "
                   "(pattern type 1), 2 GiB are too much for it: use ROMIO (--mca io romio321), or "
                   "--noshared, which is not valid as a result",
                   most);
}

/* How many ranks further another node's rank is, for all ranks of a partition. */
static int shift_find(const struct nodes *n, int *shift)
{
    int lead = n->rank;
    int *node = mem_new(n->size, sizeof *node, "%d processes", n->size);
    int rc = node ? 0 : ERR_NOMEM;
    rc = par_agree(n->comm, rc);
    if (rc == 0) rc = par_check(MPI_Bcast(&lead, 1, MPI_INT, 0, n->node), "MPI_Bcast");
    if (rc == 0)
        rc =
            par_check(MPI_Allgather(&lead, 1, MPI_INT, node, 1, MPI_INT, n->comm), "MPI_Allgather");
    *shift = 0;
    /* Ranks fill nodes, or take turns on them: the first two guesses; then whatever does. */
    for (int i = 0; rc == 0 && n->count > 1 && *shift == 0 && i < n->size + 1; i++) {
        const int by = i == 0 ? n->node_size : i - 1;
        bool good = by > 0 && by < n->size;
        for (int r = 0; good && r < n->size; r++)
            good = node[r] != node[(r + by) % n->size];
        if (good) *shift = by;
    }
    free(node);
    TRY(par_agree(n->comm, rc));
    TRY_MPI(MPI_Bcast(shift, 1, MPI_INT, 0, n->comm));
    if (*shift > 0) return 0;
    return err_set(ERR_USAGE,
                   "--shift-read node: %d processes are not on several nodes so that "
                   "each can read what one on another node wrote: give a number, or "
                   "other -N",
                   n->size);
}

static int part_make(struct beffio_job *job, int index)
{
    const struct beffio_setup *s = job->setup;
    struct beffio_part *p = &job->part[index];
    struct beffio_bench *b = &p->bench;
    const int procs = s->schedule.procs[index], color = job->rank < procs ? 0 : MPI_UNDEFINED;
    struct beffio_layout expected;
    beffio_expected(&s->schedule, index, procs, job->m_part_bytes, job->rate * procs / job->size,
                    &expected);
    p->expected_bytes = beffio_layout_bytes(&expected);
    p->sample = s->check == BEFFIO_CHECK_SAMPLE ||
                (s->check == BEFFIO_CHECK_SIZE && p->expected_bytes > SAMPLE_FROM);
    *b = (struct beffio_bench){.rank = job->rank,
                               .procs = procs,
                               .index = index,
                               .schedule = &s->schedule,
                               .files = &job->files,
                               .hints = &job->hints,
                               .keeps = job->rank == 0,
                               .shared_pointer = !s->opt.noshared,
                               .unique = s->unique,
                               .buffer_offset = s->buffer_offset,
                               .offset_bytes = {-1, -1},
                               .evenly = s->opt.quick,
                               .drop_cache = s->opt.drop_cache,
                               .progress_done = &job->progress_done,
                               .layout = {.procs = procs, .m_part_bytes = job->m_part_bytes}};
    TRY_MPI(MPI_Comm_split(MPI_COMM_WORLD, color, job->rank, &b->comm));
    if (b->comm == MPI_COMM_NULL) return 0;
    TRY_MPI(MPI_Comm_set_errhandler(b->comm, MPI_ERRORS_RETURN));
    struct nodes n;
    int rc = nodes_split(b->comm, &n);
    if (rc == 0) rc = memory_of(&n, &p->memory_bytes);
    p->nodes_n = n.count;
    b->leads_node = n.node_rank == 0;
    b->shift = s->shift > 0 ? (int)(s->shift % procs) : 0;
    if (rc == 0 && s->shift < 0 && !s->opt.dry_run) rc = shift_find(&n, &b->shift);
    nodes_free(&n);
    return rc;
}

/* The share of each partition as it will be when it begins, if those before it take what is expected. */
static void shares_expect(struct beffio_job *job, const int64_t share[])
{
    const struct beffio_schedule *c = &job->setup->schedule;
    int64_t used = 0;
    for (int i = 0; i < c->partitions_n; i++) {
        struct beffio_part *p = &job->part[i];
        int64_t *mine = &p->bench.share_bytes;
        *mine = !beffio_job_together(job) ? share[i]
                                          : beffio_room_left(c, job->m_part_bytes, job->room_bytes,
                                                             used, i, p->bench.evenly);
        used = num_sum(used, num_min(*mine, p->expected_bytes));
    }
}

/* What the files may take, and what they lack. */
static void room_share(struct beffio_job *job)
{
    const struct beffio_options *o = &job->setup->opt;
    int64_t share[BEFFIO_PARTITIONS_MAX];
    const int64_t expected = beffio_job_expected(job);
    /* A probe is only an estimate: twice as much, and more where that is very little. */
    if (o->max_space == 0 && !o->quick) {
        const int64_t few = job->room.free_bytes / 50;
        const int64_t twice = num_max(num_product(2, expected), few);
        if (twice < job->room_bytes) job->room_bytes = twice;
    }
    job->missing_bytes = beffio_room_share(&job->setup->schedule, job->m_part_bytes,
                                           job->room_bytes, beffio_job_together(job), share);
    job->unasked = o->max_space == 0 && !o->quick && expected > job->room_bytes;
    shares_expect(job, share);
}

int beffio_job_refused(const struct beffio_job *job, char why[BEFFIO_REFUSAL_MAX])
{
    const struct beffio_options *o = &job->setup->opt;
    char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX], m[UNITS_TEXT_MAX];
    why[0] = '\0';
    if (job->missing_bytes > 0) {
        snprintf(why, BEFFIO_REFUSAL_MAX,
                 "%s lacks %s: one call of each pattern with M_PART = %s does not fit into "
                 "the %s that may be used; free space, raise --max-space, or give another "
                 "-p, a smaller -MB or fewer -N",
                 o->path, units_bytes((double)job->missing_bytes, a),
                 units_bytes_iec((double)job->m_part_bytes, m),
                 units_bytes((double)job->room_bytes, b));
        return ERR_IO;
    }
    if (!job->unasked) return 0;
    snprintf(why, BEFFIO_REFUSAL_MAX,
             "the run would write about %s at a time, which is more than a tenth of "
             "the %s that are free in %s: say with --max-space how much it may take, or "
             "give a smaller -T",
             units_bytes((double)beffio_job_expected(job), a),
             units_bytes((double)job->room.free_bytes, b), o->path);
    return ERR_USAGE;
}

int beffio_job_fits(const struct beffio_job *job)
{
    char why[BEFFIO_REFUSAL_MAX];
    const int rc = beffio_job_refused(job, why);
    return rc < 0 ? err_set(rc, "%s", why) : 0;
}

int beffio_job_make(struct beffio_job *job, struct beffio_setup *setup)
{
    memset(job, 0, sizeof *job);
    job->setup = setup;
    job->best = -1;
    watch_utc(job->started_utc);
    TRY_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &job->rank));
    TRY_MPI(MPI_Comm_size(MPI_COMM_WORLD, &job->size));
    if (setup->opt.ranks > 0) job->size = (int)setup->opt.ranks;
    TRY(beffio_setup_schedule(setup, job->size));
    job->part = mem_new(setup->schedule.partitions_n, sizeof *job->part, "the partitions");
    job->rep = mem_new(setup->opt.repeat, sizeof *job->rep, "the repetitions");
    TRY(par_agree_memory(MPI_COMM_WORLD, job->part && job->rep));
    for (int i = 0; i < setup->schedule.partitions_n; i++)
        job->part[i].bench.comm = MPI_COMM_NULL;
    TRY(nodes_find(MPI_COMM_WORLD, &job->nodes));
    TRY(memory_find(job));
    TRY(hints_read(job));
    TRY(room_find(job));
    TRY(par_agree(MPI_COMM_WORLD, ordered_check(job)));
    if (!setup->opt.dry_run || setup->opt.rate == 0) TRY(files_begin(job));
    TRY(rate_find(job));
    for (int i = 0; i < setup->schedule.partitions_n; i++)
        TRY(par_agree(MPI_COMM_WORLD, part_make(job, i)));
    room_share(job);
    if (setup->opt.dry_run) return 0;
    TRY(par_agree(MPI_COMM_WORLD, beffio_job_fits(job)));
    return beffio_files_clear(&job->files, MPI_COMM_WORLD);
}

void beffio_job_free(struct beffio_job *job)
{
    beffio_files_end(&job->files);
    for (int i = 0; job->part && i < job->setup->schedule.partitions_n; i++) {
        struct beffio_bench *b = &job->part[i].bench;
        beffio_bench_free(b);
        if (b->comm != MPI_COMM_NULL) MPI_Comm_free(&b->comm);
    }
    free(job->part);
    free(job->rep);
    beffio_hints_free(&job->hints);
    nodes_free(&job->nodes);
    disturbance_end(&job->disturbance);
}
