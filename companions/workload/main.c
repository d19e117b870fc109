/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nht1-workload: reads the command line, runs a description or makes one, reports. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/json.h"
#include "base/par.h"
#include "base/program.h"
#include "base/text.h"
#include "companions/workload/job.h"

static int run_job(struct workload_job *job)
{
    const bool speaks = job->context.rank == 0 && !job->opt->quiet;
    const struct program_output result = {"--json", job->opt->json, "nht1-workload/",
                                          .json = workload_job_json};
    const bool asks = job->context.rank == 0 && !job->opt->dry_run;
    TRY(par_agree(job->context.comm, asks ? program_outputs_check(&result, 1) : 0));
    if (speaks) workload_job_heading(job, stdout);
    if (job->opt->dry_run) {
        if (speaks) workload_job_plan(job, stdout);
        return workload_job_may(job);
    }
    const int rc = workload_job_run(job);
    if (speaks) workload_job_results(job, stdout);
    return program_outputs_write(&result, 1, job, rc);
}

/* --- --make --------------------------------------------------------------------------------- */

static int make_point(const struct conf_list *words, struct workload_point *p)
{
    bool cont_given = false;
    const char *value;
    char key[64];
    *p = workload_point_reference();
    for (int i = 0; i < words->n; i++) {
        TRY(workload_options_pair("--make", words->item[i], key, &value));
        TRY(workload_point_set(p, key, value));
        cont_given = cont_given || strcmp(key, "contMean") == 0;
    }
    if (!cont_given) p->cont_mean = p->size_mean;
    return workload_point_check(p, false, "--make: ");
}

static int write_point(const struct workload_options *opt, const struct conf_list *words)
{
    struct workload w = {.seed = opt->seed >= 0 ? (uint64_t)opt->seed : 1, .points_n = 1};
    struct workload_point p;
    struct stat there;
    struct text t;
    TRY(make_point(words, &p));
    w.point = &p;
    if (strcmp(opt->make, "-") == 0) {
        workload_write(&w, stdout);
        return 0;
    }
    const char *end = strrchr(opt->make, '.');
    const bool stream = stat(opt->make, &there) == 0 && !S_ISREG(there.st_mode);
    if (!stream && (!end || strcmp(end, ".xml") != 0))
        return err_set(
            ERR_USAGE,
            "--make: %s does not end in .xml, by which nht1-workload knows working points",
            opt->make);
    /* An existing workload may have been written by hand: it begins like one of ours. */
    if (!opt->force && stat(opt->make, &there) == 0 && S_ISREG(there.st_mode) && there.st_size > 0)
        return err_set(ERR_USAGE, "--make: %s exists; --force overwrites it", opt->make);
    const int rc = js_check_text(opt->make, "");
    if (rc < 0) {
        err_prefix("--make: ");
        return rc;
    }
    TRY(text_begin(&t));
    workload_write(&w, t.to);
    return text_save(&t, opt->make);
}

/* --- the frame ------------------------------------------------------------------------------ */

struct setup {
    struct workload_options opt;
    struct conf_list words;
};

static int parse(void *setup, int argc, char **argv)
{
    struct setup *s = setup;
    return workload_options_parse(&s->opt, &s->words, argc, argv);
}

static void release(void *setup)
{
    struct setup *s = setup;
    conf_free(&workload_program, &s->opt, &s->words);
}

static int run(void *setup)
{
    const struct workload_options *opt = &((struct setup *)setup)->opt;
    const struct conf_list *words = &((struct setup *)setup)->words;
    struct workload_job job;
    int rank;
    TRY_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    if (opt->make) return par_agree(MPI_COMM_WORLD, rank == 0 ? write_point(opt, words) : 0);
    int rc = workload_job_make(&job, opt,
                               opt->reference  ? "reference"
                               : opt->patterns ? "patterns"
                                               : words->item[0]);
    if (rc == 0) rc = run_job(&job);
    workload_job_free(&job);
    return rc;
}

static const struct program frame = {.conf = &workload_program,
                                     .setup_bytes = sizeof(struct setup),
                                     .parse = parse,
                                     .release = release,
                                     .run = run};

int main(int argc, char **argv)
{
    return program_main(&frame, argc, argv);
}
