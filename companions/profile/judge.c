/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/profile/judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/stamp.h"
#include "base/stat.h"
#include "base/units.h"

void profile_rounds_end(struct profile_round *round, int n)
{
    for (int i = 0; i < n; i++) {
        disturbance_end(&round[i].with);
        disturbance_end(&round[i].without);
    }
}

/* ------------------------------------------------------------------ disturbance */

/* What a rank tells of itself; node: the first rank on its host. */
static struct disturbance_part part_of(const struct profile_map *m, int node)
{
    struct disturbance_part p = disturbance_unread();
    p.node = node;
    p.wall_s = m->last_s - m->init_s;
    p.user_s = m->user_s;
    p.system_s = m->system_s;
    p.share = m->ran_s / (m->ran_s + m->waited_s);
    snprintf(p.host, sizeof p.host, "%.63s", m->host);
    return p;
}

/* The first rank of this node speaks for it. The CPU time of all its children holds the ranks and their
 * launcher, unless something else has started the ranks. */
static void add_node(struct disturbance_part *part, int n, const struct disturbance_part *here)
{
    double user_s = 0, system_s = 0;
    int first = -1;
    for (int i = n - 1; i >= 0; i--) {
        if (strcmp(part[i].host, here->host) != 0) continue;
        user_s += part[i].user_s;
        system_s += part[i].system_s;
        first = i;
    }
    if (first < 0) return;
    const struct disturbance_part of_rank = part[first];
    part[first] = *here;
    part[first].of_node = true;
    part[first].node = of_rank.node;
    part[first].share = of_rank.share;
    part[first].user_s = of_rank.user_s + fmax(0, here->user_s - user_s);
    part[first].system_s = of_rank.system_s + fmax(0, here->system_s - system_s);
}

int profile_disturbance(const struct profile_run *run, const struct disturbance_part *here,
                        struct disturbance *d)
{
    struct disturbance_part *part = mem_new(run->size + 1, sizeof *part, "%d ranks", run->size);
    int n = 0;
    if (!part) return ERR_NOMEM;
    for (int r = 0; r < run->size; r++) {
        if (!run->rank[r]) continue;
        part[n] = part_of(run->rank[r], n);
        for (int i = n - 1; i >= 0; i--)
            if (strcmp(part[i].host, part[n].host) == 0) part[n].node = part[i].node;
        n++;
    }
    add_node(part, n, here);
    disturbance_judge(part, n, d);
    free(part);
    return 0;
}

/* ------------------------------------------------------------------ the answer */

/* Why nothing can be concluded, as a word; NULL: nothing stands in the way. */
static const char *unmeasurable(const struct profile_round *round, const struct profile_zeta *z,
                                enum balance found, char why[BALANCE_WHY])
{
    bool cached = false;
    for (int i = 0; i < z->pairs; i++)
        cached = cached || round[i].page_cache;
    if (cached) {
        snprintf(why, BALANCE_WHY,
                 "T_T measures memory, not a device: what was written had not reached one when the "
                 "program ended; write to a file system on a device, and let the program flush "
                 "(MPI_File_sync, fsync)");
        return "page-cache";
    }
    if (z->t_t_s < BALANCE_SHORT_S) {
        snprintf(why, BALANCE_WHY,
                 "a run takes %.3g s, and start-up and noise dominate times below %g s; take a "
                 "larger problem or more steps",
                 z->t_t_s, BALANCE_SHORT_S);
        return "too-short";
    }
    return balance_spoiled(&z->rounds, found, z->paired.conflict || z->data.conflict, "pairs",
                           "without writing", why);
}

/* How many pairs would decide, in all, and how long they would take. */
static void add_undecided(struct profile_zeta *z, const struct profile_round *round,
                          const struct profile_pairs *pairs, json_t *numbers)
{
    char sentence[512];
    struct balance_open open = {.what = "zeta",
                                .parts = "the time inside I/O",
                                .round = "pair",
                                .rounds = z->pairs,
                                .most = pairs->most,
                                .until_decided = pairs->open,
                                .zeta = z->value,
                                .data = z->io,
                                .of_zeta = &z->paired,
                                .of_data = &z->data};
    for (int i = 0; i < z->pairs; i++)
        open.round_s += round[i].took_s / z->pairs;
    stamp_add(z->stamps, STAMP_UNDECIDED, SEVERITY_NOTE, numbers, "%s",
              balance_undecided(&open, numbers, sentence));
}

/* One of the four answers, or undecided. What makes measuring meaningless comes first. */
static void add_answer(struct profile_zeta *z, const struct profile_round *round,
                       const struct profile_pairs *pairs)
{
    char why[BALANCE_WHY], zeta[64], data[64], but[96], read[160] = "";
    json_t *n =
        balance_numbers(NULL, "zeta_paired", z->value, &z->paired, z->io, &z->data, INFINITY);
    const enum balance found = balance_of(&z->paired, &z->data);
    stamp_number(n, "rounds_n", z->pairs);
    balance_words(z->value, &z->paired, zeta);
    balance_words(z->io, &z->data, data);
    if (z->reading > BALANCE_GOAL)
        snprintf(read, sizeof read,
                 " Reading and opening files, which is in both runs, takes %.0f %% of T_C.",
                 100 * z->reading);
    z->reason = unmeasurable(round, z, found, why);
    if (!z->reason && found == BALANCE_NOT_DATA) {
        const bool waiting = z->wait > (z->value - z->io) / 2;
        snprintf(
            why, sizeof why,
            "zeta, %s, is above %.2f, but what of it is inside I/O, %s, is not: with its writes "
            "%s",
            zeta, BALANCE_GOAL, data,
            waiting ? "ranks are longer in collective calls that the last one has not begun: "
                      "waiting for it, which no faster file system changes, or, in OMPIO, "
                      "perhaps writing"
                    : "the program is slower outside I/O; leave a core to writing, and "
                      "nothing else on the computer");
        z->reason = "slowdown";
    }
    if (z->reason)
        stamp_add(z->stamps, STAMP_NOT_MEASURABLE, SEVERITY_WARN, n,
                  "Not measurable here and now: %s.", why);
    else if (found == BALANCE_FASTER)
        stamp_add(z->stamps, STAMP_IO_FASTER_THAN_NEEDED, SEVERITY_GOOD, n,
                  "Writing is faster than this program needs: zeta %s, inside I/O %s, %d pairs. "
                  "Writing %.3g times as slow would still meet NAS's goal of %.2f%s.%s",
                  zeta, data, z->pairs, balance_spare(&z->paired, &z->data, INFINITY), BALANCE_GOAL,
                  balance_but(&z->paired, "pairs", n, but), read);
    else if (found == BALANCE_MET)
        stamp_add(
            z->stamps, STAMP_BALANCED, SEVERITY_GOOD, n,
            "Balanced, as far as writing goes: zeta %s, %d pairs; NAS's goal is at most %.2f%s.%s",
            zeta, z->pairs, BALANCE_GOAL, balance_but(&z->paired, "pairs", n, but), read);
    else if (found == BALANCE_MISSED)
        stamp_add(z->stamps, STAMP_IO_TOO_SLOW, SEVERITY_BAD, n,
                  "Writing is too slow for this program: zeta %s, inside I/O alone %s, %d pairs; "
                  "NAS's goal is at most %.2f.",
                  zeta, data, z->pairs, BALANCE_GOAL);
    else
        add_undecided(z, round, pairs, n);
    z->answer = stamp_text(json_array_get(z->stamps, 0), "code");
}

/* The run that was disturbed most; else one whose processors were shared. */
static void add_disturbance(struct profile_zeta *z, const struct profile_round *round)
{
    const struct disturbance *worst = NULL;
    for (int i = 0; i < 2 * z->pairs; i++) {
        const struct disturbance *d = i % 2 ? &round[i / 2].without : &round[i / 2].with;
        if (!d->disturbed && !d->shared) continue;
        const bool alike = worst && d->disturbed == worst->disturbed;
        if (!worst || (d->disturbed && !alike) || (alike && d->share_min < worst->share_min))
            worst = d;
    }
    /* Beside an answer it is a note: a warning would deny what the answer says. */
    if (worst) balance_disturbance(z->stamps, &z->rounds, worst, z->reason != NULL, "pairs");
    for (int i = 0; !worst && i < 2 * z->pairs; i++) {
        const struct disturbance *d = i % 2 ? &round[i / 2].without : &round[i / 2].with;
        if (!stamp_find(z->stamps, STAMP_DISTURBANCE_UNKNOWN)) disturbance_stamp(d, z->stamps);
    }
}

/* Median of the values of pairs that nothing disturbed, put together at the front of x. */
static int quiet_median(const struct profile_round *round, double *x, int n, double *median)
{
    int quiet = 0;
    for (int i = 0; i < n; i++)
        if (!round[i].with.disturbed && !round[i].without.disturbed) x[quiet++] = x[i];
    *median = NAN;
    return quiet > 0 ? stat_median(x, quiet, median) : 0;
}

static int estimate(struct profile_zeta *z, const struct profile_round *round,
                    const struct profile_pairs *pairs, double *x)
{
    const int n = z->pairs;
    struct sequential_plan plan;
    TRY(balance_plan(n, pairs->open, pairs->cut || pairs->interrupted, &plan));
    /* A round is disturbed where one of its runs was. Only of the run without writes shared processors
     * count: the kernel that flushes files, and threads of the MPI library that write, take what is theirs. */
    z->rounds.rounds = n;
    for (int i = 0; i < n; i++) {
        z->rounds.disturbed += round[i].with.disturbed || round[i].without.disturbed;
        z->rounds.shared += round[i].without.shared;
    }
    for (int i = 0; i < n; i++)
        x[i] = round[i].t_t_s;
    TRY(stat_median(x, n, &z->t_t_s));
    for (int i = 0; i < n; i++)
        x[i] = round[i].t_c_s;
    TRY(stat_median(x, n, &z->t_c_s));
    for (int i = 0; i < n; i++)
        x[i] = round[i].t_t_s / round[i].t_c_s - 1;
    TRY(stat_median(x, n, &z->value));
    TRY(balance_look(&plan, x, n, &z->paired));
    TRY(quiet_median(round, x, n, &z->rounds.zeta));
    for (int i = 0; i < n; i++)
        x[i] = (round[i].t_wait_s - round[i].c_wait_s) / round[i].t_c_s;
    TRY(stat_median(x, n, &z->wait));
    for (int i = 0; i < n; i++)
        x[i] = round[i].c_io_s / round[i].t_c_s;
    TRY(stat_median(x, n, &z->reading));
    for (int i = 0; i < n; i++)
        x[i] = (round[i].t_io_s - round[i].c_io_s) / round[i].t_c_s;
    TRY(stat_median(x, n, &z->io));
    TRY(balance_look(&plan, x, n, &z->data));
    return quiet_median(round, x, n, &z->rounds.data);
}

int profile_judge(const struct profile_round *round, int n, const struct profile_pairs *pairs,
                  struct profile_zeta *z)
{
    *z = (struct profile_zeta){.pairs = n};
    double *x = mem_new(n, sizeof *x, "%d pairs", n);
    if (!x) return ERR_NOMEM;
    const int rc = estimate(z, round, pairs, x);
    free(x);
    TRY(rc);
    z->stamps = json_array();
    add_answer(z, round, pairs);
    if (pairs->interrupted || pairs->broken_off)
        stamp_add(z->stamps, STAMP_INTERRUPTED, SEVERITY_WARN,
                  stamp_number(NULL, "rounds_done_n", n),
                  "Interrupted: not all pairs of runs were made%s; %d %s complete.",
                  pairs->broken_off ? ", as one failed" : "", n, n == 1 ? "is" : "are");
    add_disturbance(z, round);
    return 0;
}

void profile_zeta_end(struct profile_zeta *z)
{
    json_decref(z->stamps);
    z->stamps = NULL;
}
