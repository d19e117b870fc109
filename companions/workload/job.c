/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/workload/job.h"

#include <stdlib.h>
#include <string.h>

#include "base/conf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/mpilib.h"
#include "base/num.h"
#include "base/par.h"
#include "base/progress.h"
#include "base/stop.h"
#include "base/watch.h"
#include "io/writers/hint.h"

#define TEXT_BYTES_MAX (INT64_C(256) << 20)

/* --- reading the description ---------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), k = strlen(end);
    return n > k && strcasecmp(text + n - k, end) == 0;
}

/* The working points of a text, NULL for the reference workload, changed by --set. */
static int read_points(struct workload_job *job, const char *text, int64_t bytes)
{
    const struct conf_list *set = &job->opt->set;
    struct workload *w = &job->workload;
    struct workload_point reference = workload_point_reference();
    reference.process_num = job->context.size;
    w->seed = 1;
    TRY(text ? workload_read(job->name, text, (size_t)bytes, w) : workload_add(w, &reference));
    if (job->opt->seed >= 0) w->seed = (uint64_t)job->opt->seed;
    for (int i = 0; i < w->points_n; i++) {
        struct workload_point *p = &w->point[i];
        char key[64], at[320];
        const char *value;
        bool cont_given = false;
        snprintf(at, sizeof at, "%.200s:%d:%d: ", job->name, p->line, p->column);
        if (set->n > 0 && (p->list_n > 0 || p->ranks_n > 0))
            return err_set(ERR_USAGE,
                           "--set %s: %sthis point is replayed from its <calls> and <rank>, which "
                           "its numbers only describe: remove these from a copy, and it is "
                           "replayed from its numbers",
                           set->item[0], at);
        for (int s = 0; s < set->n; s++) {
            TRY(workload_options_pair("--set", set->item[s], key, &value));
            const int rc = workload_point_set(p, key, value);
            if (rc < 0) err_prefix("--set ");
            TRY(rc);
            cont_given = cont_given || strcmp(key, "contMean") == 0;
        }
        if (!text && (!cont_given || p->cont_mean > p->size_mean)) p->cont_mean = p->size_mean;
        TRY(workload_point_check(p, w->separate, at));
    }
    TRY(workload_replay_check(&job->context, w, job->name));
    job->outcome = mem_new(w->points_n, sizeof *job->outcome, "the results");
    return job->outcome ? 0 : ERR_NOMEM;
}

/* The phases of a text, NULL for all patterns. */
static int read_phases(struct workload_job *job, const char *text, int64_t bytes)
{
    char all[1024];
    if (!text) {
        bytes = 0;
        for (int p = 0; p < WORKLOAD_PATTERNS; p++)
            bytes += snprintf(all + bytes, sizeof all - (size_t)bytes, "<Pattern %s> </Pattern>\n",
                              workload_pattern_name((enum workload_pattern)p));
    }
    TRY(workload_jobfile_read(job->name, text ? text : all, (size_t)bytes,
                              ends_with(job->name, ".ini"), &job->opt->set, &job->jobfile));
    if (job->opt->seed >= 0)
        for (int i = 0; i < job->jobfile.n; i++)
            job->jobfile.phase[i].shape.seed = (uint64_t)job->opt->seed;
    job->phase = mem_new(job->jobfile.n, sizeof *job->phase, "the results");
    return job->phase ? 0 : ERR_NOMEM;
}

/* The accesses of a text, those of this rank's process. */
static int read_accesses(struct workload_job *job, const char *text, int64_t bytes)
{
    const char *option = job->opt->set.n > 0 ? "--set" : job->opt->hint.n > 0 ? "--hint" : NULL;
    if (option)
        return err_set(
            ERR_USAGE,
            "%s: accesses are replayed as they were, by POSIX calls: leave it out with %s", option,
            job->name);
    job->replayed = mem_new(1, sizeof *job->replayed, "the results");
    if (!job->replayed) return ERR_NOMEM;
    return workload_accessfile_read(job->name, text, (size_t)bytes, job->context.rank,
                                    &job->accesses);
}

static int read_description(struct workload_job *job)
{
    static const struct {
        const char *end;
        enum workload_job_kind kind;
    } known[] = {{".xml", WORKLOAD_POINTS},
                 {".conf", WORKLOAD_PHASES},
                 {".ini", WORKLOAD_PHASES},
                 {".jsonl", WORKLOAD_ACCESSES}};
    char *text = NULL;
    int64_t bytes = 0;
    int rc = ERR_USAGE;
    if (job->opt->reference || job->opt->patterns) {
        job->kind = job->opt->reference ? WORKLOAD_POINTS : WORKLOAD_PHASES;
        rc = 0;
    } else {
        for (size_t i = 0; rc < 0 && i < sizeof known / sizeof known[0]; i++) {
            job->kind = known[i].kind;
            if (ends_with(job->name, known[i].end)) rc = 0;
        }
        if (rc < 0)
            return err_set(
                ERR_USAGE,
                "%s: a workload's name ends in .xml, a job file's in .conf or .ini, that of a "
                "program's accesses in .jsonl",
                job->name);
        rc = par_read_file(job->context.comm, job->name, TEXT_BYTES_MAX, &text, &bytes);
    }
    if (rc == 0)
        rc = job->kind == WORKLOAD_POINTS   ? read_points(job, text, bytes)
             : job->kind == WORKLOAD_PHASES ? read_phases(job, text, bytes)
                                            : read_accesses(job, text, bytes);
    free(text);
    return par_agree(job->context.comm, rc);
}

/* --- the system ----------------------------------------------------------------------------- */

/* Which MPI-IO is at work. It takes some libraries a while to tell: one rank asks. */
static int find_component(struct workload_job *job)
{
    const bool open_mpi = mpilib()->kind == MPILIB_OPEN_MPI;
    int romio = 0;
    if (job->context.rank == 0) {
        job->component = mpilib_component();
        romio = open_mpi && mpilib_io(job->fs.type) == MPILIB_ROMIO;
    }
    TRY_MPI(MPI_Bcast(&romio, 1, MPI_INT, 0, job->context.comm));
    job->context.romio = romio;
    job->context.pointer_late = !open_mpi;
    return 0;
}

static int hints_make(struct workload_job *job)
{
    const struct conf_list *hint = &job->opt->hint;
    if (hint->n == 0) return 0;
    TRY(io_hints_check(hint->n, hint->item));
    for (int i = 0; i < hint->n; i++)
        TRY(par_info_add(&job->context.info, hint->item[i], NULL));
    return 0;
}

/* Numbers of files that the description may use. */
static int files_of(const struct workload_job *job)
{
    return job->kind == WORKLOAD_POINTS     ? WORKLOAD_FILES_MAX
           : job->kind == WORKLOAD_ACCESSES ? job->accesses.files_n
                                            : 1;
}

static int names_check(const struct workload_options *o)
{
    TRY(conf_name_file("--out", o->out));
    return conf_files_differ("--out", o->out, "--json", o->json);
}

int workload_job_make(struct workload_job *job, const struct workload_options *o, const char *name)
{
    struct workload_context *c = &job->context;
    *job = (struct workload_job){
        .opt = o, .name = name, .context = {.comm = MPI_COMM_WORLD, .info = MPI_INFO_NULL}};
    TRY_MPI(MPI_Comm_rank(c->comm, &c->rank));
    TRY_MPI(MPI_Comm_size(c->comm, &c->size));
    c->depth = (int)o->depth;
    c->buffer_bytes = o->buffer;
    c->check = strcmp(o->check, "none") != 0;
    c->sync_call = strcmp(o->sync, "call") == 0;
    c->sync_end = strcmp(o->sync, "none") != 0;
    c->think = o->think;
    TRY(par_agree(c->comm, hints_make(job)));
    TRY(par_agree(c->comm, c->rank == 0 ? names_check(o) : 0));
    TRY(par_agree(c->comm, sys_path_fs(o->out, &job->fs)));
    TRY(find_component(job));
    TRY(read_description(job));
    c->files =
        (struct workload_files){.name = o->out,
                                .description = job->name,
                                .separate = job->kind == WORKLOAD_POINTS && job->workload.separate,
                                .force = o->force,
                                .keep = o->keep,
                                .rank = c->rank};
    const int files = files_of(job);
    c->content = mem_new(files, sizeof *c->content, "%d files", files);
    TRY(par_agree_memory(c->comm, c->content != NULL));
    TRY(nodes_find(c->comm, &job->nodes));
    switch (job->kind) {
    case WORKLOAD_POINTS:
        return workload_replay_memory(c, &job->nodes, &job->workload, job->name, &job->node_bytes);
    case WORKLOAD_PHASES:
        return workload_phases_check(c, &job->nodes, &job->jobfile, job->name, &job->node_bytes);
    default:
        return workload_access_check(c, &job->nodes, &job->accesses, job->name, &job->node_bytes);
    }
}

void workload_job_free(struct workload_job *job)
{
    if (job->files_begun) workload_files_end(&job->context.files);
    for (int i = 0; i < job->measured_n; i++)
        workload_times_free(&workload_job_measured(job, i)->times);
    free(job->outcome);
    free(job->phase);
    free(job->replayed);
    workload_accessfile_free(&job->accesses);
    workload_free(&job->workload);
    workload_jobfile_free(&job->jobfile);
    workload_data_free(&job->context.data);
    free(job->context.content);
    nodes_free(&job->nodes);
    disturbance_end(&job->disturbance);
    if (job->context.info != MPI_INFO_NULL) MPI_Info_free(&job->context.info);
}

/* --- what the run will find ---------------------------------------------------------------- */

/* Bytes of each file, of this process's own where separate. */
static void files_bytes(const struct workload_job *job, int64_t bytes[])
{
    bool read[WORKLOAD_FILES_MAX];
    if (job->kind == WORKLOAD_POINTS)
        workload_replay_needs(&job->workload, job->context.rank, bytes, read);
    else if (job->kind == WORKLOAD_PHASES)
        workload_phases_longest(&job->jobfile, job->context.size, bytes);
    for (int i = 0; job->kind == WORKLOAD_ACCESSES && i < job->accesses.files_n; i++)
        bytes[i] = num_max(job->accesses.file[i].length_bytes, 1);
}

int workload_job_may(const struct workload_job *job)
{
    const struct workload_context *c = &job->context;
    const int files_n = files_of(job);
    int64_t *bytes = mem_new(files_n, sizeof *bytes, "%d files", files_n), longest;
    int rc = par_agree_memory(c->comm, bytes != NULL);
    if (rc == 0 && job->opt->dry_run) rc = workload_files_look(&c->files, &job->nodes);
    if (rc == 0) {
        files_bytes(job, bytes);
        rc = workload_files_names(&c->files, c->comm, files_n, bytes);
    }
    if (rc == 0) {
        const double memory = job->fs.in_memory ? job->node_bytes : 0;
        rc = workload_files_room(&c->files, &job->nodes, files_n, bytes, memory);
        const struct workload_phase *p = workload_phases_longest(&job->jobfile, c->size, &longest);
        if (rc < 0 && p) workload_phase_place(p, job->name);
    }
    free(bytes);
    return rc;
}

/* --- running -------------------------------------------------------------------------------- */

static int run_points(struct workload_job *job, struct progress *progress)
{
    struct workload_context *c = &job->context;
    int64_t bytes[WORKLOAD_FILES_MAX];
    bool read[WORKLOAD_FILES_MAX];
    workload_replay_needs(&job->workload, c->rank, bytes, read);
    for (int i = 0; i < WORKLOAD_FILES_MAX; i++) {
        int64_t longest = bytes[i];
        TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPI_INT64_T, MPI_MAX, c->comm));
        if (longest == 0) continue;
        TRY(workload_context_file(c, i, bytes[i], read[i]));
        if (read[i]) TRY(workload_files_drop(&c->files, &job->nodes, i));
    }
    for (int i = 0; i < job->workload.points_n; i++) {
        TRY(workload_clock_keep(c->comm, &c->clock));
        job->measured_n++;
        TRY(workload_replay_point(c, &job->workload, i, &job->outcome[i]));
        progress_update(progress, i + 1);
    }
    return 0;
}

static int run_phases(struct workload_job *job, struct progress *progress)
{
    for (int i = 0; i < job->jobfile.n; i++) {
        const struct workload_phase *p = &job->jobfile.phase[i];
        if (p->pause_s > 0) {
            job->paused_s += workload_think(p->pause_s, p->think_busy);
            TRY(par_agree(job->context.comm,
                          stop_requested() ? err_set(ERR_INTERRUPT, "interrupted") : 0));
            continue;
        }
        TRY(workload_clock_keep(job->context.comm, &job->context.clock));
        struct workload_phase_result *r = &job->phase[job->measured_n++];
        const int rc = workload_phase_measure(&job->context, p, r);
        if (rc < 0) {
            workload_phase_place(p, job->name);
            return rc;
        }
        job->valid = job->valid && r->m.enough;
        progress_update(progress, i + 1);
    }
    return 0;
}

static int run_accesses(struct workload_job *job)
{
    job->measured_n = 1;
    return workload_access_replay(&job->context, &job->nodes, &job->accesses, job->replayed);
}

/* What may have made the data of a measurement wrong, besides the file system. On rank 0. */
static const char *likely_cause(const struct workload_job *job, int no)
{
    const struct workload_measured *m = workload_job_measured(job, no);
    bool collective = false;
    for (int i = 0; job->kind == WORKLOAD_POINTS && i < WORKLOAD_KINDS; i++) {
        const struct workload_kind k = workload_kind_of(i);
        collective |= k.write && k.collective && job->outcome[no].achieved.calls[i] > 0;
    }
    return m->writes && collective && mpilib_may_be_ompio()
               ? "; OMPIO's collective writes write back what they have read between their pieces, "
                 "and may undo what another process has written there meanwhile: try it with "
                 "OMPI_MCA_fbtl_posix_write_datasieving=0 (docs/portability.md)"
               : "";
}

int workload_job_run(struct workload_job *job)
{
    struct workload_context *c = &job->context;
    struct progress *progress = NULL;
    const double begun = watch_now();
    watch_utc(job->started);
    job->valid = true;
    job->files_begun = true;
    TRY(workload_files_begin(&c->files, c->comm));
    TRY(workload_job_may(job));
    TRY(workload_clock_compare(c->comm, &c->clock));
    if (c->rank == 0 && !job->opt->quiet)
        progress = progress_begin(progress_mode_of(job->opt->progress), "workload", "phase",
                                  job->kind == WORKLOAD_POINTS   ? job->workload.points_n
                                  : job->kind == WORKLOAD_PHASES ? job->jobfile.n
                                                                 : 1);
    struct disturbance_sample before, after;
    disturbance_take(&before, DISTURBANCE_BEFORE, job->nodes.node_rank == 0);
    int rc = job->kind == WORKLOAD_POINTS   ? run_points(job, progress)
             : job->kind == WORKLOAD_PHASES ? run_phases(job, progress)
                                            : run_accesses(job);
    disturbance_take(&after, DISTURBANCE_AFTER, job->nodes.node_rank == 0);
    if (rc == 0) rc = nodes_disturbance(&job->nodes, &before, &after, 0, &job->disturbance);
    disturbance_free(&before);
    disturbance_free(&after);
    progress_end(progress);
    job->took_s = watch_now() - begun;
    job->done = rc == 0;

    const char *first = NULL, *cause = "";
    for (int i = 0; i < job->measured_n; i++) {
        const struct workload_findings *f = &workload_job_measured(job, i)->findings;
        if (!first && f->wrong_n > 0) {
            first = f->first;
            cause = likely_cause(job, i);
        }
        job->wrong_n += f->wrong_n;
    }
    /* Wrong data, and whether there was enough of them, are known on all ranks. */
    int64_t known[2] = {job->wrong_n, job->valid};
    if (rc == 0) TRY_MPI(MPI_Bcast(known, 2, MPI_INT64_T, 0, c->comm));
    if (rc == 0 && known[0] > 0)
        rc = err_set(ERR_VERIFY, "%lld pieces of data are wrong, the first: %s%s",
                     (long long)known[0], first ? first : "", cause);
    if (rc == 0 && !known[1])
        rc = err_set(ERR_INVALID,
                     "not valid as a result: some phases are marked \"too little data\"");
    return rc;
}
