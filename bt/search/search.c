/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/search/search.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/mpilib.h"
#include "base/num.h"
#include "base/par.h"
#include "base/plain.h"
#include "base/stop.h"
#include "base/sys.h"
#include "base/units.h"
#include "base/watch.h"
#include "bt/search/choice.h"
#include "bt/search/finding.h"
#include "bt/result.h"
#include "bt/rounds.h"
#include "io/writers/writer.h"

/* What the values of the settings follow from, as this rank sees it. */
static void look_around(const struct bt_setup *s, int64_t ranks, int64_t nodes,
                        struct io_surroundings *a)
{
    struct sys_fs fs;
    if (sys_path_fs(s->opt.out, &fs) < 0) {
        err_clear(); /* the first run will say what is wrong with the folder */
        fs.type[0] = '\0';
    }
    *a = (struct io_surroundings){.ranks = (int)ranks,
                                  .nodes = nodes,
                                  .dump_bytes = io_dump_bytes(s->layout, s->problem.n),
                                  .dumps_n = bt_problem_dumps(&s->problem),
                                  .readers = mpilib_io(fs.type),
                                  .striped = strcmp(fs.type, "lustre") == 0,
                                  .fixed = s->fixed};
}

int bt_search_each(const struct bt_setup *s, int64_t ranks, int64_t nodes,
                   void (*take)(void *arg, const struct bt_candidate *c), void *arg)
{
    struct io_surroundings around;
    struct bt_space space;
    look_around(s, ranks, nodes, &around);
    const int rc = bt_space_make(&space, s->candidate, s->writers_n, &around);
    for (int i = 0; i < space.n; i++)
        take(arg, &space.candidate[i]);
    bt_space_free(&space);
    return rc;
}

/* Rank 0 looks for what an earlier search has found, and broadcasts it. A store that cannot be used is no
 * reason not to search. */
static int find_stored_choice(struct bt_search *search)
{
    struct bt_job *job = search->job;
    char *text = NULL;
    int64_t bytes = 0;
    if (job->rank == 0) {
        char why[ERR_MESSAGE_MAX];
        int rc = bt_choice_key(job, &search->key);
        if (rc == 0) rc = bt_choice_find(job, search->key, &search->known);
        if (rc > 0 && bt_choice_stale(search->known, why)[0]) {
            bt_notice(job->notices, "--io auto: what an earlier search found is not used: %s.",
                      why);
            json_decref(search->known);
            search->known = NULL;
        }
        if (rc < 0) {
            bt_notice(job->notices, "--io auto: %s.", err_message());
            err_clear();
            json_decref(search->key);
            search->key = NULL;
        }
        if (search->known) text = json_dumps(search->known, JSON_COMPACT);
        bytes = text ? (int64_t)strlen(text) + 1 : 0;
        if (!text) { /* then nobody knows it */
            json_decref(search->known);
            search->known = NULL;
        }
    }
    TRY_MPI(MPI_Bcast(&bytes, 1, MPI_INT64_T, 0, job->comm));
    if (bytes == 0) return 0;
    if (job->rank != 0) text = mem_new(bytes, 1, "a choice");
    int rc = par_agree_memory(job->comm, text != NULL);
    if (rc == 0) rc = par_check(MPI_Bcast(text, (int)bytes, MPI_CHAR, 0, job->comm), "MPI_Bcast");
    if (rc == 0 && job->rank != 0) search->known = json_loads(text, 0, NULL);
    if (rc == 0) rc = par_agree(job->comm, search->known ? 0 : mem_error("a choice"));
    free(text);
    return rc;
}

/* Keeps what was found, where it is settled. */
static void keep_choice(struct bt_search *search)
{
    struct bt_job *job = search->job;
    const int best = race_best(search->race);
    if (!search->key || best < 0) return;
    json_t *finding = bt_finding_json(search);
    json_t *options = bt_candidate_options(&search->space.candidate[best]);
    if (bt_choice_keep(job, search->key, search->space.candidate[best].writer, options,
                       json_object_get(finding, "best")) < 0) {
        bt_notice(job->notices, "--io auto: %s.", err_message());
        err_clear();
    }
    json_decref(options);
    json_decref(finding);
}

/* The number of the candidate that an earlier search has found, -1: none. */
static int stored_candidate(struct bt_search *search)
{
    struct bt_setup copy = *search->job->setup;
    int at = -1;
    copy.opt.hints = (struct conf_list){0};
    if (search->known && bt_choice_apply(&copy, search->known) == 0)
        at = bt_space_take(&search->space, &copy.candidate[0]);
    err_clear();
    free(search->known_hints);
    search->known_hints = copy.opt.hints.item;
    return at;
}

/* The candidates, the same on every rank, and on rank 0 the race of them. The default settings of
 * mpiio and posix are what others are compared with, and what an earlier search has found has to be
 * beaten in the last rung. */
static int prepare_race(struct bt_search *search)
{
    const struct bt_job *job = search->job;
    const struct bt_setup *s = job->setup;
    struct io_surroundings around;
    struct race_entry entry[BT_SPACE_MAX] = {{0}};
    look_around(s, job->size, job->machine.nodes.count, &around);
    TRY_MPI(MPI_Bcast(&around, sizeof around, MPI_BYTE, 0, job->comm)); /* one view of it */
    search->readers = around.readers;
    TRY(bt_space_make(&search->space, s->candidate, s->writers_n, &around));
    const int known = stored_candidate(search);
    search->why = mem_new(search->space.n + 1, sizeof *search->why, "the search");
    if (!search->why) return ERR_NOMEM;
    if (job->rank != 0) return 0;
    for (int i = 0; i < search->space.n; i++) {
        entry[i].order = (int)search->space.kind[i];
        entry[i].cost = bt_space_cost(&search->space, i);
        entry[i].yardstick = i == known || bt_space_yardstick(&search->space, i);
    }
    const struct race_plan plan = {.n = search->space.n,
                                   .entry = entry,
                                   .budget_s = 60 * s->opt.minutes,
                                   .dumps_n = around.dumps_n,
                                   .seed = s->seed};
    return race_new(&search->race, &plan, watch_now());
}

/* The problem with as many dumps as the trial has. */
static struct bt_problem shortened(const struct bt_problem *whole, int64_t dumps)
{
    struct bt_problem p = *whole;
    if (dumps >= bt_problem_dumps(whole)) return p;
    p.steps = dumps * p.interval;
    p.last = false;
    p.cls = 'U';
    return p;
}

/* Whether a run counts: it was completed, and the file that it left is right. [out] why: why not. */
static bool is_usable(const struct bt_outcome *o, int rc, char why[ERR_MESSAGE_MAX])
{
    why[0] = '\0';
    if (rc < 0)
        snprintf(why, ERR_MESSAGE_MAX, "%s", err_message()[0] ? err_message() : err_text(rc));
    else if (o->wrong || o->proof.state == BT_PROOF_FAILED)
        snprintf(why, ERR_MESSAGE_MAX, "%s", o->verdict);
    return !why[0];
}

/* "rung 1, round 2: posix --direct" */
static void trial_words(const struct bt_search *s, const struct race_trial *t,
                        char out[BT_LABEL_MAX + 64])
{
    char label[BT_LABEL_MAX] = "computing";
    if (t->candidate != RACE_COMPUTE) bt_candidate_label(&s->space.candidate[t->candidate], label);
    snprintf(out, BT_LABEL_MAX + 64, "rung %d, round %d: %s", t->rung, t->round, label);
}

/* ------------------------------------------------------------------ a run that does not answer */

#define ORDERLY_S 0.5 /* for a run to end when asked: launchers kill after a second */

/* The run in progress, for the thread of rank 0 that looks (base/stop.h) while its first one may wait in
 * a call that never returns. Race and run belong to who holds the lock: between runs the first. */
struct trial_watch {
    pthread_mutex_t race;
    struct bt_search *search;
    FILE *to;
    const struct race_trial *trial;
    double since_s, tell_s; /* begin of the run; wait after which to tell of it, again */
    double asked_s; /* when it was first seen that somebody asked for an end; 0: nobody has */
};

static void watch_trial(void *arg)
{
    struct trial_watch *w = arg;
    struct bt_search *search = w->search;
    char words[BT_LABEL_MAX + 64], waited[UNITS_TEXT_MAX];
    if (pthread_mutex_trylock(&w->race) != 0) return;
    const double now_s = watch_now(), waited_s = now_s - w->since_s;
    const bool hangs = waited_s > w->trial->patience_s, asked = stop_requested();
    if (hangs) {
        trial_words(search, w->trial, words);
        units_duration(waited_s, waited);
    }
    if (hangs && !asked && waited_s > w->tell_s) {
        fprintf(stderr,
                "%s: %s has not answered for %s: the file system or the MPI library may hang. The "
                "search waits; Ctrl-C ends it with the best so far.\n",
                bt_program.name, words, waited);
        w->tell_s = 2 * waited_s;
    }
    if (asked && w->asked_s == 0) w->asked_s = now_s;
    if (asked && w->to && !search->printed && (hangs || now_s - w->asked_s > ORDERLY_S)) {
        bt_finding_print(search, w->to);
        search->printed = true;
    }
    if (asked && hangs) {
        plain_line(stderr, "%s: interrupted: %s had not answered for %s; its file may be left",
                   bt_program.name, words, waited);
        _exit(err_exit_status(ERR_INTERRUPT));
    }
    pthread_mutex_unlock(&w->race);
}

#define MANIFEST_BYTES                                                                             \
    65536 /* about; its digests, or chunks that are whole, take an eighth of the dumps at most */

/* Rank 0: that a run has no room, which something else has taken, is no fault of the candidate that meets it. */
static int room_is_left(const struct bt_search *search, const char *path,
                        const struct bt_problem *p)
{
    const struct bt_setup *s = search->job->setup;
    const int64_t bytes = bt_problem_dumps(p) * io_dump_bytes(s->layout, s->problem.n);
    const int64_t free_bytes = sys_free_bytes(path);
    char need[UNITS_TEXT_MAX], has[UNITS_TEXT_MAX];
    if (free_bytes < 0 || free_bytes >= search->room_bytes ||
        free_bytes >= bytes + bytes / 8 + MANIFEST_BYTES)
        return 0;
    return err_set(ERR_IO,
                   "the search was not finished: a run of it writes %s and a manifest to %s, and "
                   "its file system has %s free now",
                   units_bytes((double)bytes, need), path, units_bytes((double)free_bytes, has));
}

/* One run of the race. A candidate's failure only drops it; an error of the target, which would hit all of
 * them, and one of computing are returned. */
static int run_trial(struct bt_search *search, struct bt_solver *solver, struct race_trial *t)
{
    struct bt_job *job = search->job;
    const struct bt_candidate *c =
        t->candidate == RACE_COMPUTE ? NULL : &search->space.candidate[t->candidate];
    const struct bt_problem p = shortened(&job->setup->problem, t->dumps);
    const double start_s = watch_now();
    char path[4096], line[BT_LABEL_MAX + 64], why[ERR_MESSAGE_MAX];
    struct bt_outcome o;
    trial_words(search, t, line);
    bt_setup_path(job->setup, "", path);
    const struct bt_task task = {
        .candidate = c, .problem = &p, .path = path, .label = line, .round = 0, .remove = true};
    int rc = bt_job_make_run(job, solver, &task, &o);
    const bool good = is_usable(&o, rc, why);
    t->t_t_s = good ? o.run.t_t_s : NAN;
    t->disturbed = good && o.run.disturbance.disturbed;
    bt_outcome_free(&o);
    if (!good && rc == 0 && !c) rc = err_set(ERR_VERIFY, "computing alone: %s", why);
    if (!good && c && rc != ERR_USAGE) {
        const bool interrupted = rc == ERR_INTERRUPT;
        err_clear();
        /* Nothing of this run is used; whatever is wrong with the file the next run will report. */
        if (io_file_remove(job->comm, path, NULL, job->lock) < 0) err_clear();
        rc = interrupted
                 ? ERR_INTERRUPT
                 : par_agree(job->comm, job->rank == 0 ? room_is_left(search, path, &p) : 0);
        if (rc == 0) snprintf(search->why[t->candidate], ERR_MESSAGE_MAX, "%s", why);
    }
    if (good && c && job->rank == 0 && search->room_bytes == 0)
        search->room_bytes = num_max(sys_free_bytes(path), 0);
    t->took_s = watch_now() - start_s;
    return rc;
}

/* The runs that rank 0's race asks for, one after the other. */
static int race_all(struct bt_search *search, struct bt_solver *solver, double start_s, FILE *to)
{
    struct bt_job *job = search->job;
    struct {
        struct race_trial trial;
        int more;
    } next;
    struct trial_watch w = {
        .race = PTHREAD_MUTEX_INITIALIZER, .search = search, .to = to, .trial = &next.trial};
    const bool first = job->rank == 0;
    double keep_s = 0;
    int rungs_printed = 0;
    pthread_mutex_lock(&w.race);
    int rc = par_agree(job->comm, first ? stop_watch_begin(watch_trial, &w, true) : 0);
    while (rc == 0) {
        memset(&next, 0, sizeof next);
        if (first) {
            next.more = race_next(search->race, watch_now(), &next.trial);
            search->seconds = watch_now() - start_s;
            if (next.trial.rung > rungs_printed + 1) {
                rungs_printed++;
                keep_s = 0;
                if (to) bt_finding_rung(search, rungs_printed, to);
            }
            if (bt_finding_any(search)) bt_result_keep(job, &keep_s);
        }
        rc = par_check(MPI_Bcast(&next, sizeof next, MPI_BYTE, 0, job->comm), "MPI_Bcast");
        if (rc < 0 || !next.more) break;
        w.since_s = watch_now();
        w.tell_s = 0;
        pthread_mutex_unlock(&w.race);
        rc = run_trial(search, solver, &next.trial);
        pthread_mutex_lock(&w.race);
        if (w.tell_s > 0 && !stop_requested())
            fprintf(stderr, "%s: it answered, the search continues\n", bt_program.name);
        if (rc == 0)
            rc = par_agree(job->comm, first ? race_add_result(search->race, &next.trial) : 0);
    }
    pthread_mutex_unlock(&w.race);
    stop_watch_end();
    if (rc == 0 && to) bt_finding_rung(search, rungs_printed + 1, to);
    return rc;
}

/* All candidates failed: the error of the first one is returned. */
static int no_candidate(const struct bt_search *search)
{
    char label[BT_LABEL_MAX];
    for (int i = 0; i < search->space.n; i++) {
        if (!search->why[i][0]) continue;
        bt_candidate_label(&search->space.candidate[i], label);
        return err_set(ERR_IO, "every candidate of --io auto has failed; %s: %s", label,
                       search->why[i]);
    }
    return err_set(ERR_INVALID,
                   "--minutes %g is over before any candidate was measured: give more time",
                   search->job->setup->opt.minutes);
}

/* Runs the known choice as it stands. */
static int run_stored_choice(struct bt_search *search, FILE *to)
{
    struct bt_job *job = search->job;
    TRY(par_agree(job->comm, bt_choice_apply(job->setup, search->known)));
    TRY(bt_job_memory(job, job->setup->candidate, job->setup->writers_n));
    search->end = BT_SEARCH_KNOWN;
    if (to) bt_finding_begin(search, to);
    return bt_rounds_make(job);
}

static int search_all(struct bt_search *search, FILE *to)
{
    struct bt_job *job = search->job;
    struct bt_solver *solver = NULL;
    const double start_s = watch_now();
    int found = 1;
    TRY(par_agree(job->comm, prepare_race(search)));
    TRY(bt_job_memory(job, search->space.candidate, search->space.n));
    if (to) bt_finding_begin(search, to);
    int rc = bt_rounds_begin(job, &solver);
    search->end = BT_SEARCH_INTERRUPTED;
    if (rc == 0) rc = race_all(search, solver, start_s, to);
    bt_solver_free(solver);
    search->seconds = watch_now() - start_s;
    if (rc == ERR_INTERRUPT) {
        err_clear();
        return err_set(ERR_INTERRUPT, "interrupted: the search was not finished");
    }
    TRY(rc);
    if (job->rank == 0) {
        search->end = race_settled(search->race) ? BT_SEARCH_SETTLED : BT_SEARCH_BUDGET;
        found = race_best(search->race) >= 0;
        keep_choice(search);
    }
    TRY_MPI(MPI_Bcast(&found, 1, MPI_INT, 0, job->comm));
    job->rounds_done = job->setup->rounds;
    return found ? 0 : no_candidate(search);
}

/* With the lock on the file held. */
static int search_locked(struct bt_search *search, FILE *to)
{
    struct bt_job *job = search->job;
    TRY(find_stored_choice(search));
    if (search->known) {
        struct bt_setup before = *job->setup;
        before.opt.hints = (struct conf_list){0};
        const int rc = bt_choice_apply(&before, search->known);
        free(before.opt.hints.item);
        if (par_agree(job->comm, rc) < 0) {
            bt_notice(job->notices,
                      "--io auto: what an earlier search found is of no use any more "
                      "(%s): searched anew.",
                      err_message());
            err_clear();
            json_decref(search->known);
            search->known = NULL;
        }
    }
    const bool anew = job->setup->given_minutes && !job->setup->opt.known;
    return search->known && !anew ? run_stored_choice(search, to) : search_all(search, to);
}

int bt_search_make(struct bt_search **made, struct bt_job *job, FILE *to)
{
    struct bt_search *search = *made = mem_new(1, sizeof *search, "the search");
    struct io_lock lock;
    char path[4096];
    TRY(par_agree_memory(job->comm, search));
    search->job = job;
    job->search = (struct bt_addition){bt_finding_json, search};
    const json_t *first = json_array_get(job->left_out, 0);
    if (job->setup->writers_n == 0)
        return err_set(ERR_IO, "--io %s: no writer of these can work here; %s: %s",
                       job->setup->opt.io, json_string_value(json_object_get(first, "writer")),
                       json_string_value(json_object_get(first, "why")));
    /* All candidates write one file: that another job writes it, too, would look like their failure. */
    bt_setup_path(job->setup, "", path);
    int rc = io_file_lock(job->comm, path, &lock);
    job->lock = &lock;
    if (rc == 0)
        rc = search_locked(search, to);
    else
        err_prefix("--io auto: ");
    job->lock = NULL;
    io_file_unlock(&lock);
    return rc;
}

void bt_search_free(struct bt_search *search)
{
    if (!search) return;
    bt_space_free(&search->space);
    race_free(search->race);
    json_decref(search->key);
    json_decref(search->known);
    free(search->known_hints);
    free(search->why);
    free(search);
}
