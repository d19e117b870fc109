/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/beffio/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/units.h"

#define CACHE_FACTOR 20   /* [RK01, 5.4]: data of an access against the cache */
#define CACHED_MOST  0.05 /* of the files may lie in memory where it was dropped from there */

static double rate(struct beffio_amount a)
{
    return a.s > 0 ? (double)a.bytes / a.s : NAN;
}

/* Everything, with or without the time for making and removing files. */
static void values_of(const struct beffio_measured *m, bool counted, struct beffio_values *v)
{
    struct beffio_amount all = {0};
    for (int a = 0; a < BEFFIO_ACCESSES; a++) {
        struct beffio_amount sum = {0};
        double types = 0, weighted = 0;
        for (int no = 0; no < BEFFIO_PATTERNS; no++) {
            const int u = beffio_pattern(no, BEFFIO_WORD_BYTES).u;
            v->pattern[a][no] = rate(m->pattern[a][no]);
            if (u > 0) weighted += u * v->pattern[a][no];
        }
        for (int t = 0; t < BEFFIO_TYPES; t++) {
            struct beffio_amount type = m->type[a][t];
            if (counted && type.s > 0 && a == BEFFIO_WRITE) type.s += m->create_s[t];
            if (counted && type.s > 0 && a == BEFFIO_READ) type.s += m->remove_s[t];
            v->type[a][t] = rate(type);
            v->type_s[a][t] = type.s;
            types += (t == BEFFIO_SCATTER ? 2 : 1) * v->type[a][t];
            sum.bytes += type.bytes;
            sum.s += type.s;
        }
        v->access[a] = types / (BEFFIO_TYPES + 1);
        v->weighted[a] = weighted / BEFFIO_U_SUM;
        v->plain[a] = rate(sum);
        v->access_bytes[a] = sum.bytes;
        all.bytes += sum.bytes;
        all.s += sum.s;
    }
    double write = v->type[BEFFIO_REWRITE][BEFFIO_SCATTER];
    for (int t = 0; t < BEFFIO_TYPES; t++)
        write += v->type[BEFFIO_WRITE][t];
    v->write_side = write / (BEFFIO_TYPES + 1);
    v->total = rate(all);
    v->partition[BEFFIO_0_5] =
        (v->weighted[BEFFIO_WRITE] + v->weighted[BEFFIO_REWRITE] + v->weighted[BEFFIO_READ]) / 3;
    v->partition[BEFFIO_1_X] = 0.25 * v->access[BEFFIO_WRITE] + 0.25 * v->access[BEFFIO_REWRITE] +
                               0.5 * v->access[BEFFIO_READ];
    v->partition[BEFFIO_2_1] = sqrt(v->write_side * v->access[BEFFIO_READ]);
}

void beffio_values(const struct beffio_schedule *s, const struct beffio_measured *m,
                   struct beffio_values *v)
{
    values_of(m, beffio_counts(s, s->definition), v);
    for (int d = 0; d < BEFFIO_DEFINITIONS; d++) {
        struct beffio_values other;
        values_of(m, beffio_counts(s, (enum beffio_definition)d), &other);
        v->partition[d] = other.partition[d];
    }
    if (s->definition == BEFFIO_2_1 && !s->all_rewrites)
        v->access[BEFFIO_REWRITE] = v->type[BEFFIO_REWRITE][BEFFIO_SCATTER];
}

double beffio_minutes(int64_t bytes, double bytes_per_s)
{
    return bytes_per_s > 0 ? (double)bytes / bytes_per_s / 60 : NAN;
}

void beffio_honesty(const struct beffio_facts *f, struct beffio_honesty *h)
{
    char moved[UNITS_TEXT_MAX], cache[UNITS_TEXT_MAX];
    const double least = (double)f->least_bytes, asked = CACHE_FACTOR * (double)f->cache_bytes;
    h->factor = least / (double)f->cache_bytes;
    const bool dropped = f->cached_share <= CACHED_MOST;
    const bool elsewhere = f->shifted && !isfinite(f->cached_share);
    h->honest = !f->in_memory && (least >= asked || dropped || elsewhere);
    int used = snprintf(h->words, sizeof h->words,
                        "each access moved %s, %.3g times the %s that may cache it (the rule is %d "
                        "times)",
                        units_bytes(least, moved), h->factor,
                        units_bytes((double)f->cache_bytes, cache), CACHE_FACTOR);
    char *at = h->words + used;
    const size_t room = sizeof h->words - (size_t)used;
    if (f->in_memory)
        snprintf(at, room, "; the file system itself lies in memory");
    else if (dropped)
        snprintf(at, room, "; %.1f %% of the files lay in memory before they were read%s%s%s",
                 100 * f->cached_share, f->behind ? "; what " : "", f->behind ? f->behind : "",
                 f->behind ? " is not seen" : "");
    else if (elsewhere)
        snprintf(at, room, "; each process read data written on another node");
    else if (!h->honest) {
        if (isfinite(f->cached_share))
            used += snprintf(at, room, "; %.0f %% of the files lay in memory before they were read",
                             100 * f->cached_share);
        if (f->hides)
            used += snprintf(h->words + used, sizeof h->words - (size_t)used,
                             "; what memory holds for this file system, or below it, is not "
                             "seen");
        else
            used +=
                snprintf(h->words + used, sizeof h->words - (size_t)used, "; --drop-cache%s helps",
                         f->nodes_n > 1 ? " or --shift-read node" : "");
        /* What was moved at the limit of space does not grow with T. */
        if (least > 0 && !f->capped)
            snprintf(h->words + used, sizeof h->words - (size_t)used, "%s -T %.0f at this rate%s",
                     f->hides ? ";" : ", or", ceil(f->schedule->t_s * asked / least),
                     f->hides ? " would do" : "");
    }
}

const char *beffio_criterion_name(enum beffio_criterion c)
{
    static const char *const name[BEFFIO_CRITERIA] = {
        [BEFFIO_TIME] = "scheduled_time",      [BEFFIO_POINTERS] = "shared_pointers",
        [BEFFIO_ERRORS] = "no_errors",         [BEFFIO_CAP] = "not_capped",
        [BEFFIO_WHOLE] = "not_quick",          [BEFFIO_SYNC] = "no_unique_open",
        [BEFFIO_PARTITIONS] = "all_partitions"};
    return name[c];
}

__attribute__((format(printf, 3, 4))) static void decide(struct beffio_criterion_result *r,
                                                         bool met, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(r->words, sizeof r->words, fmt, args);
    va_end(args);
    r->met = met;
}

bool beffio_judge(const struct beffio_facts *f, struct beffio_criterion_result r[BEFFIO_CRITERIA])
{
    const struct beffio_schedule *s = f->schedule;
    const double asked_s = beffio_valid_time_s(s->definition);
    decide(&r[BEFFIO_TIME], s->t_s >= asked_s,
           "scheduled time %g s %s; definition %s asks for at least %g s", s->t_s,
           s->definition == BEFFIO_2_1 ? "for all partitions" : "per partition",
           beffio_definition_name(s->definition), asked_s);
    decide(&r[BEFFIO_POINTERS], f->shared, "%s",
           f->shared ? "type 1 used the shared file pointer"
                     : "type 1 ran without the shared file pointer (--noshared)");
    char elsewhere[96] = "";
    if (f->elsewhere_n > 0)
        snprintf(elsewhere, sizeof elsewhere,
                 ", %" PRId64 " in other partitions or repetitions of the run", f->elsewhere_n);
    decide(&r[BEFFIO_ERRORS], f->errors_n == 0 && f->elsewhere_n == 0 && !f->unchecked,
           "%" PRId64 " wrong values in what was read%s%s", f->errors_n, elsewhere,
           f->unchecked ? ", of which --check none looked at the last calls only" : "");
    decide(&r[BEFFIO_CAP], !f->capped, "%s",
           !f->capped ? "space did not limit the writing"
           : f->quick ? "writing ended at the limit of --quick, or of the space that is free"
                      : "writing was cut short for want of space: free some, or raise --max-space");
    decide(&r[BEFFIO_WHOLE], !f->quick, "%s",
           f->quick ? "--quick is a trial run" : "sizes and times as defined");
    /* With it a library may put off every sync until closing [RK01, 5.4]; 2.1 had it by default. */
    const bool sync = !f->unique || s->definition == BEFFIO_2_1;
    decide(&r[BEFFIO_SYNC], sync, "files were opened %s MPI_MODE_UNIQUE_OPEN%s",
           f->unique ? "with" : "without",
           sync ? "" : " (--unique), which this definition does not allow");
    decide(&r[BEFFIO_PARTITIONS], f->left_n == 0, "%d of %d partitions were measured%s",
           s->partitions_n - f->left_n, s->partitions_n,
           f->left_n > 0 ? ", then the run ended" : "");
    bool valid = true;
    for (int c = 0; c < BEFFIO_CRITERIA; c++)
        valid = valid && r[c].met;
    return valid;
}
