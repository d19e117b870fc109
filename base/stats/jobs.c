/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/stats/jobs.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/json.h"
#include "base/stat.h"

int jobs_medians(struct request *r, const json_t *from, const struct values *v, struct values *to)
{
    struct values job, of_one, medians;
    *to = *v;
    if (!json_object_get(from, "jobs")) return 0;
    TRY(request_values(r, from, "jobs", 1, &job));
    if (job.n != v->n)
        return err_set(ERR_USAGE, "%s: \"jobs\": there are %d, and %d values", r->where, job.n,
                       v->n);
    TRY(request_room(r, v->n, &of_one));
    TRY(request_room(r, v->n, &medians));
    for (int i = 0; i < v->n; i++) {
        int first = i;
        for (int k = 0; k < i && first == i; k++)
            if (job.x[k] == job.x[i]) first = k;
        if (first < i) continue;
        of_one.n = 0;
        for (int k = i; k < v->n; k++)
            if (job.x[k] == job.x[i]) of_one.x[of_one.n++] = v->x[k];
        TRY(stat_median(of_one.x, of_one.n, &medians.x[medians.n++]));
    }
    if (medians.n > 1) *to = medians;
    return 0;
}

bool jobs_few(const struct values *medians, int all)
{
    return medians->n < all && medians->n <= JOBS_FEW;
}

static double mean_of(const struct values *v, double *error)
{
    *error = gsl_stats_sd(v->x, 1, (size_t)v->n) / sqrt(v->n);
    return gsl_stats_mean(v->x, 1, (size_t)v->n);
}

void jobs_interval(const struct values *medians, double level, double *lo, double *hi)
{
    double error;
    const double mean = mean_of(medians, &error), reach = error * stat_t(level, medians->n - 1);
    *lo = mean - reach;
    *hi = mean + reach;
}

double jobs_p(const struct values *medians, double at)
{
    double error;
    const double away = fabs(mean_of(medians, &error) - at);
    return away > 0 ? 2 * gsl_cdf_tdist_Q(away / error, medians->n - 1) : 1;
}
