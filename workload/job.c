/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workload/job.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/par.h"
#include "base/progress.h"
#include "base/stop.h"
#include "base/watch.h"
#include "workload/think.h"

#define TEXT_BYTES_MAX (INT64_C(256) << 20)

/* --- reading the description ---------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), k = strlen(end);
    return n > k && strcasecmp(text + n - k, end) == 0;
}

/* --set on every working point. */
static int set_points(struct workload_job *job)
{
    struct workload *w = &job->workload;
    const char *value;
    char key[64], at[320];
    if (job->opt->seed >= 0) w->seed = (uint64_t)job->opt->seed;
    for (int p = 0; p < w->points_n; p++) {
        for (int i = 0; i < job->opt->set.n; i++) {
            TRY(workload_options_pair("--set", job->opt->set.item[i], key, &value));
            const int rc = workload_point_set(&w->point[p], key, value);
            if (rc < 0) err_prefix("--set ");
            TRY(rc);
        }
        snprintf(at, sizeof at, "%.200s:%d:%d: ", job->name, w->point[p].line, w->point[p].column);
        TRY(workload_point_check(&w->point[p], w->separate, at));
    }
    return 0;
}

static bool is_set(const struct workload_job *job, const char *key)
{
    for (int i = 0; i < job->opt->set.n; i++) {
        const char *word = job->opt->set.item[i];
        if (strncmp(word, key, strlen(key)) == 0 && word[strlen(key)] == '=') return true;
    }
    return false;
}

static int make_reference(struct workload_job *job)
{
    struct workload_point p = workload_point_reference();
    p.process_num = job->context.size;
    job->workload.seed = 1;
    TRY(workload_add(&job->workload, &p));
    struct workload_point *only = &job->workload.point[0];
    if (is_set(job, "sizeMean") && !is_set(job, "contMean"))
        only->cont_mean = (double)WORKLOAD_BYTES_MAX;
    TRY(set_points(job));
    if (only->cont_mean > only->size_mean) only->cont_mean = only->size_mean;
    return 0;
}

/* text: NULL for the reference workload. */
static int read_points(struct workload_job *job, const char *text, int64_t bytes)
{
    if (!text) TRY(make_reference(job));
    if (text) TRY(workload_read(job->name, text, (size_t)bytes, &job->workload));
    if (text) TRY(set_points(job));
    TRY(workload_replay_check(&job->context, &job->workload, job->name));
    job->outcome = calloc((size_t)job->workload.points_n, sizeof *job->outcome);
    if (!job->outcome) return err_set(ERR_NOMEM, "no memory for the results");
    return 0;
}

static int read_jobfile(struct workload_job *job, const char *text, int64_t bytes)
{
    TRY(workload_jobfile_read(job->name, text, (size_t)bytes, ends_with(job->name, ".ini"),
                              &job->opt->set, &job->jobfile));
    if (job->opt->seed >= 0)
        for (int i = 0; i < job->jobfile.n; i++)
            job->jobfile.phase[i].shape.seed = (uint64_t)job->opt->seed;
    job->phase = calloc((size_t)job->jobfile.n, sizeof *job->phase);
    return job->phase ? 0 : err_set(ERR_NOMEM, "no memory for the results");
}

/* All patterns, as a job file. */
static int make_patterns(struct workload_job *job)
{
    char text[1024];
    int n = 0;
    for (int p = 0; p < WORKLOAD_PATTERNS; p++)
        n += snprintf(text + n, sizeof text - (size_t)n, "<Pattern %s> </Pattern>\n",
                      workload_pattern_name((enum workload_pattern)p));
    return read_jobfile(job, text, n);
}

static int read_description(struct workload_job *job)
{
    char *text = NULL;
    int64_t bytes = 0;
    job->is_points = job->opt->reference || (!job->opt->patterns && ends_with(job->name, ".xml"));
    if (job->opt->reference) return par_agree(job->context.comm, read_points(job, NULL, 0));
    if (job->opt->patterns) return par_agree(job->context.comm, make_patterns(job));
    if (!job->is_points && !ends_with(job->name, ".conf") && !ends_with(job->name, ".ini"))
        return err_set(ERR_USAGE,
                       "%s: a workload's name ends in .xml, a job file's in .conf or .ini",
                       job->name);
    int rc = par_read_file(job->context.comm, job->name, TEXT_BYTES_MAX, &text, &bytes);
    if (rc == 0)
        rc = job->is_points ? read_points(job, text, bytes) : read_jobfile(job, text, bytes);
    free(text);
    return par_agree(job->context.comm, rc);
}

/* --- what the job stands on ----------------------------------------------------------------- */

/* A choice of component reaches the processes by the environment; Open MPI does not say which one
 * it takes by itself. */
static const char *component(bool *romio)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int len;
    MPI_Get_library_version(version, &len);
    const char *chosen = getenv("OMPI_MCA_io");
    const bool open_mpi = strstr(version, "Open MPI") != NULL;
    *romio = open_mpi && chosen && strstr(chosen, "romio");
    if (strstr(version, "MPICH")) return "ROMIO";
    if (!open_mpi) return "unknown";
    return chosen ? chosen : "unknown (Open MPI's default: ompio, on Lustre romio)";
}

static int hints_make(struct workload_job *job)
{
    const struct conf_list *hint = &job->opt->hint;
    char key[MPI_MAX_INFO_KEY];
    if (hint->n == 0) return 0;
    TRY_MPI(MPI_Info_create(&job->context.info));
    for (int i = 0; i < hint->n; i++) {
        const char *equal = strchr(hint->item[i], '=');
        const size_t n = equal ? (size_t)(equal - hint->item[i]) : 0;
        if (n == 0 || n >= sizeof key || !equal[1] || strlen(equal) > MPI_MAX_INFO_VAL)
            return err_set(ERR_USAGE, "--hint %s: give KEY=VALUE", hint->item[i]);
        memcpy(key, hint->item[i], n);
        key[n] = 0;
        TRY_MPI(MPI_Info_set(job->context.info, key, equal + 1));
    }
    return 0;
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
    job->component = component(&c->romio);
    TRY(par_agree(c->comm, hints_make(job)));
    TRY(read_description(job));
    TRY(nodes_find(c->comm, &job->nodes));
    TRY(par_agree(c->comm, sys_path_fs(o->out, &job->fs)));
    return par_json(c->comm, &job->mpi);
}

void workload_job_free(struct workload_job *job)
{
    if (job->files_begun) workload_files_end(&job->context.files);
    for (int i = 0; job->outcome && i < job->workload.points_n; i++)
        workload_times_free(&job->outcome[i].times);
    for (int i = 0; job->phase && i < job->jobfile.n; i++)
        workload_times_free(&job->phase[i].times);
    free(job->outcome);
    free(job->phase);
    workload_free(&job->workload);
    workload_jobfile_free(&job->jobfile);
    workload_data_free(&job->context.data);
    json_decref(job->mpi);
    nodes_free(&job->nodes);
    if (job->context.info != MPI_INFO_NULL) MPI_Info_free(&job->context.info);
}

/* --- running -------------------------------------------------------------------------------- */

static int files_begin(struct workload_job *job)
{
    struct workload_files *f = &job->context.files;
    f->name = job->opt->out;
    f->separate = job->is_points && job->workload.separate;
    f->force = job->opt->force;
    f->keep = job->opt->keep;
    f->rank = job->context.rank;
    job->files_begun = true;
    return workload_files_begin(f, job->context.comm);
}

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
        TRY(workload_replay_point(c, &job->workload, i, &job->outcome[i]));
        job->wrong_n += job->outcome[i].findings.wrong_n;
        progress_update(progress, i + 1);
    }
    return 0;
}

static int run_phases(struct workload_job *job, struct progress *progress)
{
    struct workload_context *c = &job->context;
    for (int i = 0; i < job->jobfile.n; i++) {
        const struct workload_phase *p = &job->jobfile.phase[i];
        struct workload_phase_result *r = &job->phase[job->phases_n];
        if (p->pause_s > 0) {
            job->paused_s += workload_think(p->pause_s, p->think_busy);
            continue;
        }
        const int rc = workload_phase_measure(c, p, r);
        job->phases_n++;
        if (rc < 0) {
            char title[64], at[400];
            snprintf(at, sizeof at, "%.200s:%d: %s: ", job->name, p->line,
                     workload_phase_title(p, title));
            err_prefix(at);
            return rc;
        }
        job->wrong_n += r->findings.wrong_n;
        job->valid = job->valid && r->enough;
        progress_update(progress, i + 1);
    }
    return 0;
}

static const char *first_wrong(const struct workload_job *job)
{
    for (int i = 0; i < job->workload.points_n && job->is_points; i++)
        if (job->outcome[i].findings.wrong_n > 0) return job->outcome[i].findings.first;
    for (int i = 0; i < job->phases_n; i++)
        if (job->phase[i].findings.wrong_n > 0) return job->phase[i].findings.first;
    return "";
}

int workload_job_run(struct workload_job *job)
{
    struct progress *progress = NULL;
    const double begun = watch_now();
    watch_utc(job->started);
    job->valid = true;
    TRY(files_begin(job));
    TRY(workload_clock_compare(job->context.comm, &job->context.clock));
    if (job->context.rank == 0 && !job->opt->quiet)
        progress = progress_begin(progress_mode_of(job->opt->progress), "workload", "phase",
                                  job->is_points ? job->workload.points_n : job->jobfile.n);
    int rc = job->is_points ? run_points(job, progress) : run_phases(job, progress);
    progress_end(progress);
    job->took_s = watch_now() - begun;
    job->done = rc == 0;
    /* Wrong data, and whether there was enough of them, are known on all ranks. */
    int64_t known[2] = {job->wrong_n, job->valid};
    if (rc == 0) TRY_MPI(MPI_Bcast(known, 2, MPI_INT64_T, 0, job->context.comm));
    if (rc == 0 && known[0] > 0)
        rc = err_set(ERR_VERIFY, "%lld pieces of data are wrong, the first: %s",
                     (long long)known[0], first_wrong(job));
    if (rc == 0 && !known[1])
        rc = err_set(ERR_INVALID,
                     "not valid as a result: some phases are marked \"too little data\"");
    return rc;
}
