/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nht1-beffio: reads the command line, measures, reports. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/json.h"
#include "base/par.h"
#include "base/par_main.h"
#include "base/text.h"
#include "beffio/job.h"
#include "beffio/options.h"
#include "beffio/result.h"
#include "beffio/text.h"

typedef void writer(const struct beffio_job *job, FILE *to);

static int text_write(const struct beffio_job *job, const char *path, writer *write)
{
    if (!path[0]) return 0;
    struct text t;
    TRY(text_begin(&t));
    write(job, t.to);
    return text_save(&t, path);
}

static int json_write(const struct beffio_job *job, int status)
{
    const char *path = job->setup->opt.json;
    if (!path) return 0;
    json_t *result = beffio_result_json(job, status);
    const int rc = js_write(path, result, JS_SYNC_NONE);
    json_decref(result);
    return rc;
}

/* All files with results; the first that fails counts. On rank 0. */
static int files_write(const struct beffio_job *job, int status)
{
    const struct beffio_setup *s = job->setup;
    if (job->best >= 0) {
        TRY(text_write(job, s->protocol, beffio_text_protocol));
        TRY(text_write(job, s->sum, beffio_text_sum));
    }
    return json_write(job, status);
}

/* A result that is not valid and lost besides is lost first of all. On rank 0 the message of rc is
 * there already; where writing fails, that one takes its place. */
static int results_write(const struct beffio_job *job, int rc)
{
    char said[ERR_MESSAGE_MAX];
    snprintf(said, sizeof said, "%s", err_message());
    if (rc == ERR_INVALID) err_clear();
    const int written = job->rank == 0 ? files_write(job, err_exit_status(rc)) : 0;
    if (rc < 0 && rc != ERR_INVALID) return rc;
    TRY(par_agree(MPI_COMM_WORLD, written));
    return rc < 0 ? err_set(rc, "%s", said) : 0;
}

static int work(struct beffio_job *job)
{
    const bool speaks = job->rank == 0 && !job->setup->opt.quiet;
    if (speaks) beffio_text_heading(job, stdout);
    if (job->setup->opt.dry_run) {
        if (speaks) beffio_text_plan(job, stdout);
        return 0;
    }
    const int rc = beffio_job_run(job);
    if (speaks) beffio_text_results(job, stdout);
    return results_write(job, rc);
}

static int run(struct beffio_setup *setup)
{
    struct beffio_job job;
    int rc = beffio_job_make(&job, setup);
    if (rc == 0) rc = work(&job);
    beffio_job_free(&job);
    return rc;
}

static int talk(int what)
{
    int rank;
    TRY_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    if (what < 0 || rank != 0) return what < 0 ? what : 0;
    if (what == CONF_HELP) conf_help(&beffio_program, stdout);
    if (what == CONF_VERSION) printf("%s %s\n", beffio_program.name, beffio_program.version);
    return 0;
}

static int body(int argc, char **argv)
{
    struct beffio_setup *setup = calloc(1, sizeof *setup);
    int rc = par_agree(MPI_COMM_WORLD, setup ? 0 : err_set(ERR_NOMEM, "no memory for the options"));
    if (rc == 0) {
        rc = beffio_setup_parse(setup, argc, argv);
        rc = rc == CONF_RUN ? run(setup) : talk(rc);
        beffio_setup_free(setup);
    }
    free(setup);
    return rc;
}

int main(int argc, char **argv)
{
    return par_main("nht1-beffio", argc, argv, body);
}
