/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "verify/judge.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/plain.h"
#include "base/units.h"
#include "bt/solver/problem.h"

/* Published mean norms are those of this many steps between dumps, [BT] section 11. */
#define MEAN_INTERVAL 5

/* Classes whose error norms were seen to fall, all five of them, from each dump to the next. */
#define FALLING "SWAB"

static const char *const verdicts[CHECK_VERDICTS] = {
    [CHECK_VERIFIED] = "VERIFIED", [CHECK_PARTLY] = "VERIFIED IN PART",
    [CHECK_NORMS] = "NORMS RIGHT", [CHECK_PLAUSIBLE] = "PLAUSIBLE",
    [CHECK_FAILED] = "WRONG",
};

const char *judge_verdict(enum check_verdict v)
{
    return verdicts[v];
}

static bool looked_at(const struct check_dump *d)
{
    return d->state == CHECK_RIGHT || d->state == CHECK_WRONG || d->state == CHECK_UNJUDGED;
}

/* Whether the dumps are those of steps I_W, 2 I_W, ..., N_S. */
static bool full_set(const struct check *c, int64_t interval, int64_t steps)
{
    if (c->checked_n != c->shape.dumps_n || c->checked_n != steps / interval) return false;
    if (steps % interval != 0) return false;
    for (int64_t d = 0; c->has_manifest && d < c->dumps_n; d++)
        if (c->dump[d].step != (d + 1) * interval) return false;
    return true;
}

static void compare(struct check_norms *norms, const struct bt_reference *ref, const double *x,
                    const double *published)
{
    norms->ref = ref;
    norms->deviation = bt_reference_deviation(x, published);
}

static void compare_mean(struct check *c, const struct bt_reference *ref, int64_t interval)
{
    if (interval == MEAN_INTERVAL && ref->has_mean && full_set(c, interval, ref->steps))
        compare(&c->mean, ref, c->mean_xce, ref->mean_error);
}

/* With the published norms of the class that the manifest tells. Without one a file with the dumps
 * of a class, in number and size, is taken for that. */
static void compare_norms(struct check *c)
{
    const struct manifest *m = &c->manifest;
    const struct bt_reference *ref;
    if (c->has_manifest) {
        ref = bt_reference_find(c->shape.n, m->steps, m->dt);
        if (ref) compare_mean(c, ref, m->interval);
        for (int64_t d = 0; ref && d < c->dumps_n; d++)
            if (looked_at(&c->dump[d]) && c->dump[d].step == ref->steps) {
                compare(&c->final, ref, c->dump[d].xce, ref->error);
                c->final_dump = d;
            }
        return;
    }
    for (const char *cls = "SWABCDEF"; *cls; cls++) {
        struct bt_problem p;
        if (bt_problem_class(*cls, &p) != 0 || p.n != c->shape.n) continue;
        ref = bt_reference_find(p.n, p.steps, p.dt);
        const int64_t intervals[2] = {MEAN_INTERVAL, p.interval};
        for (int w = 0; ref && w < 2; w++) {
            if (!full_set(c, intervals[w], ref->steps)) continue;
            compare_mean(c, ref, intervals[w]);
            compare(&c->final, ref, c->dump[c->dumps_n - 1].xce, ref->error);
            c->final_dump = c->dumps_n - 1;
        }
    }
}

/* Where a class's norms come from. */
static const char *norms_origin(const struct bt_reference *ref)
{
    return ref->computed ? "those computed for fewer steps" : "the published ones";
}

static void judge_norms(struct check *c, const struct check_norms *norms, const char *what)
{
    if (!norms->ref || norms->deviation <= BT_TOLERANCE) return;
    finding_add(&c->findings, "norm", -1,
                "%s are not %s of class %c: largest relative deviation %.1e, allowed "
                "%.0e%s",
                what, norms_origin(norms->ref), norms->ref->cls, norms->deviation, BT_TOLERANCE,
                c->has_manifest
                    ? ""
                    : "; without a manifest the file is taken for a run of this class; if "
                      "dt or the number of steps was another one, compare with a listing "
                      "(--against) and give --dumps");
}

/* Without a manifest nothing but the norms, which fall while the solution becomes steady, tells
 * whether the dumps are in the order in which they were made. Of a file with the dumps of a class. */
static void judge_order(struct check *c)
{
    const char cls = c->has_manifest || !c->final.ref ? '\0' : c->final.ref->cls;
    if (!cls || !strchr(FALLING, cls)) return;
    for (int64_t d = 1; d < c->dumps_n; d++)
        for (int m = 0; m < BT_NCOMP; m++) {
            const double before = c->dump[d - 1].xce[m], after = c->dump[d].xce[m];
            if (after < before) continue;
            finding_add(&c->findings, "order", d,
                        "the dumps are not those of a run of class %c in their order: error norms "
                        "fall from dump to dump there, that of U_%d rises from %.6e in dump "
                        "%" PRId64 " to %.6e in dump %" PRId64,
                        cls, m, before, d - 1, after, d);
            return;
        }
    c->order = cls;
}

static void judge_listing(struct check *c)
{
    const struct listing *l = &c->listing;
    if (l->wrong_n > 0)
        finding_add(&c->findings, "listing", l->first_dump,
                    "the listing %s disagrees in %" PRId64 " of %" PRId64
                    " values, first in dump %" PRId64 ", U_%d(%" PRId64 ",%" PRId64 ",%" PRId64
                    "): the file has %.10f, the listing %.10f in line %" PRId64,
                    l->path, l->wrong_n, l->compared_n, l->first_dump, l->first_m, l->first_i,
                    l->first_i, l->first_i, l->first_have, l->first_want, l->first_line);
    if (l->ends_early)
        finding_add(&c->findings, "listing", -1,
                    "the listing %s ends after %" PRId64
                    " values, before the dumps of the file do: it is of another run or cut off",
                    l->path, l->compared_n);
    if (l->goes_on)
        finding_add(&c->findings, "listing", -1,
                    "the listing %s goes on after the values of the file's %" PRId64 " dumps",
                    l->path, c->dumps_n);
}

void judge(struct check *c)
{
    for (int m = 0; m < BT_NCOMP; m++) {
        double sum = 0;
        for (int64_t d = 0; d < c->dumps_n; d++)
            if (looked_at(&c->dump[d])) sum += c->dump[d].xce[m];
        c->mean_xce[m] = c->checked_n > 0 ? sum / (double)c->checked_n : 0;
    }
    if (c->checked_n > 0) compare_norms(c);
    if (c->findings.n == 0) {
        judge_norms(c, &c->mean, "the mean error norms");
        judge_norms(c, &c->final, "the error norms of the final state");
    }
    if (c->findings.n == 0) judge_order(c);
    judge_listing(c);
    if (c->checked_n == 0 && c->findings.n == 0)
        finding_add(&c->findings, "size", -1,
                    "no dump of this file is complete: there is nothing to verify");
    if (c->findings.n > 0)
        c->verdict = CHECK_FAILED;
    else if (c->checked_n < c->shape.dumps_n)
        c->verdict = CHECK_PARTLY;
    else if (c->has_manifest || c->listing.compared_n > 0)
        c->verdict = CHECK_VERIFIED;
    else if (c->mean.ref || c->final.ref)
        c->verdict = CHECK_NORMS;
    else
        c->verdict = CHECK_PLAUSIBLE;
}

/* Adds a sentence. */
static void __attribute__((format(printf, 2, 3))) add_sentence(json_t *list, const char *fmt, ...)
{
    char text[320];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    json_array_append_new(list, js_text(plain_text(text)));
}

json_t *judge_proved(const struct check *c)
{
    json_t *s = json_array();
    const bool listed = c->listing.compared_n > 0;
    if (c->findings.n > 0) return s;
    if (c->has_manifest)
        add_sentence(
            s, "every value of %" PRId64 " dump%s is bit for bit what the run passed to its writer",
            c->checked_n, units_plural(c->checked_n));
    if (c->mean.ref)
        add_sentence(s,
                     "the mean error norms of dumps 0 to %" PRId64
                     " are %s of class %c (largest deviation %.1e)",
                     c->dumps_n - 1, norms_origin(c->mean.ref), c->mean.ref->cls,
                     c->mean.deviation);
    if (c->final.ref)
        add_sentence(
            s,
            "the final state, dump %" PRId64 ", has the %s error norms of class %c%s (largest "
            "deviation %.1e)",
            c->final_dump, c->final.ref->computed ? "computed" : "published", c->final.ref->cls,
            c->final.ref->computed ? " with fewer steps" : "", c->final.deviation);
    if (c->order)
        add_sentence(s, "the norms fall from dump to dump, as those of class %c do", c->order);
    if (listed)
        add_sentence(s,
                     "%" PRId64
                     " values on the diagonal agree with the listing (largest difference %.1e)",
                     c->listing.compared_n, c->listing.deviation);
    if (!c->has_manifest && c->checked_n > 0)
        add_sentence(s, "all values are finite and those on the faces of the grid are exact");
    return s;
}

/* What is not proved of the dumps, since no digest covers it. */
static void say_unchecked(const struct check *c, json_t *s)
{
    const bool listed = c->listing.compared_n > 0;
    add_sentence(
        s,
        "there is no manifest %.200s: values were not checked one by one, single wrong values "
        "may go unnoticed",
        c->manifest_path);
    if (c->final.ref && !c->mean.ref && c->final_dump > 0 && !listed)
        add_sentence(s, "dumps 0 to %" PRId64 ": no norms are published for them",
                     c->final_dump - 1);
    if (c->checked_n > 1 && !listed && !c->order)
        add_sentence(s, "that the dumps are in the order in which they were made");
}

json_t *judge_not_proved(const struct check *c)
{
    json_t *s = json_array();
    if (c->findings.n > 0) return s;
    if (c->checked_n != c->shape.dumps_n)
        add_sentence(s, "%" PRId64 " of %" PRId64 " dumps are not complete: the run was cut short",
                     c->shape.dumps_n - c->checked_n, c->shape.dumps_n);
    if (!c->has_manifest) say_unchecked(c, s);
    if (!c->mean.ref && !c->final.ref && c->listing.compared_n == 0)
        add_sentence(s,
                     "that the solution itself is right: no published norms apply to these dumps%s",
                     c->has_manifest ? "" : ", as far as can be seen without a manifest");
    return s;
}

json_t *judge_notes(const struct check *c)
{
    json_t *s = json_array();
    const char *slash = strrchr(c->path, '/'), *name = slash ? slash + 1 : c->path;
    if (c->has_manifest && strcmp(c->manifest.file, name) != 0)
        add_sentence(s, "the manifest names another file: %s", c->manifest.file);
    if (c->elsewhere)
        add_sentence(s, "the manifest says of another file where its dumps lie (file_bytes, "
                        "data_offset, chunk, endian): this one was written anew, as by h5repack or "
                        "nccopy");
    return s;
}
