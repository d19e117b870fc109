/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nht1-beff: reads the command line, measures, reports. Rank 0 prints; every rank leaves with the
 * same status. */
#include "base/err.h"
#include "base/par.h"
#include "base/program.h"
#include "base/stamp.h"
#include "companions/beff/job.h"
#include "companions/beff/report.h"

static int measure(struct beff_job *job)
{
    const struct beff_options *o = &job->setup->opt;
    const struct program_output out[] = {
        {"--json", o->json, "nht1-beff/", .json = beff_result_json},
        {"--sum", o->sum, BEFF_SUM_MARK, .text = beff_sum_write},
        {"--protocol", o->protocol, BEFF_SUM_MARK, .text = beff_sum_protocol}};
    const bool first = job->nodes.rank == 0, speaks = first && !o->quiet;
    TRY(par_agree(job->comm, first ? program_outputs_check(out, 3) : 0));
    if (speaks) beff_text_heading(job, stdout);
    const int rc = beff_job_run(job);
    if (!job->complete) return rc;
    if (speaks) beff_text_result(job, stdout);
    if (speaks && o->details) beff_text_details(job, stdout);
    size_t i;
    json_t *stamp;
    json_array_foreach(job->stamps, i, stamp)
    {
        if (rc < 0 || !stamp_is(stamp, STAMP_NOT_VALID)) continue;
        err_set(ERR_INVALID, "finished, but not valid as b_eff: %s", stamp_text(stamp, "sentence"));
    }
    return program_outputs_write(out, 3, job, rc < 0 || beff_job_valid(job) ? rc : ERR_INVALID);
}

static int run(void *setup)
{
    struct beff_job job;
    int rc = beff_job_make(MPI_COMM_WORLD, setup, &job);
    if (rc == 0) rc = measure(&job);
    beff_job_free(&job);
    return rc;
}

static const struct program frame = {.conf = &beff_program,
                                     .single = true,
                                     .setup_bytes = sizeof(struct beff_setup),
                                     .parse = beff_setup_parse,
                                     .run = run};

int main(int argc, char **argv)
{
    return program_main(&frame, argc, argv);
}
