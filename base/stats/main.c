/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nht1-stats: the statistics of studies, reports and comparisons. Serial. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/stamp.h"
#include "base/start.h"
#include "base/version.h"
#include "base/stats/request.h"

struct options {
    double level;
    const char *requests, *json;
    bool stamps;
};

#define AT(member) CONF_AT(struct options, member)

static const struct conf_option options[] = {
    {.name = "requests",
     .arg = "FILE",
     .help = "Answer the requests in a JSON file, - for standard input, instead of summing up "
             "numbers of the command line; docs/schema/nht1-stats-requests-1.json describes them.",
     AT(requests)},
    {.name = "level",
     .arg = "P",
     .def = "0.95",
     CONF_RANGE(0.5, 0.999),
     .help = "Confidence of the interval.",
     AT(level)},
    {.name = "json",
     .arg = "FILE",
     .help = "Write the result to FILE instead of standard output.",
     AT(json),
     .output = true},
    {.name = "stamps",
     .help =
         "Instead of statistics, the stamps that results may bear: code, programs that give it, "
         "severities, meaning.",
     AT(stamps)},
    {.name = NULL},
};

static const struct conf_program program = {
    .name = "nht1-stats",
    .version = nht1_build,
    .summary = "Medians, intervals, tests and fits, as JSON.",
    .args = "[NUMBER...]",
    .max_args = STATS_VALUES_MAX,
    .examples = "  nht1-stats 2.31 2.35 2.29 2.44 2.30\n"
                "  nht1-stats --level 0.9 -- 0.01 -0.02 0.04\n"
                "  echo '{\"requests\": [{\"what\": \"percentiles\", \"values\": [3, 1, 2],\n"
                "      \"at\": [50, 90]}]}' | nht1-stats --requests -\n"
                "\n"
                "The interval is that of the median, between two of the sorted numbers, by the\n"
                "sign test; of fewer than 6 there is none at 95 %. Outliers lie further than 3.5\n"
                "scaled median absolute deviations from the median.\n"
                "\n"
                "Exit status: 0 success, 1 wrong usage or requests, 3 a file cannot be read or\n"
                "written, or there is no memory.\n",
    .options = options,
};

/* Of the numbers on the command line. */
static int sum_up(const struct options *o, const struct conf_list *args, json_t **out)
{
    const struct values v = {args->n, mem_new(args->n, sizeof *v.x, "%d numbers", args->n)};
    int rc = v.x ? 0 : ERR_NOMEM;
    for (int i = 0; rc == 0 && i < args->n; i++)
        if (num_real_parse(args->item[i], &v.x[i]) < 0)
            rc = err_set(ERR_USAGE, "'%.40s' is not a finite number", args->item[i]);
    json_t *summary = rc == 0 ? answer_summary(&v, NULL, o->level) : NULL;
    free(v.x);
    if (rc < 0) return rc;
    *out = json_pack("{ss ss}", "schema", "nht1-report-stats/1", "version", nht1_build);
    const bool whole = summary && *out && json_object_update(*out, summary) == 0 &&
                       json_object_set_new(*out, "level", js_real(o->level)) == 0;
    json_decref(summary);
    return whole ? 0 : mem_error("the answer");
}

static int answer_all(const char *file, json_t **out)
{
    json_t *asked, *requests, *answers = json_array();
    const bool piped = strcmp(file, "-") == 0;
    *out = json_pack("{ss ss so}", "schema", "nht1-stats/1", "version", nht1_build, "answers",
                     answers);
    if (!*out) return mem_error("the answers");
    TRY(js_read(piped ? "/dev/stdin" : file, &asked));
    int rc = js_get_array(asked, piped ? "standard input" : file, "requests", &requests);
    for (size_t i = 0; rc == 0 && i < json_array_size(requests); i++) {
        char where[32];
        json_t *one;
        snprintf(where, sizeof where, "requests[%zu]", i);
        rc = answer(json_array_get(requests, i), where, &one);
        if (rc == 0) json_array_append_new(answers, one);
    }
    json_decref(asked);
    return rc;
}

static int run(const void *opts, const struct conf_list *args)
{
    const struct options *o = opts;
    json_t *out = NULL;
    if ((args->n > 0) + (o->requests != NULL) + o->stamps != 1)
        return err_set(ERR_USAGE, "which numbers? usage: nht1-stats [--level P] NUMBER..., or "
                                  "nht1-stats --requests FILE, or nht1-stats --stamps");
    const char *schema = o->stamps     ? "nht1-stamps/"
                         : o->requests ? "nht1-stats/"
                                       : "nht1-report-stats/";
    int rc = o->json ? js_check_target(o->json, schema) : 0;
    if (rc < 0) err_prefix("--json: ");
    if (rc == 0 && o->stamps)
        rc = (out = stamp_codes_json()) ? 0 : mem_error("the stamps");
    else if (rc == 0)
        rc = o->requests ? answer_all(o->requests, &out) : sum_up(o, args, &out);
    if (rc == 0 && o->json) {
        rc = js_result(o->json, out);
    } else if (rc == 0) {
        const bool whole = json_dumpf(out, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) == 0;
        putchar('\n');
        rc = start_printed();
        if (rc == 0 && !whole) rc = mem_error("the text of the answer");
    }
    json_decref(out);
    return rc;
}

int main(int argc, char **argv)
{
    struct options o;
    return start_program(&program, argc, argv, &o, run);
}
