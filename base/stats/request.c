/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a request holds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/stats/request.h"

int request_room(struct request *r, int n, struct values *out)
{
    *out = (struct values){0};
    double **longer = realloc(r->owned, ((size_t)r->owned_n + 1) * sizeof *longer);
    if (longer) r->owned = longer;
    out->x = longer ? malloc((n > 0 ? (size_t)n : 1) * sizeof *out->x) : NULL;
    if (!out->x) return mem_error("%d numbers", n);
    r->owned[r->owned_n++] = out->x;
    return 0;
}

int request_values(struct request *r, const json_t *from, const char *key, int least,
                   struct values *out)
{
    json_t *array;
    *out = (struct values){0};
    TRY(js_get_array(from, r->where, key, &array));
    const size_t n = json_array_size(array);
    if (n < (size_t)least || n > STATS_VALUES_MAX)
        return err_set(ERR_USAGE, "%s: \"%s\": %d to %d numbers are expected, there are %zu",
                       r->where, key, least, STATS_VALUES_MAX, n);
    TRY(request_room(r, (int)n, out));
    for (size_t i = 0; i < n; i++) {
        const json_t *v = json_array_get(array, i);
        if (!json_is_number(v))
            return err_set(ERR_USAGE, "%s: \"%s\": element %zu is not a number", r->where, key,
                           i + 1);
        out->x[out->n++] = json_number_value(v);
    }
    return 0;
}

int request_same_length(const struct request *r, const char *a, int a_n, const char *b, int b_n)
{
    if (a_n == b_n) return 0;
    return err_set(ERR_USAGE, "%s: \"%s\" has %d numbers, \"%s\" %d: as many are expected",
                   r->where, a, a_n, b, b_n);
}

bool values_positive(const struct values *v)
{
    for (int i = 0; i < v->n; i++)
        if (!(v->x[i] > 0)) return false;
    return true;
}

int request_sides(struct request *r, const json_t *from, bool same, struct values *a,
                  struct values *b)
{
    TRY(request_values(r, from, "a", 1, a));
    TRY(request_values(r, from, "b", 1, b));
    if (same) TRY(request_same_length(r, "a", a->n, "b", b->n));
    if (values_positive(a) && values_positive(b)) return 0;
    return err_set(ERR_USAGE, "%s: ratios are those of numbers above 0", r->where);
}

#define LEVEL_MIN 1e-12 /* below, one minus it is one */

int request_level(const struct request *r, double *level)
{
    *level = NAN;
    if (json_object_get(r->json, "level")) TRY(js_get_real(r->json, r->where, "level", level));
    if (*level < LEVEL_MIN || *level > 1 - LEVEL_MIN)
        return err_set(ERR_USAGE, "%s: \"level\": a share between 0 and 1 is expected", r->where);
    return 0;
}

int request_points(struct request *r, struct values *x, struct values *y)
{
    TRY(request_values(r, r->json, "x", 1, x));
    TRY(request_values(r, r->json, "y", 1, y));
    return request_same_length(r, "x", x->n, "y", y->n);
}
