/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/rounds.h"

#include <fcntl.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/par.h"
#include "base/stop.h"
#include "base/sys.h"
#include "base/watch.h"
#include "bt/compute.h"
#include "bt/judge.h"
#include "bt/judge_read.h"
#include "bt/result.h"

#define WARMUP_MAX_BYTES (INT64_C(1) << 30)
#define CHUNK_BYTES      (INT64_C(4) << 20)

/* Memory that a kernel, or the host below a virtual machine, hands out for the first time can cost
 * ten times the second use, and would make whoever writes first look slow. So a file as large as the
 * run's, but at most WARMUP_MAX_BYTES, half of the free space and a quarter of the free memory, is
 * written next to the output, spread over the nodes, and removed. Errors are ignored: the run itself
 * will meet and report them. Returns the bytes that this node has written. */
static int64_t warm_up(const struct bt_job *job)
{
    const struct bt_setup *s = job->setup;
    const int64_t nodes = job->machine.nodes.count;
    int64_t bytes = bt_problem_dumps(&s->problem) * io_dump_bytes(s->layout, s->problem.n) / nodes;
    int64_t done = 0;
    char path[4096 + 64];
    snprintf(path, sizeof path, "%s.warmup-%s-%d", s->opt.out, job->machine.nodes.host,
             (int)getpid());
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return 0;
    unlink(path); /* gone when closed, whatever happens meanwhile */
    bytes = num_min(bytes, WARMUP_MAX_BYTES);
    const int64_t room = sys_free_bytes(s->opt.out);
    if (room >= 0) bytes = num_min(bytes, room / 2 / nodes);
    bytes = num_min(bytes, bt_machine_free_bytes() / 4);
    char *chunk = calloc(1, (size_t)CHUNK_BYTES);
    while (chunk && done < bytes && !stop_requested()) {
        const ssize_t n = pwrite(fd, chunk, (size_t)num_min(CHUNK_BYTES, bytes - done), done);
        if (n <= 0) break;
        done += n;
    }
    free(chunk);
    close(fd);
    return done;
}

/* Makes the solver of the rounds, and notes how long that took and what it tells about itself. */
static int solver_new(struct bt_job *job, struct bt_solver **solver)
{
    struct par_spread took;
    const double start_s = watch_now();
    TRY(bt_job_solver(job, &job->decomp, solver));
    TRY(par_spread(job->comm, watch_now() - start_s, &took));
    job->setup_s = took.max;
    const double mine = (double)bt_solver_memory_bytes(*solver);
    snprintf(job->kernel, sizeof job->kernel, "%s/%s", BT_KERNEL_VERSION, bt_solver_isa(*solver));
    snprintf(job->charged_utc, sizeof job->charged_utc, "%s", bt_solver_charged_utc(*solver));
    TRY_MPI(MPI_Allreduce(&mine, &job->memory_bytes, 1, MPI_DOUBLE, MPI_SUM, job->comm));
    return 0;
}

int bt_rounds_begin(struct bt_job *job, struct bt_solver **solver)
{
    const struct bt_setup *s = job->setup;
    TRY(solver_new(job, solver));
    if (s->writers_n == 0 || s->opt.restart) return 0;
    const int64_t mine = job->machine.nodes.node_rank == 0 ? warm_up(job) : 0;
    TRY_MPI(MPI_Allreduce(&mine, &job->warmup_bytes, 1, MPI_INT64_T, MPI_SUM, job->comm));
    return 0;
}

static void list(struct bt_job *job, const char *name)
{
    const size_t used = strlen(job->undecided);
    snprintf(job->undecided + used, sizeof job->undecided - used, "%s%s", used > 0 ? ", " : "",
             name);
}

/* What is not settled yet, as words: writers, and their files read back. */
static void list_undecided(struct bt_job *job, const struct bt_judged *judged)
{
    char name[160];
    job->undecided[0] = '\0';
    for (int i = 0; i < judged->rows_n; i++) {
        const struct bt_row *row = &judged->row[i];
        if (row->answer && !balance_settled(row->stamps, row->answer, row->reason))
            list(job, row->writer);
        for (int k = 0; k < row->reads_n; k++) {
            const struct bt_read_row *read = &row->read[k];
            if (!read->answer || balance_settled(read->stamps, read->answer, read->reason))
                continue;
            bt_judge_read_name(read, name);
            list(job, name);
        }
    }
}

/* Whether another round is to be made, said by rank 0, which judges and has the clock. --repeat auto
 * ends at a look of the plan that settles everything, after its last look, or before the round for
 * which there is no time; in that case alone the rest of the error is spent. */
static int decide_next_round(struct bt_job *job, bool *more)
{
    const struct bt_setup *s = job->setup;
    const int done = job->rounds_done;
    int answer = done < s->rounds;
    if (s->rounds_auto && job->rank == 0) {
        struct bt_judged judged;
        bt_judge(&judged, job);
        list_undecided(job, &judged);
        bt_judge_free(&judged);
        const double next_s = job->rounds_s / done;
        const bool settled = done >= BT_AUTO_FIRST && job->undecided[0] == '\0';
        job->rounds_cut = answer && !settled && job->rounds_s + next_s > 60 * s->opt.minutes;
        answer = answer && !settled && !job->rounds_cut;
        job->rounds_over = !answer;
    }
    TRY_MPI(MPI_Bcast(&answer, 1, MPI_INT, 0, job->comm));
    *more = answer != 0;
    return 0;
}

int bt_rounds_make(struct bt_job *job)
{
    const struct bt_setup *s = job->setup;
    struct bt_solver *solver = NULL;
    double next_s = 0;
    bool more = true;
    int rc, order[BT_RUNS_MAX + 1], n = 0;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    TRY_TO(out, rc, par_agree(job->comm, rng ? 0 : mem_error("an order")));
    gsl_rng_set(rng, s->seed);
    TRY_TO(out, rc, bt_rounds_begin(job, &solver));
    if (bt_setup_computes(s)) order[n++] = BT_COMPUTE_ONLY;
    for (int w = 0; w < s->writers_n; w++)
        order[n++] = w;
    snprintf(job->undecided, sizeof job->undecided, "all");
    const double since_s = watch_now();
    for (int round = 1; more; round++) {
        gsl_ran_shuffle(rng, order, (size_t)n, sizeof order[0]);
        for (int i = 0; i < n; i++) {
            TRY_TO(out, rc,
                   order[i] == BT_COMPUTE_ONLY ? bt_compute_run(job, solver, &job->decomp, round)
                                               : bt_job_run(job, solver, order[i], round));
            if (i == n - 1) job->rounds_done = round;
            if (!s->opt.restart) TRY_TO(out, rc, bt_compute_known(job));
            if (job->rank == 0) bt_result_keep(job, &next_s);
        }
        job->rounds_s = watch_now() - since_s;
        TRY_TO(out, rc, decide_next_round(job, &more));
    }
out:
    bt_solver_free(solver);
    if (rng) gsl_rng_free(rng);
    return rc;
}
