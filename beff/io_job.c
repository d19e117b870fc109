/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beff/io_job.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/par.h"
#include "base/units.h"

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
