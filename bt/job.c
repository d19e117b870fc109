/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/par.h"
#include "base/progress.h"
#include "base/simulation.h"
#include "base/stop.h"
#include "base/sys.h"
#include "base/watch.h"
#include "bt/command.h"
#include "bt/restart.h"
#include "io/aggregate.h"
#include "io/probe/kept.h"
#include "io/read.h"
#include "io/writers/writer.h"

/* No file that the job writes may take the place of another one. */
static int names_check(const struct bt_setup *s)
{
    const struct {
        const char *option, *name;
    } other[] = {{"--json", s->opt.json}, {"--tc-store", s->opt.tc_store}};
    char path[4096];
    TRY(bt_setup_names(s));
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
        for (int w = 0; other[i].name && w < s->writers_n; w++) {
            if (i == 0 && js_is_stdout(s->opt.json)) break;
            bt_setup_path(s, s->candidate[w].writer, path);
            if (io_file_takes(path, s->candidate[w].writer, other[i].name))
                return err_set(
                    ERR_USAGE,
                    "%s %s: this name belongs to the dump file or to what lies beside it "
                    "(manifest, lock, parts of ranks); choose another",
                    other[i].option, other[i].name);
        }
    if (s->opt.json && !js_is_stdout(s->opt.json) && s->opt.tc_store &&
        io_file_takes(s->opt.tc_store, NULL, s->opt.json))
        return err_set(ERR_USAGE, "--json %s: this name belongs to --tc-store; choose another",
                       s->opt.json);
    return 0;
}

/* Notices that do not depend on the result. Rank 0 knows its own node only. */
static void warn(struct bt_job *job)
{
    const struct bt_setup *s = job->setup;
    bool several = job->machine.nodes.count > 1;
    struct sys_fs fs;
    bt_machine_warn(&job->machine, job->notices);
    if (job->rank != 0 || s->writers_n == 0) return;
    /* io/ cannot know that ranks of several hosts will write. A missing folder is reported by io/. */
    if (several && sys_path_fs(s->opt.out, &fs) < 0) {
        err_clear();
        several = false;
    }
    if (several && strncmp(fs.type, "nfs", 3) == 0)
        bt_notice(job->notices,
                  "The file lies on NFS (%s): several hosts writing one file there need locks "
                  "and may be slow or wrong; a parallel file system is meant for that.",
                  fs.source);
    if (several && !fs.network)
        bt_notice(job->notices,
                  "The file lies on %s at %s, a file system of one host, but there are %lld "
                  "hosts: ranks elsewhere cannot write the same file.",
                  fs.type, fs.mount, (long long)job->machine.nodes.count);
    if (sys_memory_returned("/sys"))
        bt_notice(job->notices, "This virtual machine returns freed memory to its host (free page "
                                "reporting), which often makes the page cache ten times slower. "
                                "--direct bypasses the page cache; see docs/io-performance.md.");
    if (!s->all) bt_setup_idle(s, job->notices); /* all: those that obey are meant */
    if (s->sync == IO_SYNC_NONE)
        bt_notice(job->notices, "Nothing was flushed (--sync none): T_T may be the time to fill "
                                "memory, not to write to the device.");
}

/* The command line is read by each rank for itself, so --io all names every writer; what runs is
 * what every rank can run: a kernel may refuse io_uring on one node alone. What --probe found not to
 * work there, rank 0 knows. */
static int writers_agree(struct bt_job *job)
{
    struct bt_setup *s = job->setup;
    int can[BT_RUNS_MAX], kept_n = 0;
    char why[1024];
    if (!s->all) return 0;
    json_t *known =
        job->rank == 0 ? probe_store_get(s->opt.tc_store, s->opt.out, job->notices) : NULL;
    json_t *denied = json_object(); /* writer to why */
    for (int w = 0; w < s->writers_n; w++) {
        const char *writer = s->candidate[w].writer;
        can[w] = io_writer_can(io_writer_find(writer), s->layout);
        if (!can[w] || !probe_denies(known, writer, why, sizeof why)) continue;
        can[w] = 0;
        js_set(denied, writer, js_text(why));
        bt_notice(job->notices,
                  "%s is left out: %s. To run it all the same, name it with --io; --probe tries "
                  "again what works.",
                  writer, why);
    }
    json_decref(known);
    TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, can, s->writers_n, MPI_INT, MPI_MIN, job->comm));
    for (int w = 0; w < s->writers_n; w++) {
        const char *writer = s->candidate[w].writer;
        const char *found = json_string_value(json_object_get(denied, writer));
        const bool format = io_writer_format(writer) != IO_RAW && s->layout == IO_RECORDS;
        char lacks[IO_WRITER_WHY];
        if (can[w]) {
            s->candidate[kept_n++] = s->candidate[w];
            continue;
        }
        io_writer_lacks(io_writer_find(writer), lacks);
        json_array_append_new(
            job->left_out,
            json_pack("{ss so}", "writer", writer, "why",
                      js_text(found      ? found
                              : format   ? "its files have a format of their own, which "
                                           "--layout records is not"
                              : lacks[0] ? lacks
                                         : "what it needs of the system, a library or a "
                                           "call of the kernel, is not there on another "
                                           "node")));
    }
    json_decref(denied);
    s->writers_n = kept_n;
    return 0;
}

int bt_job_memory(const struct bt_job *job, const struct bt_candidate *c, int candidates_n)
{
    const struct bt_setup *s = job->setup;
    const int64_t *n = job->decomp.count, cells = n[0] * n[1] * n[2];
    int64_t held = 0;
    for (int i = 0; i < candidates_n; i++) {
        int64_t reading;
        const struct io_memory m =
            bt_setup_held(s, &c[i], job->size, job->machine.nodes.count, cells, &reading);
        if (io_aggregates(job->rank, job->size, m.holders_n)) held = num_max(held, m.bytes);
        held = num_max(held, reading);
    }
    return bt_machine_memory(&job->machine, bt_machine_rank_bytes(cells, s->writers_n > 0) + held +
                                                bt_read_plan_bytes(&job->reads, false));
}

int bt_job_make(struct bt_job *job, MPI_Comm comm, struct bt_setup *setup)
{
    *job = (struct bt_job){
        .comm = comm, .setup = setup, .notices = json_array(), .left_out = json_array()};
    watch_utc(job->started_utc);
    job->machine.nodes.node = MPI_COMM_NULL;
    TRY_MPI(MPI_Comm_rank(comm, &job->rank));
    TRY_MPI(MPI_Comm_size(comm, &job->size));
    TRY(writers_agree(job));
    TRY(bt_restart_adopt(comm, setup));
    TRY(par_agree(comm, bt_decomp_make(setup->opt.decomp, setup->problem.n, job->size, job->rank,
                                       &job->decomp)));
    bt_decomp_name(&job->decomp, job->decomp_name);
    TRY(par_agree(comm, bt_read_plan_make(&job->reads, setup, &job->decomp, job->size, job->rank)));
    if (setup->opt.read_drop_system) TRY(io_read_may_drop_system(comm));
    TRY(par_agree(comm, job->rank == 0 ? names_check(setup) : 0));
    TRY_MPI(MPI_Bcast(&setup->seed, 1, MPI_UINT64_T, 0, comm));
    TRY(bt_machine_make(comm, &job->machine));
    TRY(par_hosts(comm, 0, &job->hosts));
    if (setup->opt.charge) return 0; /* fields take no memory */
    TRY(bt_job_memory(job, setup->candidate, setup->writers_n));
    warn(job);
    return 0;
}

int bt_job_solver(const struct bt_job *job, const struct bt_decomp *d, struct bt_solver **solver)
{
    const struct bt_setup *s = job->setup;
    return bt_solver_new_charged(solver, job->comm, &s->problem, d, s->opt.isa, s->opt.charge);
}

const char *bt_job_computing(const struct bt_job *job)
{
    return job->setup->opt.charge ? "charged" : simulation_measures() ? "measured" : "free";
}

void bt_job_free(struct bt_job *job)
{
    for (int i = 0; i < job->outcomes_n; i++)
        bt_outcome_free(&job->outcome[i]);
    free(job->outcome);
    free(job->hosts);
    json_decref(job->notices);
    json_decref(job->left_out);
    bt_machine_free(&job->machine);
}

/* Notices of io/ about the file appear once, however many runs repeat them. */
static void take_notices(struct bt_job *job, const struct bt_run *run)
{
    size_t i, j;
    const json_t *text, *known;
    json_array_foreach(json_object_get(run->file, "notices"), i, text)
    {
        bool repeated = false;
        json_array_foreach(job->notices, j, known) repeated = repeated || json_equal(text, known);
        if (!repeated && json_is_string(text)) json_array_append(job->notices, (json_t *)text);
    }
    if (run->resumed && !run->bitwise)
        bt_notice(job->notices,
                  "The dumps taken over were computed by kernel %s and the others by %s: the "
                  "file differs in its last bits from one of a run without interruption.",
                  run->past_kernel, job->kernel);
}

static const char *run_id(const struct bt_outcome *o)
{
    return json_string_value(json_object_get(o->run.file, "run_id"));
}

/* Rank 0 has the file read back; everybody learns the state. Where the job holds no lock, that on the
 * file went when its run ended: a verdict on what another run has put there since is none on this
 * one. */
static int prove(const struct bt_job *job, struct bt_outcome *o)
{
    int state = BT_PROOF_NONE, rc = 0;
    if (!o->serial_file || strcmp(job->setup->opt.verify, "never") == 0) return 0;
    if (job->rank == 0) {
        struct bt_proof *p = &o->proof;
        bt_prove(o->path, p);
        const bool judged = p->state == BT_PROOF_RIGHT || p->state == BT_PROOF_WRONG;
        if (judged && run_id(o) && !io_file_is_of_run(o->path, run_id(o))) {
            p->state = BT_PROOF_FAILED;
            snprintf(p->note, sizeof p->note,
                     "%.300s is not this run's any more: another run took it, or its manifest was "
                     "changed, before it was verified",
                     o->path);
        }
        state = (int)p->state;
        if (p->state == BT_PROOF_FAILED && stop_requested())
            rc = err_set(ERR_INTERRUPT, "interrupted while %s was verified", o->path);
    }
    TRY(par_agree(job->comm, rc));
    TRY_MPI(MPI_Bcast(&state, 1, MPI_INT, 0, job->comm));
    o->proof.state = (enum bt_proof_state)state;
    return 0;
}

/* The verdict on a run that was completed: norms first, then the file. */
static void judge(struct bt_outcome *o, bool writes, bool charged)
{
    const bool known = o->run.norms != NULL;
    const char *as = !known                   ? ""
                     : o->run.norms->computed ? "norms as computed"
                                              : "norms as published";
    const char *comma = known ? ", " : "";
    const enum bt_proof_state state = o->proof.state;
    const bool norms_wrong = known && !o->run.norms_ok;
    const struct bt_reading *misread = NULL;
    for (int i = 0; i < o->run.readings.n && !misread; i++)
        if (!o->run.readings.reading[i].right) misread = &o->run.readings.reading[i];
    o->wrong = norms_wrong || misread || state == BT_PROOF_WRONG;
    o->verified = !o->wrong && (writes ? state == BT_PROOF_RIGHT : known);
    if (charged)
        snprintf(o->verdict, sizeof o->verdict,
                 "not verified: the simulation charged the time of computing and did none");
    else if (norms_wrong)
        snprintf(o->verdict, sizeof o->verdict,
                 "WRONG: the norms differ from the %s ones by %.3g, relative",
                 o->run.norms->computed ? "computed" : "published", o->run.norms_deviation);
    else if (misread && state != BT_PROOF_WRONG)
        snprintf(o->verdict, sizeof o->verdict,
                 "WRONG: what was read back %s in %s differs from the digests of the manifest",
                 misread->warm ? "warm" : "cold", misread->decomp);
    else if (!writes)
        snprintf(o->verdict, sizeof o->verdict, "%s%s",
                 known ? "verified: " : "not verified: no norms are known for this problem", as);
    else if (state == BT_PROOF_RIGHT)
        snprintf(o->verdict, sizeof o->verdict, "verified: %s%sfile right", as, comma);
    else if (state == BT_PROOF_NONE)
        snprintf(o->verdict, sizeof o->verdict, "not verified: %s%s%s", as, comma,
                 o->serial_file ? "file not read back" : "there is no file to read back");
    else
        snprintf(o->verdict, sizeof o->verdict, "%s: %s", o->wrong ? "WRONG" : "not verified",
                 o->proof.note);
}

void bt_outcome_free(struct bt_outcome *o)
{
    bt_run_free(&o->run);
    bt_proof_free(&o->proof);
}

int bt_job_make_run(struct bt_job *job, struct bt_solver *solver, const struct bt_task *task,
                    struct bt_outcome *o)
{
    const struct bt_setup *s = job->setup;
    const struct bt_candidate *c = task->candidate;
    struct io_spec spec = {0};
    *o = (struct bt_outcome){.run.round = task->round};
    snprintf(o->run.writer, sizeof o->run.writer, "%s", c ? c->writer : BT_COMPUTE);
    snprintf(o->decomp, sizeof o->decomp, "%s", job->decomp_name);
    snprintf(o->verdict, sizeof o->verdict, "not verified: the run did not come to its end");
    if (c) {
        spec = bt_setup_spec(s, c, task->problem, task->path);
        spec.kernel = job->kernel;
        spec.lock = job->lock;
        for (int a = 0; a < 3; a++) {
            spec.box.lo[a] = job->decomp.lo[a];
            spec.box.n[a] = job->decomp.count[a];
        }
        o->serial_file = (io_writer_caps(spec.writer) & IO_CAP_SERIAL_FILE) != 0;
        if (o->serial_file) snprintf(o->path, sizeof o->path, "%s", task->path);
    }

    const enum progress_mode mode =
        job->rank == 0 ? progress_mode_of(s->opt.progress) : PROGRESS_NEVER;
    char *restart = c ? bt_command_restart(job, c->writer, task->path) : NULL;
    struct progress *progress = progress_begin(mode, task->label, "step", task->problem->steps);
    const struct bt_run_request q = {.comm = job->comm,
                                     .problem = task->problem,
                                     .solver = solver,
                                     .io = c ? &spec : NULL,
                                     .nodes = simulation() ? NULL : &job->machine.nodes,
                                     .threads = job->machine.threads,
                                     .setup = s,
                                     .reads = &job->reads,
                                     .restart = restart,
                                     .progress = progress};
    int rc = bt_run_make(&q, &o->run);
    if (rc == 0 && o->run.kept_wrong) {
        const struct bt_run first = o->run;
        bt_run_free(&o->run);
        o->run = (struct bt_run){.round = task->round};
        memcpy(o->run.writer, first.writer, sizeof first.writer);
        spec.resume_seen = true;
        rc = bt_run_make(&q, &o->run);
        o->run.claimed_n = first.claimed_n;
        bt_notice(job->notices, "Of the dumps taken over one was wrong, as was found out at the "
                                "end: the run went back to the one before it.");
    }
    progress_end(progress);
    free(restart);
    if (rc < 0 && o->run.completed)
        snprintf(o->verdict, sizeof o->verdict, "not verified: it could not be read back");
    TRY(rc);
    take_notices(job, &o->run);
    TRY(prove(job, o));
    judge(o, c != NULL, s->opt.charge != NULL);
    const bool suspect = o->wrong || o->proof.state == BT_PROOF_FAILED;
    const bool remove = task->remove && c && (io_writer_caps(c->writer) & IO_CAPS_DATA) && !suspect;
    return remove ? io_file_remove(job->comm, task->path, run_id(o), job->lock) : 0;
}

int bt_job_run(struct bt_job *job, struct bt_solver *solver, int writer, int round)
{
    const struct bt_setup *s = job->setup;
    const int n = job->outcomes_n + 1;
    const struct bt_candidate *c = writer == BT_COMPUTE_ONLY ? NULL : &s->candidate[writer];
    const char *what = c ? c->writer : "computing";
    char path[4096] = "", label[256];
    struct bt_outcome *o = mem_grow(job->outcome, n, sizeof *o, "the results of run %d", n);
    if (o) job->outcome = o;
    TRY(par_agree_memory(job->comm, o));
    if (c) bt_setup_path(s, c->writer, path);
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): c is in s, and NULL only without a writer */
    if (s->rounds_auto && round > 0)
        snprintf(label, sizeof label, "%s, round %d%s%s", what, round,
                 job->undecided[0] ? ", undecided: " : "", job->undecided);
    else if (s->rounds > 1 && round > 0)
        snprintf(label, sizeof label, "%s, round %d of %d", what, round, s->rounds);
    else
        snprintf(label, sizeof label, "%s", what);
    const struct bt_task task = {.candidate = c,
                                 .problem = &s->problem,
                                 .path = path,
                                 .label = label,
                                 .round = round,
                                 .remove = s->all && !s->opt.keep};
    return bt_job_make_run(job, solver, &task, &job->outcome[job->outcomes_n++]);
}
