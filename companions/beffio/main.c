/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nht1-beffio: reads the command line, measures, reports. */
#include "base/par.h"
#include "base/program.h"
#include "companions/beffio/report.h"

static int measure(struct beffio_job *job)
{
    const struct beffio_setup *s = job->setup;
    const bool first = job->rank == 0, speaks = first && !s->opt.quiet, dry = s->opt.dry_run;
    const char *const ours = s->opt.force ? "" : "nht1-beffio ";
    const char *const sum = s->sum[0] ? s->sum : NULL;
    const char *const protocol = s->protocol[0] ? s->protocol : NULL;
    const struct program_output out[] = {
        {s->opt.protocol ? "--protocol" : "-f", protocol, ours, .text = beffio_sum_protocol},
        {s->opt.sum ? "--sum" : "-f", sum, ours, .text = beffio_sum_write},
        {"--json", s->opt.json, "nht1-beffio", .json = beffio_result_json}};
    const struct program_output plan = {"--json", s->opt.json, "nht1-beffio-plan/",
                                        .json = beffio_result_plan};
    TRY(par_agree(MPI_COMM_WORLD, !first ? 0
                                  : dry  ? program_outputs_check(&plan, 1)
                                         : program_outputs_check(out, 3)));
    if (speaks) beffio_text_heading(job, stdout);
    if (dry) {
        if (speaks) beffio_text_plan(job, stdout);
        return program_outputs_write(&plan, 1, job,
                                     par_agree(MPI_COMM_WORLD, beffio_job_fits(job)));
    }
    const int rc = beffio_job_run(job);
    if (speaks) beffio_text_results(job, stdout);
    /* Without a finished partition there is nothing to print. */
    int texts_n = job->best >= 0 ? 2 : 0;
    TRY_MPI(MPI_Bcast(&texts_n, 1, MPI_INT, 0, MPI_COMM_WORLD));
    return program_outputs_write(out + 2 - texts_n, 1 + texts_n, job, rc);
}

static int run(void *setup)
{
    struct beffio_job job;
    int rc = beffio_job_make(&job, setup);
    if (rc == 0) rc = measure(&job);
    beffio_job_free(&job);
    return rc;
}

static const struct program frame = {.conf = &beffio_program,
                                     .setup_bytes = sizeof(struct beffio_setup),
                                     .parse = beffio_setup_parse,
                                     .run = run};

int main(int argc, char **argv)
{
    return program_main(&frame, argc, argv);
}
