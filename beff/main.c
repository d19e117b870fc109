/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nht1-beff: reads the command line, measures, reports. Rank 0 prints; every rank leaves with the
 * same status. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/json.h"
#include "base/par.h"
#include "base/par_main.h"
#include "base/text.h"
#include "beff/job.h"
#include "beff/result.h"
#include "beff/text.h"

typedef void report_function(const struct beff_job *, const struct beff_summary *, FILE *);

static int text_write(const struct beff_job *job, const struct beff_summary *s, const char *path,
                      report_function *report)
{
    if (!path) return 0;
    struct text t;
    TRY(text_begin(&t));
    report(job, s, t.to);
    return text_save(&t, path);
}

static int json_write(const struct beff_job *job, const struct beff_summary *s, int status)
{
    if (!job->setup->opt.json) return 0;
    json_t *result = beff_result_json(job, s, status);
    const int rc = js_write(job->setup->opt.json, result, JS_SYNC_NONE);
    json_decref(result);
    if (rc < 0) err_prefix("--json: ");
    return rc;
}

/* Prints and writes on rank 0. */
static int results(const struct beff_job *job, int status)
{
    const struct beff_options *o = &job->setup->opt;
    struct beff_summary s;
    if (job->nodes.rank != 0) return 0;
    beff_summary_make(&job->measured.cube, &job->plan, job->measured.size_bytes,
                      job->memory.total_bytes, &s);
    if (!o->quiet) beff_report_result(job, &s, stdout);
    if (!o->quiet && o->details) beff_report_details(job, &s, stdout);
    TRY(text_write(job, &s, o->sum, beff_report_sum));
    TRY(text_write(job, &s, o->protocol, beff_report_protocol));
    return json_write(job, &s, status);
}

static int invalid_code(const struct beff_job *job)
{
    if (beff_job_valid(job)) return 0;
    return err_set(ERR_INVALID, "finished, but not valid as b_eff: %s",
                   json_string_value(json_array_get(job->invalid, 0)));
}

static int work(struct beff_job *job)
{
    if (job->nodes.rank == 0 && !job->setup->opt.quiet) beff_report_heading(job, stdout);
    TRY(beff_job_run(job));
    const int status = beff_job_valid(job) ? 0 : err_exit_status(ERR_INVALID);
    TRY(par_agree(job->comm, results(job, status)));
    return invalid_code(job);
}

static int run(const struct beff_setup *setup)
{
    struct beff_job job;
    int rc = beff_job_make(MPI_COMM_WORLD, setup, &job);
    if (rc == 0) rc = work(&job);
    beff_job_free(&job);
    return rc;
}

/* What is printed instead of a run; 0, or the code of an error in the command line. */
static int talk(int what, int rank)
{
    if (what < 0 || rank != 0) return what < 0 ? what : 0;
    if (what == CONF_HELP) conf_help(&beff_program, stdout);
    if (what == CONF_VERSION) printf("%s %s\n", beff_program.name, NHT1_VERSION);
    return 0;
}

static int program(int argc, char **argv)
{
    int rank;
    struct beff_setup setup;
    TRY_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    int rc = beff_setup_parse(&setup, argc, argv);
    rc = rc == CONF_RUN ? run(&setup) : talk(rc, rank);
    beff_setup_free(&setup);
    return rc;
}

int main(int argc, char **argv)
{
    return par_main_single(beff_program.name, argc, argv, program);
}
