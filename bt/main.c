/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nht1-bt: reads the command line, makes the runs, finds T_C, reports. Rank 0 prints; every rank
 * leaves with the same status. */
#include <mpi.h>
#include <stdio.h>

#include "base/err.h"
#include "base/par.h"
#include "base/program.h"
#include "bt/compute.h"
#include "bt/forecast.h"
#include "bt/job.h"
#include "bt/judge.h"
#include "bt/machine.h"
#include "bt/report.h"
#include "bt/result.h"
#include "bt/rounds.h"
#include "bt/search/search.h"
#include "io/probe/probe.h"
#include "io/probe/process.h"

/* Worst of the outcomes: wrong content, a file that could not be read back, or one that nobody
 * could prove. */
static int outcomes_code(const struct bt_job *job)
{
    static const int worst_first[] = {ERR_VERIFY, ERR_IO, ERR_INVALID};
    for (size_t c = 0; c < sizeof worst_first / sizeof worst_first[0]; c++)
        for (int i = 0; i < job->outcomes_n; i++) {
            const struct bt_outcome *o = &job->outcome[i];
            const int code = o->wrong                             ? ERR_VERIFY
                             : o->proof.state == BT_PROOF_FAILED  ? ERR_IO
                             : o->proof.state == BT_PROOF_MISSING ? ERR_INVALID
                                                                  : 0;
            if (code == worst_first[c]) return err_set(code, "%s: %s", o->run.writer, o->verdict);
        }
    return 0;
}

/* --probe: as nht1-probe, by this program's options. */
static int probe(const struct bt_setup *setup)
{
    const struct bt_options *o = &setup->opt;
    const struct probe_request request = {.out = o->out,
                                          .json = o->json,
                                          .tc_store = o->tc_store,
                                          .progress = o->progress,
                                          .limit_s = o->probe_limit,
                                          .known = o->known,
                                          .quiet = o->quiet};
    return probe_run(MPI_COMM_WORLD, &bt_program, o, &request);
}

static int run(void *of)
{
    struct bt_setup *setup = of;
    const struct program_output result = {"--json", setup->opt.json, "nht1-bt",
                                          .json = bt_result_json};
    struct bt_judged judged = {0};
    struct bt_search *search = NULL;
    struct bt_job job;
    int rc, rank;
    TRY_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    if (setup->list_writers) {
        if (rank == 0) bt_report_writers(stdout);
        return 0;
    }
    if (setup->opt.dry_run) return bt_forecast_run(MPI_COMM_WORLD, setup, bt_search_each);
    if (setup->opt.probe) return probe(setup);

    const bool speaks = rank == 0 && !setup->opt.quiet;
    TRY_TO(out, rc, bt_job_make(&job, MPI_COMM_WORLD, setup));
    TRY_TO(out, rc, bt_forecast_fits(job.comm, &job.machine, setup, bt_search_each));
    TRY_TO(out, rc, par_agree(job.comm, rank == 0 ? program_outputs_check(&result, 1) : 0));
    if (speaks) bt_report_heading(&job, stdout);
    rc = setup->search ? bt_search_make(&search, &job, speaks ? stdout : NULL)
                       : bt_rounds_make(&job);
    if (rc == 0 && !setup->opt.restart && job.outcomes_n > 0) rc = bt_compute_find(&job);
    if (rc == 0) rc = outcomes_code(&job);
    if (rank == 0) bt_judge(&judged, &job);
    const bool found = rank == 0 && bt_finding_any(search);
    if (speaks && search) bt_finding_print(search, stdout);
    if (speaks) bt_report_results(&judged, stdout);
    if (speaks && found && judged.rows_n == 0) bt_report_notes(&judged, stdout);
    /* A run that failed before anything was measured leaves no result. */
    rc = program_outputs_write(&result, job.outcomes_n > 0 || found, &judged, rc);
out:
    bt_judge_free(&judged);
    bt_search_free(search);
    bt_job_free(&job);
    return rc;
}

static const struct program frame = {.conf = &bt_program,
                                     .setup_bytes = sizeof(struct bt_setup),
                                     .parse = bt_setup_parse,
                                     .release = bt_setup_free,
                                     .run = run};

int main(int argc, char **argv)
{
    int status;
    if (probe_child(argc, argv, &status)) return status;
    bt_machine_reexec_passive(argv);
    return program_main(&frame, argc, argv);
}
