/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nht1-workload: reads the command line, runs a description or makes one, reports. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/par.h"
#include "base/par_main.h"
#include "base/text.h"
#include "base/version.h"
#include "workload/job.h"

/* A result that is not valid and cannot be written besides is lost first of all. */
static int json_write(const struct workload_job *job, int rc)
{
    const char *path = job->opt->json;
    char said[ERR_MESSAGE_MAX];
    int written = 0;
    if (!path) return rc;
    snprintf(said, sizeof said, "%s", err_message());
    if (rc == ERR_INVALID) err_clear();
    if (job->context.rank == 0) {
        json_t *result = workload_job_json(job, err_exit_status(rc));
        written = js_write(path, result, JS_SYNC_NONE);
        json_decref(result);
    }
    if (rc < 0 && rc != ERR_INVALID) return rc;
    TRY(par_agree(MPI_COMM_WORLD, written));
    return rc < 0 ? err_set(rc, "%s", said) : 0;
}

static int work(struct workload_job *job)
{
    const bool speaks = job->context.rank == 0 && !job->opt->quiet;
    if (speaks) workload_job_heading(job, stdout);
    if (job->opt->dry_run) {
        if (speaks) workload_job_plan(job, stdout);
        return 0;
    }
    const int rc = workload_job_run(job);
    if (speaks) workload_job_results(job, stdout);
    return json_write(job, rc);
}

/* --- --make --------------------------------------------------------------------------------- */

static int make_point(const struct conf_list *words, struct workload_point *p)
{
    bool cont_given = false;
    char key[64];
    *p = workload_point_reference();
    for (int i = 0; i < words->n; i++) {
        const char *equal = strchr(words->item[i], '=');
        if (!equal || equal - words->item[i] > 60)
            return err_set(ERR_USAGE, "--make: \"%s\" is not KEY=VALUE", words->item[i]);
        snprintf(key, sizeof key, "%.*s", (int)(equal - words->item[i]), words->item[i]);
        TRY(workload_point_set(p, key, equal + 1));
        cont_given = cont_given || strcmp(key, "contMean") == 0;
    }
    if (!cont_given) p->cont_mean = p->size_mean;
    return workload_point_check(p, false, "--make: ");
}

static int make(const struct workload_options *opt, const struct conf_list *words)
{
    struct workload w = {.seed = opt->seed >= 0 ? (uint64_t)opt->seed : 1, .points_n = 1};
    struct workload_point p;
    struct text t;
    TRY(make_point(words, &p));
    w.point = &p;
    if (strcmp(opt->make, "-") == 0) {
        workload_write(&w, stdout);
        return 0;
    }
    if (!opt->force)
        TRY(js_check_text(opt->make, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<workload "));
    TRY(text_begin(&t));
    workload_write(&w, t.to);
    return text_save(&t, opt->make);
}

/* --- the frame ------------------------------------------------------------------------------ */

static int run(const struct workload_options *opt, const struct conf_list *words)
{
    struct workload_job job;
    int rank;
    TRY_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    if (opt->make) return par_agree(MPI_COMM_WORLD, rank == 0 ? make(opt, words) : 0);
    int rc = workload_job_make(&job, opt,
                               opt->reference  ? "reference"
                               : opt->patterns ? "patterns"
                                               : words->item[0]);
    if (rc == 0) rc = work(&job);
    workload_job_free(&job);
    return rc;
}

static int body(int argc, char **argv)
{
    struct workload_options opt;
    struct conf_list words;
    int rank, rc = workload_options_parse(&opt, &words, argc, argv);
    TRY_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    if (rc == CONF_HELP && rank == 0) conf_help(&workload_program, stdout);
    if (rc == CONF_VERSION && rank == 0) printf("%s %s\n", workload_program.name, nht1_build);
    if (rc == CONF_RUN)
        rc = run(&opt, &words);
    else if (rc > 0)
        rc = 0;
    conf_free(&workload_program, &opt, &words);
    return rc;
}

int main(int argc, char **argv)
{
    return par_main("nht1-workload", argc, argv, body);
}
