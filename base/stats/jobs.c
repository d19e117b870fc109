/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/stats/jobs.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/stat.h"

/* A value's job and its place among the values. */
struct place {
    double job;
    int at;
};

static int by_job(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return x->job != y->job ? (x->job > y->job) - (x->job < y->job) : x->at - y->at;
}

/* median: room for v->n. It has the median of a job, of most values, where the first value of the job is, and elsewhere
 * NAN. */
static int median_at_first(struct place *place, const struct values *v, int most, double *of_one,
                           double *median)
{
    qsort(place, (size_t)v->n, sizeof *place, by_job);
    for (int i = 0, n; i < v->n; i += n) {
        for (n = 0; i + n < v->n && place[i + n].job == place[i].job; n++) {
            of_one[n] = v->x[place[i + n].at];
            median[place[i + n].at] = NAN;
        }
        TRY(stat_median(of_one, n < most ? n : most, &median[place[i].at]));
    }
    return 0;
}

int jobs_medians_of(struct request *r, const struct values *v, const struct values *job, int most,
                    struct values *to)
{
    struct values of_one;
    TRY(request_room(r, v->n, &of_one));
    TRY(request_room(r, v->n, to));
    struct place *place = mem_new(v->n, sizeof *place, "jobs of %d values", v->n);
    if (!place) return ERR_NOMEM;
    for (int i = 0; i < v->n; i++)
        place[i] = (struct place){.job = job->x[i], .at = i};
    const int rc = median_at_first(place, v, most, of_one.x, to->x);
    free(place);
    TRY(rc);
    for (int i = 0; i < v->n; i++)
        if (!isnan(to->x[i])) to->x[to->n++] = to->x[i];
    return 0;
}

int jobs_medians(struct request *r, const json_t *from, const struct values *v, struct values *to)
{
    struct values job, medians;
    *to = *v;
    if (!json_object_get(from, "jobs")) return 0;
    TRY(request_values(r, from, "jobs", 1, &job));
    if (job.n != v->n)
        return err_set(ERR_USAGE, "%s: \"jobs\": there are %d, and %d values", r->where, job.n,
                       v->n);
    TRY(jobs_medians_of(r, v, &job, v->n, &medians));
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
