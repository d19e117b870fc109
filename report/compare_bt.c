/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of nht1-bt's results can be compared, and the metrics: T_T of every writer, its rate while
 * it writes, and T_C. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/units.h"
#include "report/compare.h"
#include "report/runs.h"

struct sides {
    struct compare *c;
    struct runs a, b;
};

/* A quantity that both sides must agree in. */
static void must_agree(struct compare *c, const char *what, const char *a, const char *b)
{
    if (strcmp(a, b) != 0)
        compare_say(c->reasons, "%s: %s in A, %s in B", what, a[0] ? a : "unknown",
                    b[0] ? b : "unknown");
}

static void must_agree_int(struct compare *c, const char *what, int64_t a, int64_t b)
{
    if (a != b) compare_say(c->reasons, "%s: %" PRId64 " in A, %" PRId64 " in B", what, a, b);
}

static void must_agree_real(struct compare *c, const char *what, double a, double b)
{
    char x[NUM_TEXT_MAX], y[NUM_TEXT_MAX];
    if (a != b && !(isnan(a) && isnan(b)))
        compare_say(c->reasons, "%s: %s in A, %s in B", what, num_real(a, x), num_real(b, y));
}

static void problems_agree(struct compare *c, const struct group *a, const struct group *b)
{
    must_agree_int(c, "N", a->n, b->n);
    must_agree_int(c, "steps", a->steps, b->steps);
    must_agree_real(c, "dt", a->dt, b->dt);
    must_agree_int(c, "write interval", a->interval, b->interval);
    must_agree_int(c, "dumps", a->dumps_n, b->dumps_n);
    must_agree(c, "layout", a->layout, b->layout);
    must_agree(c, "durability (--sync)", a->sync, b->sync);
}

static bool same_problem(const struct group *a, const struct group *b)
{
    return a->n == b->n && a->steps == b->steps && a->interval == b->interval &&
           a->dumps_n == b->dumps_n && (a->dt == b->dt || (isnan(a->dt) && isnan(b->dt))) &&
           strcmp(a->layout, b->layout) == 0 && strcmp(a->sync, b->sync) == 0;
}

static const struct group *partner_group(const struct runs *in, const struct group *g)
{
    for (int i = 0; i < in->groups_n; i++)
        if (same_problem(&in->group[i], g)) return &in->group[i];
    return NULL;
}

/* How well a cell fits another one: 0 not at all; the more of the configuration agrees the better.
 */
static int fit(const struct cell *a, const struct cell *b)
{
    if (strcmp(a->writer, b->writer) != 0) return 0;
    int n = 1;
    n += 8 * (a->ranks == b->ranks && a->threads == b->threads);
    n += 4 * (a->processors == b->processors);
    n += 2 * (a->token_group == b->token_group);
    return n + 2 * (strcmp(a->variant, b->variant) == 0);
}

/* The best fit, unless another one fits as well; NULL. */
static const struct cell *partner(const struct runs *in, const struct group *g,
                                  const struct cell *c)
{
    const struct cell *best = NULL;
    int best_fit = 0, ties = 0;
    for (int i = 0; i < g->cells_n; i++) {
        const struct cell *other = &in->cell[g->cell[i]];
        const int f = fit(c, other);
        ties = f > best_fit ? 0 : ties + (f == best_fit);
        if (f <= best_fit) continue;
        best = other;
        best_fit = f;
    }
    return ties > 0 ? NULL : best;
}

/* Values of all runs of a cell; rate: while writing, else T_T. malloc'ed; n: [out] how many > 0. */
static double *values_of(const struct runs *runs, const struct cell *cell, bool rate, int *n)
{
    double *x = malloc((cell->n > 0 ? (size_t)cell->n : 1) * sizeof *x);
    *n = 0;
    for (int i = 0; x && i < runs->runs_n; i++) {
        const struct run *r = &runs->run[i];
        const double v = rate ? r->write_rate : r->t_t_s;
        if (&runs->cell[r->cell] == cell && v > 0 && isfinite(v)) x[(*n)++] = v;
    }
    return x;
}

static char *metric_name(const char *what, const struct cell *a, const struct cell *b)
{
    char name[CELL_NAME_MAX], *out = NULL;
    cell_name(a, name);
    if (a->processors == b->processors) {
        if (asprintf(&out, "%s%s%s, %" PRId64 " processor%s", what, a->writes ? " of " : "",
                     a->writes ? name : "", a->processors, units_plural(a->processors)) < 0)
            return NULL;
    } else if (asprintf(&out, "%s%s%s, %" PRId64 " against %" PRId64 " processors", what,
                        a->writes ? " of " : "", a->writes ? name : "", a->processors,
                        b->processors) < 0) {
        return NULL;
    }
    return out;
}

static int add_metric(struct sides *s, const struct cell *a, const struct cell *b, bool rate)
{
    struct compare_metric m = {
        .unit = rate ? "bytes/s" : "s", .higher_better = rate, .pooled = a->writes && !rate};
    m.a = values_of(&s->a, a, rate, &m.a_n);
    m.b = values_of(&s->b, b, rate, &m.b_n);
    int rc = 0;
    if (!m.a || !m.b) {
        rc = err_set(ERR_NOMEM, "no memory for the comparison");
    } else if (m.a_n > 0 && m.b_n > 0) {
        m.name = metric_name(rate ? "writing rate" : a->writes ? "T_T" : "T_C", a, b);
        rc = compare_add(s->c, &m);
    }
    free(m.a);
    free(m.b);
    return rc;
}

/* What makes two cells incomparable, or worth a note. */
static void cells_agree(struct compare *c, const struct cell *a, const struct cell *b)
{
    char x[CELL_NAME_MAX], y[CELL_NAME_MAX];
    cell_name(a, x);
    cell_name(b, y);
    if (a->page_cache != b->page_cache)
        compare_say(c->reasons, "durability: %s measured the page cache in %s only", x,
                    a->page_cache ? "A" : "B");
    if (a->verified != b->verified)
        compare_say(c->notes, "%s: verified in %s only", x, a->verified ? "A" : "B");
    if (a->oversubscribed || b->oversubscribed)
        compare_say(c->notes, "%s: oversubscribed in %s", x,
                    a->oversubscribed && b->oversubscribed ? "both"
                    : a->oversubscribed                    ? "A"
                                                           : "B");
    if (strcmp(x, y) != 0) compare_say(c->notes, "%s in A is compared with %s in B", x, y);
}

static int pair(struct sides *s, const struct cell *a, const struct cell *b)
{
    if (a->writes) cells_agree(s->c, a, b);
    TRY(add_metric(s, a, b, false));
    return a->writes ? add_metric(s, a, b, true) : 0;
}

static void may_differ(struct compare *c, const char *what, const struct group *a,
                       const struct group *b, const char *at)
{
    const char *x = doc_text(a->first->root, at), *y = doc_text(b->first->root, at);
    if (strcmp(x, y) != 0)
        compare_say(c->notes, "%s differs: %.120s in A, %.120s in B", what, x[0] ? x : "unknown",
                    y[0] ? y : "unknown");
}

static void systems_differ(struct compare *c, const struct group *a, const struct group *b)
{
    may_differ(c, "host", a, b, "system.host");
    may_differ(c, "processor", a, b, "system.cpu.model");
    may_differ(c, "kernel", a, b, "system.kernel");
    may_differ(c, "MPI", a, b, "system.mpi.library");
    may_differ(c, "compiler", a, b, "system.compiler");
    may_differ(c, "solver kernel", a, b, "system.solver_kernel");
    may_differ(c, "version of nht1", a, b, "version");
    if (strcmp(a->fs, b->fs) != 0 && a->fs[0] && b->fs[0])
        compare_say(c->notes, "file system differs: %s in A, %s in B", a->fs, b->fs);
}

/* Every cell of A with its partner in B. A cell is paired when the choice is mutual. */
static int pair_group(struct sides *s, const struct group *a, const struct group *b)
{
    char name[CELL_NAME_MAX];
    int pairs = 0;
    systems_differ(s->c, a, b);
    for (int i = 0; i < a->cells_n; i++) {
        const struct cell *x = &s->a.cell[a->cell[i]], *y = partner(&s->b, b, x);
        if (y && partner(&s->a, a, y) == x) {
            TRY(pair(s, x, y));
            pairs++;
        } else {
            compare_say(s->c->notes, "%s on %" PRId64 " processors: nothing like it in B",
                        cell_name(x, name), x->processors);
        }
    }
    if (pairs == 0)
        compare_say(s->c->reasons, "A and B have no writer in common (N = %" PRId64 ")", a->n);
    return 0;
}

static int pair_all(struct sides *s)
{
    int found = 0;
    for (int i = 0; i < s->a.groups_n; i++) {
        const struct group *g = partner_group(&s->b, &s->a.group[i]);
        if (!g) continue;
        TRY(pair_group(s, &s->a.group[i], g));
        found++;
    }
    if (found == 0) problems_agree(s->c, &s->a.group[0], &s->b.group[0]);
    return 0;
}

int compare_bt(struct compare *c, const struct docs *a, const struct docs *b)
{
    struct sides s = {.c = c};
    int rc = 0;
    if (docs_count(a, "nht1-bt") == 0 || docs_count(b, "nht1-bt") == 0) return 0;
    rc = runs_collect(&s.a, a, c->level);
    if (rc == 0) rc = runs_collect(&s.b, b, c->level);
    if (rc == 0 && (s.a.groups_n == 0 || s.b.groups_n == 0))
        compare_say(c->reasons, "%s has no run that came to its end with the right result",
                    s.a.groups_n == 0 ? "A" : "B");
    else if (rc == 0)
        rc = pair_all(&s);
    runs_free(&s.a);
    runs_free(&s.b);
    return rc;
}
