/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/job.h"

#include <errno.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/par.h"
#include "base/sys.h"
#include "bt/restart.h"

void bt_job_notice(struct bt_job *job, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    json_array_append_new(job->notices, json_string(text));
}

/* A result that cannot be written is found out before the run, not after it. */
static int json_target_check(const struct bt_job *job)
{
    const char *path = job->setup->opt.json;
    char copy[4096];
    struct stat st;
    if (!path || job->rank != 0) return 0;
    if (snprintf(copy, sizeof copy, "%s", path) >= (int)sizeof copy || !path[0])
        return err_set(ERR_USAGE, "--json: the name of the file is empty or too long");
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return err_set(ERR_USAGE, "--json %s: this is a directory; name a file", path);
    const char *folder = dirname(copy);
    if (access(folder, W_OK | X_OK) < 0)
        return err_set_errno(ERR_IO, errno, "--json %s: cannot write in %s", path, folder);
    return 0;
}

static int decomp_make(struct bt_job *job)
{
    const struct bt_setup *s = job->setup;
    TRY(bt_decomp_make(s->opt.decomp, s->problem.n, job->size, job->rank, &job->decomp));
    bt_decomp_name(&job->decomp, job->decomp_name);
    return 0;
}

/* What io/ cannot know: that ranks of several hosts will write. A missing directory is io/'s to
 * tell. */
static void file_system_warn(struct bt_job *job)
{
    struct sys_fs fs;
    if (job->rank != 0 || job->setup->writers_n == 0 || job->machine.nodes == 1) return;
    if (sys_path_fs(job->setup->opt.out, &fs) < 0) {
        err_clear();
        return;
    }
    if (strncmp(fs.type, "nfs", 3) == 0)
        bt_job_notice(job,
                      "The file lies on NFS (%s): several hosts writing one file there need locks "
                      "and may be slow or wrong; a parallel file system is meant for that.",
                      fs.source);
    if (!fs.network)
        bt_job_notice(job,
                      "The file lies on %s at %s, a file system of one host, but there are %lld "
                      "hosts: ranks elsewhere cannot write the same file.",
                      fs.type, fs.mount, (long long)job->machine.nodes);
}

int bt_job_make(struct bt_job *job, MPI_Comm comm, struct bt_setup *setup)
{
    *job = (struct bt_job){.comm = comm, .setup = setup, .notices = json_array()};
    job->machine.node = MPI_COMM_NULL;
    TRY_MPI(MPI_Comm_rank(comm, &job->rank));
    TRY_MPI(MPI_Comm_size(comm, &job->size));
    TRY(bt_restart_adopt(comm, setup));
    TRY(par_agree(comm, decomp_make(job)));
    TRY(par_agree(comm, json_target_check(job)));
    TRY_MPI(MPI_Bcast(&setup->seed, 1, MPI_UINT64_T, 0, comm));
    TRY(bt_machine_make(comm, &job->machine));
    TRY(par_hosts(comm, &job->hosts));
    TRY(par_json(comm, &job->mpi));
    TRY(bt_machine_memory(&job->machine, &job->decomp, setup->writers_n > 0));
    bt_machine_warn(&job->machine, job->notices);
    file_system_warn(job);
    if (setup->writers_n > 0 && setup->sync == IO_SYNC_NONE)
        bt_job_notice(job, "Nothing was made durable (--sync none): T_T holds what the system took "
                           "in, which may still be in memory.");
    return 0;
}

void bt_job_free(struct bt_job *job)
{
    for (int i = 0; i < job->outcomes_n; i++) {
        bt_run_free(&job->outcome[i].run);
        bt_proof_free(&job->outcome[i].proof);
    }
    free(job->outcome);
    free(job->hosts);
    json_decref(job->mpi);
    json_decref(job->notices);
    bt_machine_free(&job->machine);
}

struct bt_outcome *bt_job_outcome(struct bt_job *job)
{
    const size_t n = (size_t)job->outcomes_n + 1;
    struct bt_outcome *grown = realloc(job->outcome, n * sizeof *grown);
    if (!grown) {
        err_set(ERR_NOMEM, "no memory for the results of run %zu", n);
        return NULL;
    }
    job->outcome = grown;
    memset(&grown[n - 1], 0, sizeof *grown);
    job->outcomes_n++;
    return &grown[n - 1];
}

struct bt_tc_key bt_job_tc_key(const struct bt_job *job)
{
    const struct bt_problem *p = &job->setup->problem;
    struct bt_tc_key key = {.nodes = job->machine.nodes,
                            .cores = job->machine.cores_in_use,
                            .n = p->n,
                            .steps = p->steps,
                            .dt = p->dt};
    snprintf(key.cpu, sizeof key.cpu, "%s", job->machine.cpu);
    snprintf(key.kernel, sizeof key.kernel, "%s", BT_KERNEL_VERSION);
    return key;
}
