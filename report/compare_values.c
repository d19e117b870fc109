/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results that have a headline each: several results on a side are its sample. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "report/compare.h"

enum { KEYS_MAX = 6 };

static const struct value {
    const char *kind, *name, *at, *unit;
    bool higher_better;
    const char *keys[KEYS_MAX]; /* must be the same on both sides */
} values[] = {
    {"nht1-beff",
     "b_eff",
     "result.b_eff_bytes_per_s",
     "bytes/s",
     true,
     {"definition", "system.ranks", "memory.lmax_bytes", "result.valid"}},
    {"nht1-beff",
     "latency of rings and random patterns",
     "result.latency_s",
     "s",
     false,
     {"definition", "system.ranks"}},
    {"nht1-beffio",
     "b_eff_io",
     "b_eff_io.bytes_per_s",
     "bytes/s",
     true,
     {"b_eff_io.definition", "b_eff_io.procs", "b_eff_io.valid", "schedule.t_s",
      "schedule.termination"}},
};

/* malloc'ed; n: [out] how many. */
static double *sample(const struct docs *docs, const struct value *v, int *n)
{
    double *x = malloc((size_t)docs->n * sizeof *x);
    *n = 0;
    for (int i = 0; x && i < docs->n; i++) {
        const double one = doc_real(docs->doc[i].root, v->at);
        if (strcmp(docs->doc[i].kind, v->kind) == 0 && one > 0) x[(*n)++] = one;
    }
    return x;
}

static const struct doc *first(const struct docs *docs, const char *kind)
{
    for (int i = 0; i < docs->n; i++)
        if (strcmp(docs->doc[i].kind, kind) == 0) return &docs->doc[i];
    return NULL;
}

static char *show(const json_t *v)
{
    return v ? json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
}

/* All results of both sides against the first one of A. */
static void agree(struct compare *c, const struct docs *docs, const struct value *v,
                  const struct doc *model)
{
    for (int i = 0; i < docs->n; i++)
        for (int k = 0; k < KEYS_MAX && v->keys[k]; k++) {
            const json_t *x = doc_at(model->root, v->keys[k]);
            const json_t *y = doc_at(docs->doc[i].root, v->keys[k]);
            const bool same = x == y || json_equal(x, y); /* both may be missing */
            if (strcmp(docs->doc[i].kind, v->kind) != 0 || same) continue;
            char *a = show(x), *b = show(y);
            compare_say(c->reasons, "%s: %s is %.60s in %s, %.60s in %s", v->name, v->keys[k],
                        a ? a : "unknown", model->path, b ? b : "unknown", docs->doc[i].path);
            free(a);
            free(b);
        }
}

static int add(struct compare *c, const struct docs *a, const struct docs *b, const struct value *v)
{
    struct compare_metric m = {.unit = v->unit, .higher_better = v->higher_better};
    m.a = sample(a, v, &m.a_n);
    m.b = sample(b, v, &m.b_n);
    int rc = m.a && m.b ? 0 : err_set(ERR_NOMEM, "no memory for the comparison");
    if (rc == 0 && m.a_n > 0 && m.b_n > 0) {
        m.name = strdup(v->name);
        rc = compare_add(c, &m);
    }
    free(m.a);
    free(m.b);
    return rc;
}

int compare_values(struct compare *c, const struct docs *a, const struct docs *b)
{
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        const struct value *v = &values[i];
        const struct doc *model = first(a, v->kind);
        if (!model || !first(b, v->kind)) continue;
        agree(c, a, v, model);
        agree(c, b, v, model);
        TRY(add(c, a, b, v));
    }
    return 0;
}
