/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nht1-report stats: the statistics of numbers on the command line, for scripts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/num.h"
#include "base/stat.h"
#include "base/version.h"
#include "report/commands.h"

#define NUMBERS_MAX   100000
#define OUTLIER_LIMIT 3.5

struct options {
    double level;
    int64_t seed;
    const char *json;
};

#define OPT(member) offsetof(struct options, member)

static const struct conf_option options[] = {
    {.name = "level",
     .arg = "P",
     .def = "0.95",
     .min = 0.5,
     .max = 0.999,
     .help = "Confidence of the interval.",
     .offset = OPT(level),
     .type = CONF_REAL},
    {.name = "seed",
     .arg = "S",
     .def = "1993",
     .min = 0,
     .max = 9e15,
     .help = "Of the resampling: the same numbers and seed give the same interval.",
     .offset = OPT(seed),
     .type = CONF_INT},
    {.name = "json",
     .arg = "FILE",
     .help = "Write the result to FILE instead of standard output.",
     .offset = OPT(json),
     .type = CONF_STRING},
    {.name = NULL},
};

static const struct conf_program program = {
    .name = "nht1-report stats",
    .version = NHT1_VERSION,
    .summary = "Median, confidence interval and outliers of numbers, as JSON.",
    .args = "NUMBER...",
    .max_args = NUMBERS_MAX,
    .examples = "  nht1-report stats 2.31 2.35 2.29 2.44 2.30\n"
                "  nht1-report stats --level 0.9 -- 0.01 -0.02 0.04\n"
                "\n"
                "The interval is that of the median, by bootstrap; outliers lie further than 3.5\n"
                "scaled median absolute deviations from it.\n",
    .options = options,
};

static int numbers(const struct conf_list *args, double *x)
{
    for (int i = 0; i < args->n; i++)
        if (num_real_parse(args->item[i], &x[i]) < 0)
            return err_set(ERR_USAGE, "'%.40s' is not a finite number", args->item[i]);
    return 0;
}

static int show(const json_t *out)
{
    if (json_dumpf(out, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) < 0)
        return err_set_errno(ERR_IO, errno, "writing to standard output");
    putchar('\n');
    return 0;
}

static int print(const struct options *o, const double *x, int n)
{
    struct stat_summary s;
    double lo, hi;
    TRY(stat_summary(x, n, &s));
    TRY(stat_median_ci(x, n, o->level, (uint64_t)o->seed, &lo, &hi));
    const int outliers = stat_outliers(x, n, OUTLIER_LIMIT);
    if (outliers < 0) return outliers;
    json_t *out = json_pack("{ss ss si so so so so so so so so si}", "schema",
                            "nht1-report-stats/1", "version", NHT1_VERSION, "n", n, "level",
                            js_real(o->level), "median", js_real(s.median), "ci_lo", js_real(lo),
                            "ci_hi", js_real(hi), "min", js_real(s.min), "max", js_real(s.max),
                            "mean", js_real(s.mean), "sd", js_real(s.sd), "outliers", outliers);
    if (!out) return err_set(ERR_NOMEM, "no memory for the result");
    const int rc = o->json ? js_write(o->json, out, JS_SYNC_NONE) : show(out);
    json_decref(out);
    return rc;
}

static int work(const struct options *o, const struct conf_list *args)
{
    if (args->n < 1)
        return err_set(ERR_USAGE, "which numbers? usage: nht1-report stats [--level P] NUMBER...");
    double *x = malloc((size_t)args->n * sizeof *x);
    if (!x) return err_set(ERR_NOMEM, "no memory for %d numbers", args->n);
    int rc = numbers(args, x);
    if (rc == 0 && o->json) rc = js_check_target(o->json, "nht1-report-stats/");
    if (rc == 0) rc = print(o, x, args->n);
    free(x);
    return rc;
}

int stats_main(int argc, char **argv)
{
    struct options o;
    struct conf_list args;
    const int what = conf_parse(&program, argc, argv, &o, &args, NULL);
    if (what < 0) return what;
    if (what == CONF_HELP) conf_help(&program, stdout);
    if (what == CONF_VERSION) printf("nht1-report %s\n", NHT1_VERSION);
    const int rc = what == CONF_RUN ? work(&o, &args) : 0;
    conf_free(&program, &o, &args);
    return rc;
}
