/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often the verdicts of base/sequential are wrong: simulated measurements on quiet and on
 * disturbed machines, of which the truth is known. Prints the tables of docs/statistics.md; fails
 * when a promise is broken. The same seed gives the same numbers. */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/sequential.h"
#include "base/start.h"
#include "base/version.h"

enum {
    MEDIAN_DRAWS = 100001, /* for the median of a noise that has no formula here */
    FIXED_STREAMS = 500,   /* measurements for each number of rounds of a fixed plan */
    FIXED_MAX = 200,
};
static const double FIXED_POWER = 0.9; /* of deciding rightly */
static const double HIT =
    10; /* what a disturbance adds, in standard deviations of the quiet noise */

struct options {
    double error;
    int64_t repeats, rounds, seed;
    const char *only;
    bool naive, fixed, check;
};

#define AT(member) CONF_AT(struct options, member)

static const struct conf_option table[] = {
    {.name = "repeats",
     .arg = "N",
     .def = "3000",
     CONF_RANGE(10, 1e7),
     .help = "Simulated measurements of each kind.",
     AT(repeats)},
    {.name = "error",
     .arg = "P",
     .def = "0.05",
     CONF_RANGE(1e-4, 0.5),
     .help = "Error that all looks together may have.",
     AT(error)},
    {.name = "rounds",
     .arg = "N",
     .def = "64",
     CONF_RANGE(SEQUENTIAL_ROUNDS_MIN, FIXED_MAX),
     .help = "Rounds of the last look.",
     AT(rounds)},
    {.name = "seed",
     .arg = "S",
     .def = "1993",
     CONF_RANGE(0, 1e9),
     .help = "Of the noise.",
     AT(seed)},
    {.name = "only",
     .arg = "TEXT",
     .help = "Kinds of noise with this text in their name.",
     AT(only)},
    {.name = "fixed",
     .help = "Also find how many rounds a fixed plan of the same error needs; takes longest.",
     AT(fixed)},
    {.name = "naive",
     .help = "Look as often with an interval that has the whole error at every look: what happens "
             "without a plan.",
     AT(naive)},
    {.name = "check",
     .help = "Fail where more is wrong than the error permits, by more than three standard "
             "deviations of the simulation.",
     AT(check)},
    {.name = NULL},
};

static const struct conf_program program = {
    .name = "sequential",
    .version = nht1_build,
    .summary = "Error and coverage of sequential verdicts, by simulation.",
    .examples = "  sequential --repeats 1000\n  sequential --fixed --only bursts\n",
    .options = table,
};

/* How the value of a round comes about. A noise goes on from slot to slot: a run takes one. */
enum design {
    PAIRED, /* the logarithm of a ratio: two runs in random order; its noise is the difference */
    FIXED_ORDER, /* the same, always in one order */
    ONE_SIDED,   /* quiet runs of both, and the noise on the second alone */
    SINGLE,      /* one run: a share of time, a rate */
};
static const char *const design_name[] = {"paired", "paired, fixed order", "one side", "single"};

enum shape { NORMAL, LOGNORMAL, EXPONENTIAL, STUDENT, MIXED, DRIFT, WALK, HITS };

struct noise {
    const char *name;
    enum design design;
    enum shape shape;
    double a,
        b; /* STUDENT: degrees of freedom; DRIFT, WALK: per slot; HITS: share, slots in a row */
    double burst;  /* told to the engine */
    bool promised; /* that the error is kept; otherwise shown as what is not covered */
};

static const struct noise noises[] = {
    {"normal", PAIRED, NORMAL, 0, 0, 1, true},
    {"log-normal", PAIRED, LOGNORMAL, 0, 0, 1, true},
    {"Student's t, 2 degrees", PAIRED, STUDENT, 2, 0, 1, true},
    {"Student's t, 3 degrees", PAIRED, STUDENT, 3, 0, 1, true},
    {"one in ten 10 times as wide", PAIRED, MIXED, 0, 0, 1, true},
    {"linear drift, 0.2 a run", PAIRED, DRIFT, 0.2, 0, 1, true},
    {"random walk, 0.5 a run", PAIRED, WALK, 0.5, 0, 1, true},
    {"second mode, 10 %", PAIRED, HITS, 0.1, 1, 1, true},
    {"second mode, 20 %", PAIRED, HITS, 0.2, 1, 1, true},
    {"second mode, 30 %", PAIRED, HITS, 0.3, 1, 1, true},
    {"bursts of 3 runs, 20 %", PAIRED, HITS, 0.2, 3, 1, true},
    {"bursts of 5 runs, 30 %", PAIRED, HITS, 0.3, 5, 1, true},
    {"bursts of 20 runs, 30 %", PAIRED, HITS, 0.3, 20, 1, true},
    {"linear drift, 0.2 a run", FIXED_ORDER, DRIFT, 0.2, 0, 1, false},
    {"log-normal", ONE_SIDED, LOGNORMAL, 0, 0, 1, true},
    {"exponential", ONE_SIDED, EXPONENTIAL, 0, 0, 1, true},
    {"second mode, 10 %", ONE_SIDED, HITS, 0.1, 1, 1, true},
    {"second mode, 20 %", ONE_SIDED, HITS, 0.2, 1, 1, true},
    {"second mode, 30 %", ONE_SIDED, HITS, 0.3, 1, 1, true},
    {"bursts of 2 rounds, 20 %", ONE_SIDED, HITS, 0.2, 2, 1, false},
    {"bursts of 2 rounds, 20 %, told", ONE_SIDED, HITS, 0.2, 2, 2, true},
    {"normal", SINGLE, NORMAL, 0, 0, 1, true},
    {"log-normal", SINGLE, LOGNORMAL, 0, 0, 1, true},
    {"Student's t, 2 degrees", SINGLE, STUDENT, 2, 0, 1, true},
    {"one in ten 10 times as wide", SINGLE, MIXED, 0, 0, 1, true},
    {"second mode, 10 %", SINGLE, HITS, 0.1, 1, 1, true},
    {"second mode, 20 %", SINGLE, HITS, 0.2, 1, 1, true},
    {"second mode, 30 %", SINGLE, HITS, 0.3, 1, 1, true},
    {"bursts of 2 rounds, 20 %", SINGLE, HITS, 0.2, 2, 1, false},
    {"bursts of 3 rounds, 20 %", SINGLE, HITS, 0.2, 3, 1, false},
    {"bursts of 3 rounds, 30 %", SINGLE, HITS, 0.3, 3, 1, false},
    {"bursts of 5 rounds, 30 %", SINGLE, HITS, 0.3, 5, 1, false},
    {"bursts of 2 rounds, 20 %, told", SINGLE, HITS, 0.2, 2, 2, true},
    {"bursts of 3 rounds, 20 %, told", SINGLE, HITS, 0.2, 3, 3, true},
    {"bursts of 3 rounds, 30 %, told", SINGLE, HITS, 0.3, 3, 3, true},
    {"bursts of 5 rounds, 30 %, told", SINGLE, HITS, 0.3, 5, 5, true},
    {"bursts of 10 rounds, 30 %, told", SINGLE, HITS, 0.3, 10, 10, true},
    {"linear drift, 0.1 a round", SINGLE, DRIFT, 0.1, 0, 1, true},
    {"random walk, 0.3 a round", SINGLE, WALK, 0.3, 0, 1, true},
};
enum { NOISES = sizeof noises / sizeof noises[0] };

struct machine {
    gsl_rng *rng;
    const struct noise *noise;
    double level; /* of DRIFT and WALK, without the noise of a run */
    bool hit;
};

static double standard_normal(struct machine *m)
{
    return gsl_ran_gaussian_ziggurat(m->rng, 1);
}

static void machine_start(struct machine *m)
{
    m->level = 0;
    m->hit = gsl_rng_uniform(m->rng) < m->noise->a;
}

/* Of one slot: the logarithm of how much slower a run is, or the value itself. */
static double slot_value(struct machine *m)
{
    const struct noise *n = m->noise;
    bool hit;
    switch (n->shape) {
    case NORMAL:
        return standard_normal(m);
    case LOGNORMAL:
        return exp(standard_normal(m));
    case EXPONENTIAL:
        return gsl_ran_exponential(m->rng, 2);
    case STUDENT:
        return gsl_ran_tdist(m->rng, n->a);
    case MIXED:
        return standard_normal(m) * (gsl_rng_uniform(m->rng) < 0.1 ? 10 : 1);
    case DRIFT:
        return (m->level += n->a) + standard_normal(m);
    case WALK:
        return (m->level += n->a * standard_normal(m)) + standard_normal(m);
    case HITS:
        hit = m->hit;
        /* So that a share a of all slots is hit, b in a row on average. */
        m->hit = n->b <= 1 ? gsl_rng_uniform(m->rng) < n->a
                 : hit     ? gsl_rng_uniform(m->rng) >= 1 / n->b
                           : gsl_rng_uniform(m->rng) < n->a / (1 - n->a) / n->b;
        return (hit ? HIT : 0) + standard_normal(m);
    }
    return NAN;
}

static double value(struct machine *m)
{
    if (m->noise->design == SINGLE) return slot_value(m);
    if (m->noise->design == ONE_SIDED) return slot_value(m) - standard_normal(m);
    const double first = slot_value(m), second = slot_value(m);
    const bool swapped = m->noise->design == PAIRED && gsl_rng_uniform(m->rng) < 0.5;
    return swapped ? first - second : second - first;
}

/* Median of the values of independent rounds, and their spread: half the distance between the
 * quantiles of a standard deviation. */
static int true_location(struct machine *m, double *median, double *sd)
{
    const bool moving = m->noise->shape == DRIFT || m->noise->shape == WALK;
    double *x = mem_new(MEDIAN_DRAWS, sizeof *x, "%d values", MEDIAN_DRAWS);
    if (!x) return ERR_NOMEM;
    for (int i = 0; i < MEDIAN_DRAWS; i++) {
        machine_start(m);
        x[i] = value(m);
    }
    gsl_sort(x, 1, MEDIAN_DRAWS);
    *median = m->noise->design == PAIRED || (moving && m->noise->design == SINGLE)
                  ? 0
                  : gsl_stats_median_from_sorted_data(x, 1, MEDIAN_DRAWS);
    if (m->noise->design == FIXED_ORDER) *median = 0;
    *sd = (gsl_stats_quantile_from_sorted_data(x, 1, MEDIAN_DRAWS, 0.8413) -
           gsl_stats_quantile_from_sorted_data(x, 1, MEDIAN_DRAWS, 0.1587)) /
          2;
    free(x);
    return 0;
}

struct tally {
    int n;                   /* measurements */
    int missed;              /* the interval of some look missed the median */
    int decided;             /* about a bound one spread below the median */
    int missed_at_end;       /* by the interval with which the measuring ended */
    int ends[FIXED_MAX + 1]; /* with so many rounds */
};

/* The parameter of the first n rounds: where a level drifts, the mean level of them. */
static double parameter(const struct machine *m, double median, const double *level, int n)
{
    const bool moving = m->noise->shape == DRIFT || m->noise->shape == WALK;
    return m->noise->design == SINGLE && moving ? gsl_stats_mean(level, 1, (size_t)n) : median;
}

/* One measurement, in which all looks are taken: what ends at one of them is counted as if it had. */
static int measure(const struct sequential_plan *plan, struct machine *m, double median,
                   double spread, struct tally *t)
{
    double x[FIXED_MAX], level[FIXED_MAX];
    const struct sequential_data d = {.x = x,
                                      .n = plan->rounds[plan->n - 1],
                                      .symmetric = m->noise->design != SINGLE,
                                      .burst = m->noise->burst};
    struct sequential_state s = {0};
    bool missed = false, out = false;
    int end = 0;
    machine_start(m);
    for (int i = 0; i < d.n; i++) {
        x[i] = value(m);
        level[i] = m->level;
    }
    for (int k = 0; k < plan->n; k++) {
        TRY(sequential_look(plan, &d, &s, NULL, 0));
        const double at = parameter(m, median, level, plan->rounds[k]);
        out = s.last.lo > at || s.last.hi < at;
        missed = missed || out;
        const bool above = s.last.lo > at - spread, below = s.last.hi <= at - spread;
        if (end > 0 || s.conflict || !(above || below)) continue;
        end = plan->rounds[k];
        t->decided++;
        t->missed_at_end += out;
    }
    t->n++;
    t->missed += missed;
    if (end == 0) t->missed_at_end += out;
    t->ends[end > 0 ? end : d.n]++;
    return 0;
}

/* The smallest number of rounds at which the interval of a single look keeps off the bound as often
 * as FIXED_POWER; -1 for more than FIXED_MAX. */
static int fixed_rounds(const struct options *o, struct machine *m, double median, double spread,
                        int *rounds)
{
    int lo = SEQUENTIAL_ROUNDS_MIN - 1, hi = FIXED_MAX + 1; /* too few, enough */
    for (int n = 2 * lo; hi - lo > 1;
         n = hi > FIXED_MAX ? (int)fmin(2 * lo, FIXED_MAX) : (lo + hi) / 2) {
        struct sequential_plan plan;
        struct tally t = {0};
        TRY(sequential_plan_at(o->error, &n, 1, &plan));
        for (int i = 0; i < FIXED_STREAMS; i++)
            TRY(measure(&plan, m, median, spread, &t));
        if (t.decided >= FIXED_POWER * FIXED_STREAMS) {
            hi = n;
        } else {
            lo = n;
        }
    }
    *rounds = hi > FIXED_MAX ? -1 : hi;
    return 0;
}

static double mean_rounds(const struct tally *t)
{
    double sum = 0;
    for (int n = 0; n <= FIXED_MAX; n++)
        sum += (double)n * t->ends[n] / t->n;
    return sum;
}

/* So many rounds or fewer it took in a share of the measurements. */
static int quantile(const struct tally *t, double share)
{
    int n = 0, ended = t->ends[0];
    while (ended < share * t->n)
        ended += t->ends[++n];
    return n;
}

/* More of n than an event of that probability makes, by more than three standard deviations. */
static bool too_many(int count, int n, double probability)
{
    return count > n * probability + 3 * sqrt(n * probability * (1 - probability));
}

static void percent(int count, int n)
{
    printf(" %.1f |", 100.0 * count / n);
}

/* A row of the table; broken: [out] counts promises that were not kept. */
static int simulate(const struct options *o, const struct sequential_plan *plan,
                    const struct noise *noise, gsl_rng *rng, int *broken)
{
    struct machine m = {.rng = rng, .noise = noise};
    struct tally t = {0};
    double median = 0, spread = 1;
    int fixed = 0;
    gsl_rng_set(rng, (unsigned long)o->seed);
    TRY(true_location(&m, &median, &spread));
    for (int64_t i = 0; i < o->repeats; i++)
        TRY(measure(plan, &m, median, spread, &t));
    if (o->fixed) TRY(fixed_rounds(o, &m, median, spread, &fixed));
    printf("| %s | %s%s |", design_name[noise->design], noise->name, noise->promised ? "" : " *");
    percent(t.missed, t.n);
    percent(t.n - t.missed_at_end, t.n);
    percent(t.decided, t.n);
    printf(" %.1f | %d | %d |", mean_rounds(&t), quantile(&t, 0.5), quantile(&t, 0.9));
    if (fixed < 0) {
        printf(" > %d |", FIXED_MAX);
    } else if (o->fixed) {
        printf(" %d |", fixed);
    }
    putchar('\n');
    fflush(stdout);
    *broken += noise->promised &&
               (too_many(t.missed, t.n, o->error) || too_many(t.missed_at_end, t.n, o->error));
    return 0;
}

static int simulate_all(const struct options *o, const struct sequential_plan *plan, gsl_rng *rng)
{
    int rows = 0, broken = 0;
    printf("Looks at");
    for (int k = 0; k < plan->n; k++)
        printf(" %d", plan->rounds[k]);
    printf(" rounds; %lld measurements of each kind.\n\n", (long long)o->repeats);
    printf("| values | noise | wrong at worst %% | covered at the end %% | decided %% "
           "| rounds, mean | median | 90 %% |%s\n",
           o->fixed ? " fixed plan |" : "");
    printf("|---|---|---|---|---|---|---|---|%s\n", o->fixed ? "---|" : "");
    for (int i = 0; i < NOISES; i++) {
        if (o->only && !strstr(noises[i].name, o->only)) continue;
        TRY(simulate(o, plan, &noises[i], rng, &broken));
        rows++;
    }
    if (rows == 0) return err_set(ERR_USAGE, "no noise has '%s' in its name", o->only);
    if (o->check && broken > 0)
        return err_set(ERR_VERIFY, "of %d kinds of noise, %d make more errors than %g %%", rows,
                       broken, 100 * o->error);
    return 0;
}

/* Without a plan: each look has the interval of a fixed one. */
static int make_naive(struct sequential_plan *plan)
{
    for (int k = 0; k < plan->n; k++) {
        struct sequential_plan one;
        TRY(sequential_plan_at(plan->error, &plan->rounds[k], 1, &one));
        for (int method = 0; method < RANK_METHODS; method++)
            plan->cut[method][k] = one.cut[method][0];
    }
    return 0;
}

static int run(const void *opts, const struct conf_list *args)
{
    const struct options *o = opts;
    struct sequential_plan plan;
    (void)args;
    TRY(sequential_plan(o->error, (int)o->rounds, &plan));
    if (o->naive) TRY(make_naive(&plan));
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    if (!rng) return mem_error("random numbers");
    const int rc = simulate_all(o, &plan, rng);
    gsl_rng_free(rng);
    return rc;
}

int main(int argc, char **argv)
{
    struct options o;
    return start_program(&program, argc, argv, &o, run);
}
