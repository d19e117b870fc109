/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nht1-bt: reads the command line, makes the runs, finds T_C, reports. Rank 0 prints; every rank
 * leaves with the same status. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/json.h"
#include "base/par.h"
#include "base/par_main.h"
#include "bt/compute.h"
#include "bt/forecast.h"
#include "bt/job.h"
#include "bt/machine.h"
#include "bt/report.h"
#include "bt/result.h"
#include "bt/rounds.h"

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

/* Writes the JSON on rank 0. A run that failed before anything was measured leaves none. */
static int result_write(const struct bt_job *job, int status)
{
    const char *path = job->setup->opt.json;
    int rc = 0;
    if (path && job->rank == 0 && job->outcomes_n > 0) {
        json_t *result = bt_result_json(job, status);
        const bool first = !err_message()[0];
        rc = js_write(path, result, JS_SYNC_NONE);
        if (rc < 0 && first) err_prefix("--json: ");
        json_decref(result);
    }
    return par_agree(job->comm, rc);
}

/* A command line that is a job: its runs, T_C, report and result. The others: forecasts and lists. */
static int program(int argc, char **argv)
{
    int rank;
    struct bt_job job;
    struct bt_setup *setup = calloc(1, sizeof *setup);
    int rc = par_agree(MPI_COMM_WORLD, setup ? 0 : err_set(ERR_NOMEM, "no memory for the options"));
    if (rc == 0) rc = par_check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    if (rc < 0) {
        free(setup);
        return rc;
    }
    const int what = rc = bt_setup_parse(setup, argc, argv);
    if (what == CONF_RUN && setup->opt.dry_run) {
        rc = bt_forecast_run(MPI_COMM_WORLD, setup);
    } else if (what == CONF_RUN) {
        rc = bt_job_make(&job, MPI_COMM_WORLD, setup);
        if (rc == 0) {
            const bool speaks = rank == 0 && !setup->opt.quiet;
            if (speaks) bt_report_heading(&job, stdout);
            rc = bt_rounds_make(&job);
            if (rc == 0 && !setup->opt.restart) rc = bt_compute_find(&job);
            if (rc == 0) rc = outcomes_code(&job);
            if (speaks) bt_report_results(&job, stdout);
            const int written = result_write(&job, err_exit_status(rc));
            if (rc == 0) rc = written;
        }
        bt_job_free(&job);
    } else if (what > 0) {
        if (what == CONF_HELP && rank == 0) conf_help(&bt_program, stdout);
        if (what == CONF_VERSION && rank == 0) printf("%s %s\n", bt_program.name, nht1_build);
        if (what == BT_LIST_WRITERS && rank == 0) bt_report_writers(stdout);
        rc = 0;
    }
    bt_setup_free(setup);
    free(setup);
    return rc;
}

int main(int argc, char **argv)
{
    bt_machine_reexec_passive(argv);
    return par_main(bt_program.name, MPI_THREAD_FUNNELED, argc, argv, program);
}
