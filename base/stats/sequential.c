/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests about the centres of metrics: their exact intervals, and whether they lie above bounds,
 * looked at as often as a plan permits. Ratios are compared as differences of logarithms. */
#include "base/sequential.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/stat.h"
#include "base/stats/jobs.h"
#include "base/stats/plan.h"
#include "base/stats/request.h"
#include "base/stats/stat_test.h"

enum { BOUNDS_MAX = 16, METRICS_MAX = 1000 };
static const double ERROR_MIN = 1e-12; /* of a question */

/* A metric: values, or pairs of which the ratio counts. */
struct metric {
    bool ratio;
    struct values values; /* of a ratio the logarithms of b / a; where jobs count, their medians */
    int rounds;           /* values that were given */
    struct values a;      /* of a ratio */
    struct sequential_data data;
};

static double from_log(const struct metric *m, double x)
{
    return m->ratio ? exp(x) : x;
}

/* A bound as it is compared; a ratio is above 0. */
static int to_log(const struct request *r, const struct metric *m, const char *key, double *x)
{
    if (!m->ratio) return 0;
    if (!(*x > 0)) return err_set(ERR_USAGE, "%s: \"%s\": ratios are above 0", r->where, key);
    *x = log(*x);
    return 0;
}

static int read_metric(struct request *r, const json_t *from, struct metric *m)
{
    *m = (struct metric){.ratio = json_object_get(from, "values") == NULL};
    if (m->ratio) {
        TRY(request_sides(r, from, true, &m->a, &m->values));
        for (int i = 0; i < m->a.n; i++)
            m->values.x[i] = log(m->values.x[i]) - log(m->a.x[i]);
    } else {
        TRY(request_values(r, from, "values", 1, &m->values));
    }
    if (m->values.n > SEQUENTIAL_ROUNDS_MAX)
        return err_set(ERR_USAGE, "%s: at most %d rounds are expected, there are %d", r->where,
                       SEQUENTIAL_ROUNDS_MAX, m->values.n);
    m->rounds = m->values.n;
    TRY(jobs_medians(r, from, &m->values, &m->values));
    m->data = (struct sequential_data){
        .x = m->values.x, .n = m->values.n, .symmetric = m->ratio, .burst = 1};
    if (json_object_get(from, "symmetric"))
        TRY(js_get_bool(from, r->where, "symmetric", &m->data.symmetric));
    if (!json_object_get(from, "burst")) return 0;
    TRY(js_get_real(from, r->where, "burst", &m->data.burst));
    return m->data.burst >= 1
               ? 0
               : err_set(ERR_USAGE, "%s: \"burst\": rounds, at least 1, are expected", r->where);
}

static json_t *write_look(const struct metric *m, const struct sequential_look *l)
{
    const bool looked = l->rounds > 0;
    return json_pack("{so so so so so so so so so}", "jobs",
                     m->values.n < m->rounds ? json_integer(m->values.n) : json_null(), "method",
                     looked ? js_text(rank_name(l->method)) : json_null(), "centre",
                     js_real(looked ? from_log(m, l->centre) : NAN), "lo",
                     js_real(looked && l->exists ? from_log(m, l->lo) : NAN), "hi",
                     js_real(looked && l->exists ? from_log(m, l->hi) : NAN), "skewed",
                     json_boolean(l->skewed), "drifting", json_boolean(l->drifting), "correlation",
                     js_real(l->correlation), "widening", js_real(looked ? l->widening : 1));
}

/* One metric at a level, in a single look. p: NAN where nothing is to be tested. */
static int centre_of(struct request *r, const json_t *from, double level, double *p, json_t **out)
{
    struct metric m;
    struct sequential_plan plan;
    struct sequential_state s = {0};
    double against = 1;
    TRY(read_metric(r, from, &m));
    TRY(sequential_plan_at(1 - level, &m.data.n, 1, &plan));
    TRY(sequential_run(&plan, &m.data, &s, NULL, 0));
    *p = NAN;
    const bool given = json_object_get(from, "against") != NULL;
    if (given) TRY(js_get_real(from, r->where, "against", &against));
    if (given || m.ratio) {
        TRY(to_log(r, &m, "against", &against));
        TRY(sequential_p(&m.data, against, p));
    }
    double attained = s.last.exists ? 1 - 2 * plan.tail[s.last.method][0] : NAN;
    const bool few = jobs_few(&m.values, m.rounds);
    if (few) {
        jobs_interval(&m.values, level, &s.last.lo, &s.last.hi);
        s.last.exists = true;
        attained = level;
        if (!isnan(*p)) *p = jobs_p(&m.values, against);
    }
    *out = write_look(&m, &s.last);
    if (few) js_set(*out, "method", js_text("Student's t"));
    js_set(*out, "n", json_integer(m.rounds));
    js_set(*out, "attained", js_real(attained));
    return 0;
}

static int centres(struct request *r, const json_t *metrics, double level, double *p, json_t *list)
{
    int m = 0;
    for (size_t i = 0; i < json_array_size(metrics); i++) {
        json_t *one = NULL;
        TRY(centre_of(r, json_array_get(metrics, i), level, &p[m], &one));
        js_set(one, "p", js_real(p[m]));
        m += !isnan(p[m]);
        json_array_append_new(list, one);
    }
    TRY(stat_holm(p, m));
    for (size_t i = 0, k = 0; i < json_array_size(list); i++) {
        json_t *one = json_array_get(list, i);
        const bool tested = json_is_number(json_object_get(one, "p"));
        js_set(one, "p_corrected", js_real(tested ? p[k++] : NAN));
    }
    return 0;
}

int answer_centres(struct request *r, json_t **out)
{
    json_t *metrics;
    double level;
    TRY(js_get_array(r->json, r->where, "metrics", &metrics));
    TRY(js_get_real(r->json, r->where, "level", &level));
    TRY(request_level(r, &level));
    const size_t n = json_array_size(metrics);
    if (n < 1 || n > METRICS_MAX)
        return err_set(ERR_USAGE, "%s: \"metrics\": 1 to %d are expected", r->where, METRICS_MAX);
    double *p = mem_new((int64_t)n + 1, sizeof *p, "%zu metrics", n);
    json_t *list = json_array();
    *out = json_pack("{so so}", "level", js_real(level), "metrics", list);
    const int rc = p && *out ? centres(r, metrics, level, p, list) : mem_error("%zu metrics", n);
    free(p);
    return rc;
}

struct question {
    struct metric metric;
    const char *name; /* NULL without one */
    double share;     /* of the error; NAN until it is known */
    bool margin;      /* bounds 0 and 1 are those of one */
    int bounds_n;
    struct sequential_bound bound[BOUNDS_MAX];
    struct sequential_plan plan;
    struct sequential_state state;
};

static int read_margin(const struct request *r, const json_t *from, struct question *q)
{
    double margin;
    TRY(js_get_real(from, r->where, "margin", &margin));
    if (!(margin > 0) || !q->metric.ratio)
        return err_set(ERR_USAGE,
                       "%s: \"margin\": a number above 0 is expected, of a ratio (\"a\", \"b\")",
                       r->where);
    q->margin = true;
    q->bounds_n = 2;
    q->bound[0].at = -log1p(margin);
    q->bound[1].at = log1p(margin);
    return 0;
}

static int read_bounds(struct request *r, const json_t *from, struct question *q)
{
    struct values bounds;
    TRY(request_values(r, from, "bounds", 1, &bounds));
    if (bounds.n > BOUNDS_MAX)
        return err_set(ERR_USAGE, "%s: \"bounds\": at most %d are expected", r->where, BOUNDS_MAX);
    for (int i = 0; i < bounds.n; i++) {
        TRY(to_log(r, &q->metric, "bounds", &bounds.x[i]));
        q->bound[i].at = bounds.x[i];
    }
    q->bounds_n = bounds.n;
    return 0;
}

static int read_question(struct request *r, const json_t *from, struct question *q)
{
    *q = (struct question){.share = NAN};
    TRY(read_metric(r, from, &q->metric));
    if (json_object_get(from, "name")) TRY(js_get_text(from, r->where, "name", &q->name));
    if (json_object_get(from, "share")) {
        TRY(js_get_real(from, r->where, "share", &q->share));
        if (!(q->share > 0 && q->share <= 1))
            return err_set(ERR_USAGE, "%s: \"share\": above 0, at most 1, is expected", r->where);
    }
    return json_object_get(from, "margin") ? read_margin(r, from, q) : read_bounds(r, from, q);
}

/* Questions without a share get equal parts of what the others leave. */
static int share_out(const struct request *r, struct question *q, int n)
{
    double left = 1;
    int without = 0;
    for (int i = 0; i < n; i++) {
        without += isnan(q[i].share);
        left -= isnan(q[i].share) ? 0 : q[i].share;
    }
    if (left < -1e-9 || (without > 0 && !(left > 1e-9)))
        return err_set(ERR_USAGE, "%s: \"share\": those of all questions are 1 at most", r->where);
    for (int i = 0; i < n; i++)
        if (isnan(q[i].share)) q[i].share = left / without;
    return 0;
}

/* Common looks: the first is where every share can be reached. */
static int make_plans(const struct request *r, struct question *q, int n, double error,
                      struct sequential_plan *common)
{
    bool final = false;
    double least = 1;
    if (json_object_get(r->json, "final")) TRY(js_get_bool(r->json, r->where, "final", &final));
    for (int i = 0; i < n; i++)
        least = fmin(least, q[i].share);
    if (!(error * least >= ERROR_MIN))
        return err_set(ERR_USAGE, "%s: \"error\": shares of at least %g are expected", r->where,
                       ERROR_MIN);
    const bool stages = json_object_get(r->json, "stages") != NULL;
    if (stages && (n > 1 || final))
        return err_set(ERR_USAGE, "%s: \"stages\": one question is expected, without \"final\"",
                       r->where);
    TRY(plan_of(r, error * least, common));
    for (int i = 0; i < n; i++) {
        TRY(plan_covers(r, common, q[i].metric.data.n));
        if (stages)
            q[i].plan = *common;
        else
            TRY(sequential_plan_at(error * q[i].share, common->rounds, common->n, &q[i].plan));
        if (final && q[i].metric.data.n < common->rounds[common->n - 1])
            TRY(sequential_plan_end(&q[i].plan, q[i].metric.data.n));
    }
    return 0;
}

/* "above", "inside", "below" a margin; NULL while that is undecided. */
static const char *margin_verdict(const struct question *q)
{
    if (q->bound[1].side > 0) return "above";
    if (q->bound[0].side < 0) return "below";
    return q->bound[0].side > 0 && q->bound[1].side < 0 ? "inside" : NULL;
}

static bool is_decided(const struct question *q)
{
    bool all = true;
    for (int i = 0; i < q->bounds_n; i++)
        all = all && q->bound[i].side != 0;
    return q->margin ? margin_verdict(q) != NULL : all;
}

/* What the centre of ratios says nothing of: rounds in which they lie far above their median, and far below, and the ratio of
 * the means. Of the rounds that were looked at. */
static int write_far(struct request *r, const struct metric *m, int rounds, json_t *to)
{
    const bool known = m->ratio && m->values.n == m->rounds && rounds > 0;
    struct values ratio;
    double median = NAN, a = 0, b = 0;
    int above = 0, below = 0;
    if (known) {
        TRY(request_room(r, rounds, &ratio));
        for (int i = 0; i < rounds; i++) {
            ratio.x[i] = exp(m->values.x[i]);
            a += m->a.x[i] / rounds;
            b += m->a.x[i] / rounds * ratio.x[i];
        }
        TRY(stat_median(ratio.x, rounds, &median));
        above = stat_far(ratio.x, rounds, median, true);
        below = stat_far(ratio.x, rounds, median, false);
    }
    js_set(to, "far_above_n", known ? json_integer(above) : json_null());
    js_set(to, "far_below_n", known ? json_integer(below) : json_null());
    js_set(to, "far_p", known ? js_real(stat_signs(above, below)) : json_null());
    js_set(to, "mean_ratio", known ? js_real(b / a) : json_null());
    return 0;
}

static int write_question(struct request *r, const struct question *q, double error, json_t **out)
{
    static const char *const side[] = {"at or below", NULL, "above"};
    const struct sequential_state *s = &q->state;
    json_t *bounds = json_array();
    *out = write_look(&q->metric, &s->last);
    js_set(*out, "name", js_text(q->name));
    js_set(*out, "error", js_real(error * q->share));
    js_set(*out, "rounds", json_integer(q->metric.rounds));
    js_set(*out, "looked_at", s->looks > 0 ? json_integer(s->last.rounds) : json_null());
    js_set(*out, "conflict", json_boolean(s->conflict));
    js_set(*out, "decided", json_boolean(is_decided(q)));
    if (q->margin) js_set(*out, "verdict", js_text(margin_verdict(q)));
    TRY(write_far(r, &q->metric, s->last.rounds, *out));
    js_set(*out, "bounds", bounds);
    for (int i = 0; i < q->bounds_n; i++) {
        const struct sequential_bound *b = &q->bound[i];
        double needed = NAN;
        if (b->side == 0) TRY(sequential_needed(&q->plan, &q->metric.data, s, b->at, &needed));
        json_array_append_new(
            bounds, json_pack("{so so so so}", "bound", js_real(from_log(&q->metric, b->at)),
                              "verdict", js_text(side[b->side + 1]), "rounds",
                              b->side != 0 ? json_integer(b->rounds) : json_null(), "rounds_needed",
                              js_real(needed)));
    }
    return 0;
}

static int judge(struct request *r, const json_t *questions, struct question *q, json_t **out)
{
    const int n = (int)json_array_size(questions);
    struct sequential_plan common;
    double error = 0.05;
    if (json_object_get(r->json, "error")) TRY(js_get_real(r->json, r->where, "error", &error));
    if (!(error > 0 && error < 1))
        return err_set(ERR_USAGE, "%s: \"error\": a share between 0 and 1 is expected", r->where);
    for (int i = 0; i < n; i++)
        TRY(read_question(r, json_array_get(questions, (size_t)i), &q[i]));
    TRY(share_out(r, q, n));
    TRY(make_plans(r, q, n, error, &common));
    json_t *looks = json_array(), *list = json_array();
    *out = json_pack("{so so so}", "error", js_real(error), "looks", looks, "questions", list);
    for (int k = 0; k < common.n; k++)
        json_array_append_new(looks, json_integer(common.rounds[k]));
    int fewest = SEQUENTIAL_ROUNDS_MAX, undecided = 0, next = 0;
    for (int i = 0; i < n; i++) {
        json_t *one = NULL;
        TRY(sequential_run(&q[i].plan, &q[i].metric.data, &q[i].state, q[i].bound, q[i].bounds_n));
        const int rc = write_question(r, &q[i], error, &one);
        json_array_append_new(list, one);
        TRY(rc);
        if (is_decided(&q[i])) continue;
        undecided++;
        fewest = q[i].metric.data.n < fewest ? q[i].metric.data.n : fewest;
    }
    while (next < common.n && common.rounds[next] <= fewest)
        next++;
    js_set(*out, "decided", json_boolean(undecided == 0));
    js_set(*out, "next_look",
           undecided > 0 && next < common.n ? json_integer(common.rounds[next]) : json_null());
    return 0;
}

int answer_sequential(struct request *r, json_t **out)
{
    json_t *questions;
    TRY(js_get_array(r->json, r->where, "questions", &questions));
    const size_t n = json_array_size(questions);
    if (n < 1 || n > METRICS_MAX)
        return err_set(ERR_USAGE, "%s: \"questions\": 1 to %d are expected", r->where, METRICS_MAX);
    struct question *q = mem_new((int64_t)n, sizeof *q, "%zu questions", n);
    const int rc = q ? judge(r, questions, q, out) : ERR_NOMEM;
    free(q);
    return rc;
}
