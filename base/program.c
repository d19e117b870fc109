/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/mpilib.h"
#include "base/names.h"
#include "base/par.h"
#include "base/stamp.h"
#include "base/start.h"
#include "base/stop.h"
#include "base/sys.h"
#include "base/text.h"
#include "base/version.h"
#include "base/watch.h"

/* Under the launcher of another MPI library, every process takes itself for the only one of its job,
 * and all of them would write the same files. rank: [out] that of the launcher then, so that one of
 * them says so. */
static int check_launcher(int *rank)
{
    int size;
    TRY_MPI(MPI_Comm_size(MPI_COMM_WORLD, &size));
    const int started = size == 1 ? start_launched(rank) : 1;
    if (started > 1)
        return err_set(ERR_USAGE,
                       "%d processes were started by the launcher of another MPI library, each for "
                       "itself: take the launcher of %s",
                       started, mpilib()->name);
    return 0;
}

/* Ranks that are to do different things would wait for each other for ever. name: of the program. Collective. */
static int check_options(const char *name, int rank, int argc, char **argv)
{
    uint64_t mine = names_hash(name, strlen(name));
    for (int i = 1; i < argc; i++)
        mine = 31 * mine + names_hash(argv[i], strlen(argv[i]));
    uint64_t first = mine;
    TRY_MPI(MPI_Bcast(&first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD));
    return mine == first
               ? 0
               : err_set(
                     ERR_USAGE,
                     "rank %d was started with another program or other options than rank 0: one "
                     "command line is for all ranks",
                     rank);
}

int program_main(const struct program *p, int argc, char **argv)
{
    const char *const name = p->conf->name;
    int rank = 0, level, status;
    start_clean();
    if (start_stack() < 0) {
        fprintf(stderr, "%s: %s\n", name, err_message());
        return err_exit_status(ERR_USAGE);
    }
    if (start_answer(p->conf, argc, argv, &status)) return status;
    if (MPI_Init_thread(&argc, &argv, p->single ? MPI_THREAD_SINGLE : MPI_THREAD_FUNNELED,
                        &level) != MPI_SUCCESS) {
        fprintf(stderr, "%s: MPI could not be started\n", name);
        return err_exit_status(ERR_MPI);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    void *setup = mem_new(1, p->setup_bytes, "the options");
    int rc = setup ? check_launcher(&rank) : ERR_NOMEM;
    if (rc == 0) rc = stop_install();
    rc = par_agree(MPI_COMM_WORLD, rc);
    if (rc == 0) rc = par_agree(MPI_COMM_WORLD, check_options(name, rank, argc, argv));
    if (rc == 0) {
        rc = p->parse ? p->parse(setup, argc, argv)
                      : conf_parse(p->conf, argc, argv, setup, NULL, NULL);
        if (rc == CONF_HELP && rank == 0) conf_help(p->conf, stdout);
        if (rc == CONF_VERSION && rank == 0) printf("%s %s\n", name, p->conf->version);
        if (rc == CONF_RUN && conf_takes_stdout(p->conf, setup))
            rc = par_agree(MPI_COMM_WORLD, js_take_stdout());
        rc = rc == CONF_RUN ? p->run(setup) : rc < 0 ? rc : 0;
        if (p->release)
            p->release(setup);
        else
            conf_free(p->conf, setup, NULL);
    }
    free(setup);
    /* Of rank 0 alone: a launcher's own output is the launcher's to watch. */
    char said[ERR_MESSAGE_MAX];
    snprintf(said, sizeof said, "%s", err_message());
    err_clear();
    const int printed = par_agree(MPI_COMM_WORLD, rank == 0 ? start_printed() : 0);
    if (printed < 0 && (rc >= 0 || rc == ERR_INVALID)) {
        rc = printed;
    } else if (rc < 0) {
        err_clear();
        err_set(rc, "%s", said);
    }
    if (rc < 0 && rank == 0) fprintf(stderr, "%s: %s\n", name, err_message());
    MPI_Finalize();
    return err_exit_status(rc);
}

static int named(int rc, const struct program_output *o)
{
    if (rc < 0) {
        err_prefix(": ");
        err_prefix(o->option);
    }
    return rc;
}

int program_outputs_check(const struct program_output *o, int n)
{
    for (int i = 0; i < n; i++) {
        if (!o[i].path) continue;
        TRY(named(o[i].json ? js_check_target(o[i].path, o[i].ours)
                            : js_check_text(o[i].path, o[i].ours),
                  &o[i]));
        for (int k = 0; k < i; k++)
            TRY(conf_files_differ(o[i].option, o[i].path, o[k].option, o[k].path));
    }
    return 0;
}

static int write_one(const struct program_output *o, const void *job, int status)
{
    if (o->json) {
        json_t *result = o->json(job, status);
        const int rc = js_result(o->path, result);
        json_decref(result);
        return rc;
    }
    struct text t;
    TRY(text_begin(&t));
    o->text(job, t.to);
    return text_save(&t, o->path);
}

int program_outputs_write(const struct program_output *o, int n, const void *job, int rc)
{
    char said[ERR_MESSAGE_MAX], failed[ERR_MESSAGE_MAX] = "";
    const bool well = rc == 0 || rc == ERR_INVALID; /* then what cannot be written is how it ends */
    int rank, written = 0;
    TRY_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    snprintf(said, sizeof said, "%s", err_message());
    err_clear();
    for (int i = 0; rank == 0 && i < n; i++) {
        if (!o[i].path) continue;
        const int status = err_exit_status(well && written < 0 ? written : rc);
        const int one = named(write_one(&o[i], job, status), &o[i]);
        if (one == 0) continue;
        const size_t used = strlen(failed);
        snprintf(failed + used, sizeof failed - used, "%s%s", used > 0 ? "; " : "", err_message());
        err_clear();
        if (written == 0) written = one;
    }
    if (written < 0) err_set(written, "%s", failed);
    written = par_agree(MPI_COMM_WORLD, written);
    if (written < 0 && well) return written;
    snprintf(failed, sizeof failed, "%s", err_message());
    err_clear();
    if (written < 0) return err_set(rc, "%s; %s", said, failed);
    return rc < 0 ? err_set(rc, "%s", said) : 0;
}

json_t *program_result(const struct conf_program *conf, const void *opts, const char *schema,
                       int status, const char *started_utc)
{
    char ended_utc[32], *line = conf_line(conf, opts);
    watch_utc(ended_utc);
    json_t *o = json_pack("{ss ss si ss ss so so}", "schema", schema, "version", nht1_build,
                          "status", status, "started_utc", started_utc, "ended_utc", ended_utc,
                          "command_line", js_text(line), "options", conf_json(conf, opts));
    free(line);
    return o;
}

json_t *program_system(const struct nodes *n)
{
    json_t *o = sys_json();
    js_set(o, "mpi", n->mpi ? json_incref(n->mpi) : json_null());
    js_set(o, "ranks", json_integer(n->size));
    js_set(o, "nodes", json_integer((json_int_t)n->count));
    js_set(o, "cores_of_nodes", json_integer((json_int_t)n->cores));
    return o;
}

void program_stamp_oversubscribed(json_t *stamps, const struct nodes *n)
{
    if (n->size > n->cores)
        stamp_add(stamps, STAMP_OVERSUBSCRIBED, SEVERITY_WARN,
                  json_pack("{si sI}", "ranks", n->size, "cores", (json_int_t)n->cores),
                  "%d processes on %lld cores: they wait for each other's time slices, and the "
                  "values say more about the scheduler than about the system.",
                  n->size, (long long)n->cores);
}
