/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/stat.h"
#include "base/stats/jobs.h"
#include "base/stats/request.h"
#include "base/stats/stat_fit.h"

json_t *answer_summary(const struct values *v, const struct values *jobs, double level)
{
    struct stat_summary s;
    double lo = NAN, hi = NAN;
    if (stat_summary(v->x, v->n, &s) < 0) return NULL;
    if (jobs && jobs_few(jobs, v->n)) {
        if (!isnan(level)) jobs_interval(jobs, level, &lo, &hi);
    } else {
        const struct values *of = jobs ? jobs : v;
        if (!isnan(level) && stat_median_ci(of->x, of->n, level, &lo, &hi) < 0) return NULL;
    }
    if (jobs && !isnan(lo)) { /* the median of all values is shown, and may lie off that of jobs */
        lo = fmin(lo, s.median);
        hi = fmax(hi, s.median);
        if (values_positive(v)) lo = fmax(lo, 0); /* times and rates are not below */
    }
    const int outliers = stat_outliers(v->x, v->n, STATS_OUTLIER_LIMIT);
    if (outliers < 0) return NULL;
    return json_pack("{si so so so so so so so so so si}", "n", v->n, "median", js_real(s.median),
                     "ci_lo", js_real(lo), "ci_hi", js_real(hi), "min", js_real(s.min), "max",
                     js_real(s.max), "mean", js_real(s.mean), "sd", js_real(s.sd), "q1",
                     js_real(s.q1), "q3", js_real(s.q3), "outliers", outliers);
}

static int summary(struct request *r, json_t **out)
{
    struct values v, jobs;
    double level;
    TRY(request_values(r, r->json, "values", 1, &v));
    TRY(jobs_medians(r, r->json, &v, &jobs));
    TRY(request_level(r, &level));
    *out = answer_summary(&v, jobs.n < v.n ? &jobs : NULL, level);
    return 0;
}

static json_t *real_array(const double *x, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(list, js_real(x[i]));
    return list;
}

static int percentiles(struct request *r, json_t **out)
{
    struct values v, at;
    TRY(request_values(r, r->json, "values", 1, &v));
    TRY(request_values(r, r->json, "at", 1, &at));
    for (int i = 0; i < at.n; i++) {
        if (at.x[i] < 0 || at.x[i] > 100)
            return err_set(ERR_USAGE, "%s: \"at\": percent from 0 to 100 are expected", r->where);
        at.x[i] /= 100;
    }
    TRY(stat_quantiles(v.x, v.n, at.x, at.n, at.x));
    *out = json_pack("{si so}", "n", v.n, "values", real_array(at.x, at.n));
    return 0;
}

static int power(struct request *r, json_t **out)
{
    struct values x, y;
    struct stat_power w;
    TRY(request_points(r, &x, &y));
    TRY(stat_fit_power(x.x, y.x, x.n, &w));
    *out = json_pack("{si so so so so so}", "n", w.n, "factor", js_real(w.factor), "factor_sd",
                     js_real(w.factor_sd), "exponent", js_real(w.exponent), "exponent_sd",
                     js_real(w.exponent_sd), "r2", js_real(w.r2));
    return 0;
}

/* Where the fit comes up to a level; null when it does not. */
static int level_crossing(const struct request *r, const struct stat_poly *p, json_t **out)
{
    json_t *asked;
    double level, from, to, x, sd;
    *out = json_null();
    if (!json_object_get(r->json, "reaches")) return 0;
    TRY(js_get_object(r->json, r->where, "reaches", &asked));
    TRY(js_get_real(asked, r->where, "level", &level));
    TRY(js_get_real(asked, r->where, "from", &from));
    TRY(js_get_real(asked, r->where, "to", &to));
    if (stat_poly_reaches(p, level, from, to, &x, &sd))
        *out = json_pack("{so so}", "x", js_real(x), "sd", js_real(sd));
    return 0;
}

static int polynomial(struct request *r, json_t **out)
{
    struct values x, y, sd = {0}, at = {0};
    struct stat_poly p;
    int64_t degree;
    TRY(request_points(r, &x, &y));
    TRY(js_get_int(r->json, r->where, "degree", 0, STAT_DEGREE_MAX, &degree));
    if (json_object_get(r->json, "at")) TRY(request_values(r, r->json, "at", 0, &at));
    if (json_object_get(r->json, "sd")) {
        TRY(request_values(r, r->json, "sd", 1, &sd));
        TRY(request_same_length(r, "x", x.n, "sd", sd.n));
        if (!values_positive(&sd))
            return err_set(ERR_USAGE, "%s: \"sd\": numbers above 0 are expected", r->where);
    }
    TRY(stat_fit_poly(x.x, y.x, sd.x, x.n, (int)degree, &p));
    json_t *curve = json_array(), *crossing;
    for (int i = 0; i < at.n; i++) {
        double above;
        const double value = stat_poly_at(&p, at.x[i], &above);
        json_array_append_new(curve, json_pack("{so so so}", "x", js_real(at.x[i]), "y",
                                               js_real(value), "sd", js_real(above)));
    }
    const int rc = level_crossing(r, &p, &crossing);
    *out = json_pack("{si si so so so so}", "n", p.n, "degree", p.degree, "coefficients",
                     real_array(p.c, p.degree + 1), "r2", js_real(p.r2), "at", curve, "reaches",
                     crossing);
    return rc;
}

static const struct {
    const char *what;
    int (*answer)(struct request *r, json_t **out);
} kinds[] = {{"summary", summary},          {"percentiles", percentiles},
             {"unpaired", answer_unpaired}, {"power", power},
             {"polynomial", polynomial},    {"correlation", answer_correlation},
             {"centres", answer_centres},   {"sequential", answer_sequential},
             {"balance", answer_balance}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

int answer(const json_t *request, const char *where, json_t **out)
{
    struct request r = {.json = request, .where = where};
    const char *what;
    size_t k = 0;
    *out = NULL;
    TRY(js_get_text(request, where, "what", &what));
    while (k < KINDS && strcmp(kinds[k].what, what) != 0)
        k++;
    if (k == KINDS) return err_set(ERR_USAGE, "%s: \"what\": '%.40s' is not known", where, what);
    int rc = kinds[k].answer(&r, out);
    if (rc < 0) {
        json_decref(*out);
        *out = NULL;
    }
    if (rc == ERR_INVALID) { /* nothing wrong with the request: there is no such statistic */
        *out = json_pack("{ss}", "error", err_message());
        err_clear();
        rc = 0;
    }
    for (int i = 0; i < r.owned_n; i++)
        free(r.owned[i]);
    free(r.owned);
    return rc == 0 && !*out ? mem_error("the answer") : rc;
}
