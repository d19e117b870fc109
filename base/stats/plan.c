/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/stats/plan.h"

#include <inttypes.h>

#include "base/err.h"
#include "base/json.h"

enum { STAGES_MAX = 100, ROUNDS_MAX_DEFAULT = 64 };

bool plan_given(const struct request *r)
{
    return json_object_get(r->json, "rounds_max") || json_object_get(r->json, "stages");
}

static int number(const struct request *r, const json_t *from, const char *key, int least, int *to)
{
    int64_t value = 0;
    if (json_object_get(from, key))
        TRY(js_get_int(from, r->where, key, least, SEQUENTIAL_ROUNDS_MAX, &value));
    *to = (int)value;
    return 0;
}

static int read_stage(const struct request *r, const json_t *from, bool last, int before,
                      struct sequential_stage *s)
{
    TRY(number(r, from, "rounds", 1, &s->rounds));
    TRY(number(r, from, "rounds_max", SEQUENTIAL_ROUNDS_MIN, &s->rounds_max));
    const bool goes_on = last && s->rounds == 0 && s->rounds_max > before;
    return s->rounds > before || goes_on
               ? 0
               : err_set(ERR_USAGE,
                         "%s: \"stages\": \"rounds\" that ascend are expected, at last these or a "
                         "larger \"rounds_max\"",
                         r->where);
}

static int read_stages(const struct request *r, double error, struct sequential_plan *out)
{
    struct sequential_stage stage[STAGES_MAX];
    json_t *stages;
    TRY(js_get_array(r->json, r->where, "stages", &stages));
    const size_t n = json_array_size(stages);
    if (n < 1 || n > STAGES_MAX)
        return err_set(ERR_USAGE, "%s: \"stages\": 1 to %d are expected", r->where, STAGES_MAX);
    for (size_t i = 0; i < n; i++)
        TRY(read_stage(r, json_array_get(stages, i), i == n - 1, i > 0 ? stage[i - 1].rounds : 0,
                       &stage[i]));
    const int rc = sequential_plan_stages(error, stage, (int)n, out);
    if (rc < 0) {
        err_prefix(": ");
        err_prefix(r->where);
    }
    return rc;
}

int plan_of(const struct request *r, double error, struct sequential_plan *out)
{
    int most;
    if (json_object_get(r->json, "stages")) return read_stages(r, error, out);
    TRY(number(r, r->json, "rounds_max", SEQUENTIAL_ROUNDS_MIN, &most));
    return sequential_plan(error, most > 0 ? most : ROUNDS_MAX_DEFAULT, out);
}

int plan_covers(const struct request *r, const struct sequential_plan *plan, int n)
{
    const int last = plan->rounds[plan->n - 1];
    return n <= last ? 0
                     : err_set(ERR_USAGE, "%s: there are %d rounds, and the last look is at %d",
                               r->where, n, last);
}
