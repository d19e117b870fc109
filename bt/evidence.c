/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/evidence.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/stamp.h"
#include "base/stat.h"
#include "base/units.h"

static double median(const double *x, int n)
{
    double m;
    return n > 0 && stat_median(x, n, &m) == 0 ? m : NAN;
}

/* Whether computing alone in the round of a run was disturbed, and whether it shared its processors. */
static void of_computing(const struct bt_job *job, int round, bool *disturbed, bool *shared)
{
    *disturbed = *shared = false;
    for (int k = 0; k < job->outcomes_n; k++) {
        const struct bt_run *run = &job->outcome[k].run;
        if (run->round != round || strcmp(run->writer, BT_COMPUTE) != 0) continue;
        *disturbed = *disturbed || run->disturbance.disturbed;
        *shared = *shared || run->disturbance.shared;
    }
}

struct balance_rounds bt_evidence_of(const struct bt_job *job, const char *writer,
                                     const struct bt_reading *like)
{
    struct balance_rounds e = {0};
    double zeta[BT_REPEAT_MAX], data[BT_REPEAT_MAX];
    int n = 0;
    for (int i = 0; i < job->outcomes_n && e.rounds < BT_REPEAT_MAX; i++) {
        const struct bt_run *run = &job->outcome[i].run;
        const struct bt_reading *r = like ? bt_reading_of(run, like) : NULL;
        bool disturbed, shared;
        if (!run->completed || run->resumed || strcmp(run->writer, writer) != 0 || (like && !r))
            continue;
        of_computing(job, run->round, &disturbed, &shared);
        disturbed = disturbed || (r ? &r->disturbance : &run->disturbance)->disturbed;
        e.rounds++;
        e.disturbed += disturbed;
        e.shared += shared;
        if (disturbed) continue;
        const struct bt_values v = bt_values_of(job, run);
        if (!isfinite(v.t_c_round_s)) continue;
        zeta[n] = r ? bt_read_values_of(job, run, r).zeta : v.zeta_paired;
        data[n++] = r ? bt_read_values_of(job, run, r).zeta_data : v.zeta_data;
    }
    e.zeta = median(zeta, n);
    e.data = median(data, n);
    return e;
}

const char *bt_evidence_cores(const struct bt_machine *m, char why[BALANCE_WHY])
{
    char unbind[BT_MACHINE_UNBIND];
    if ((int64_t)m->nodes.size * m->threads > m->nodes.cores) {
        snprintf(why, BALANCE_WHY,
                 "%d x %d ranks x threads share %lld core%s; start no more than there are "
                 "cores",
                 m->nodes.size, m->threads, (long long)m->nodes.cores,
                 units_plural(m->nodes.cores));
        return "processors-shared";
    }
    if (m->threads > m->mask_width) {
        snprintf(why, BALANCE_WHY,
                 "the %d threads of a rank share %d CPU%s that it is bound to; %s", m->threads,
                 m->mask_width, units_plural(m->mask_width), bt_machine_unbind(m, unbind));
        return "processors-shared";
    }
    if ((int64_t)m->nodes.size * m->threads > m->cpus) {
        snprintf(why, BALANCE_WHY,
                 "%d x %d ranks x threads share %lld CPU%s that they are bound to; %s",
                 m->nodes.size, m->threads, (long long)m->cpus, units_plural(m->cpus),
                 bt_machine_unbind(m, unbind));
        return "processors-shared";
    }
    return NULL;
}

void bt_evidence_stamp(json_t *to, const struct balance_rounds *e, const struct bt_machine *m,
                       const struct disturbance *d)
{
    const int rounds = d->disturbed ? e->disturbed : e->shared;
    char why[BALANCE_WHY];
    const bool spoils =
        2 * rounds >= e->rounds || (!d->disturbed && bt_evidence_cores(m, why) != NULL);
    balance_disturbance(to, e, d, spoils, "rounds");
}
