/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "verify/summary.h"

#include <inttypes.h>

#include "base/columns.h"
#include "base/json.h"
#include "base/plain.h"
#include "verify/judge.h"

#define HEAD_DUMPS     4 /* dumps at the start that get a line; the last one gets one too */
#define PRINT_FINDINGS 12

static const char *const states[CHECK_STATES] = {
    [CHECK_RIGHT] = "right",         [CHECK_WRONG] = "WRONG",
    [CHECK_UNJUDGED] = "not judged", [CHECK_INCOMPLETE] = "not complete",
    [CHECK_MISSING] = "missing",
};

static void add_norms(struct columns *t, const double x[BT_NCOMP])
{
    columns_cell(t, "%13.6e %13.6e %13.6e %13.6e %13.6e", x[0], x[1], x[2], x[3], x[4]);
}

static void print_shape(FILE *to, const struct check *c)
{
    const struct shape *s = &c->shape;
    const struct manifest *m = &c->manifest;
    if (s->n == 0 || s->layout == SHAPE_UNKNOWN || s->endian == SHAPE_UNKNOWN) return;
    if (c->format != SHAPE_RAW && !c->library[0]) return; /* which could not be opened */
    fprintf(to, "  N = %" PRId64 ", layout %s, %s%s (%s), %" PRId64 " bytes\n", s->n,
            shape_layout_name(s->layout), c->library[0] ? c->library : shape_endian_name(s->endian),
            c->library[0] ? "" : " endian",
            c->library[0]     ? "from its dimensions"
            : c->shape_found  ? "inferred from the values"
            : c->has_manifest ? "from the manifest"
                              : "as given",
            c->file_bytes);
    if (c->has_manifest)
        fprintf(to,
                "  run %s, writer %s, kernel %s: %" PRId64
                " steps of dt = %g, a dump every %" PRId64 "\n",
                m->run_id, m->writer, m->kernel, m->steps, m->dt, m->interval);
}

/* The first and the last dumps and everything that is out of the ordinary. */
static bool worth_a_line(const struct check *c, int64_t d)
{
    const enum check_state state = c->dump[d].state;
    if (d < HEAD_DUMPS || d == c->dumps_n - 1) return true;
    return state == CHECK_WRONG || state != c->dump[d - 1].state;
}

static void print_dumps(FILE *to, const struct check *c)
{
    struct columns t;
    bool gap = false;
    if (c->dumps_n == 0 || !c->dump) return;
    columns_begin(&t, "7 6 -69  -0");
    columns_row(&t, "dump", "step", " error norms, m = 0..4", "verdict", NULL);
    for (int64_t d = 0; d < c->dumps_n; d++) {
        const struct check_dump *dump = &c->dump[d];
        if (!worth_a_line(c, d)) {
            if (!gap) columns_row(&t, "...", NULL);
            gap = true;
            continue;
        }
        gap = false;
        columns_cell(&t, "%" PRId64, d);
        if (dump->step < 0)
            columns_cell(&t, "-");
        else
            columns_cell(&t, "%" PRId64, dump->step);
        if (dump->state < CHECK_INCOMPLETE)
            add_norms(&t, dump->xce);
        else
            columns_cell(&t, "%s", "");
        columns_row(&t, states[dump->state], NULL);
    }
    if (c->checked_n > 0) {
        columns_cell(&t, "mean");
        columns_cell(&t, "%s", "");
        add_norms(&t, c->mean_xce);
        columns_row(&t, NULL);
    }
    columns_print(&t, to);
}

static void print_findings(FILE *to, const struct check *c)
{
    const int kept = findings_kept(&c->findings);
    const int shown = kept < PRINT_FINDINGS ? kept : PRINT_FINDINGS;
    for (int f = 0; f < shown; f++)
        fprintf(to, "%s %s\n", f == 0 ? "WRONG:" : "      ", c->findings.item[f].text);
    if (c->findings.n > shown)
        fprintf(to, "       and %" PRId64 " more findings\n", c->findings.n - shown);
}

/* Prints each sentence of a list (stolen) between two texts; first: what stands before the first.
 */
static void print_sentences(FILE *to, json_t *list, const char *first, const char *before,
                            const char *after)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        fprintf(to, "%s%s%s", i ? before : first, json_string_value(json_array_get(list, i)),
                after);
    json_decref(list);
}

void summary_print(FILE *to, const struct check *c, bool brief)
{
    char name[4200];
    if (!brief) {
        fprintf(to, "%s\n", plain_copy(name, sizeof name, c->path));
        print_shape(to, c);
        if (!c->has_manifest)
            fprintf(to, "  no manifest %s\n", plain_copy(name, sizeof name, c->manifest_path));
        print_sentences(to, judge_notes(c), "  note: ", "  note: ", "\n");
        print_dumps(to, c);
    }
    if (c->findings.n > 0) {
        print_findings(to, c);
        return;
    }
    fprintf(to, "%s:", judge_verdict(c->verdict));
    print_sentences(to, judge_proved(c), " ", "; ", "");
    fputs(".\n", to);
    print_sentences(to, judge_not_proved(c), "Not proved: ", "            ", ".\n");
}

static json_t *norms_json(const double x[BT_NCOMP])
{
    json_t *list = json_array();
    for (int m = 0; m < BT_NCOMP; m++)
        json_array_append_new(list, js_real(x[m]));
    return list;
}

static json_t *index_json(int64_t i)
{
    return i < 0 ? json_null() : json_integer(i);
}

static json_t *finding_json(const struct finding *f)
{
    json_t *places = json_array();
    for (int p = 0; p < f->places_n; p++) {
        const struct place *at = &f->place[p];
        json_array_append_new(places, json_pack("{s:I,s:I,s:I,s:o}", "i", (json_int_t)at->i, "j",
                                                (json_int_t)at->j, "k", (json_int_t)at->k, "m",
                                                index_json(at->m)));
    }
    return json_pack("{s:s,s:o,s:o,s:o}", "kind", f->kind, "text", js_text(f->text), "dump",
                     index_json(f->dump), "places", places);
}

static json_t *dump_json(const struct check_dump *d, int64_t index)
{
    json_t *o = json_pack("{s:I,s:s,s:o}", "dump", (json_int_t)index, "verdict", states[d->state],
                          "step", index_json(d->step));
    if (d->state >= CHECK_INCOMPLETE) return o;
    js_set(o, "xce", norms_json(d->xce));
    js_set(o, "nonfinite_n", json_integer(d->nonfinite_n));
    js_set(o, "zeros_n", json_integer(d->zeros_n));
    js_set(o, "face_wrong_n", json_integer(d->face_wrong_n));
    js_set(o, "marker_wrong_n", json_integer(d->marker_wrong_n));
    return o;
}

static json_t *published_json(const struct check_norms *n)
{
    if (!n->ref) return json_null();
    const char cls[2] = {n->ref->cls, '\0'};
    json_t *o = json_pack("{s:s,s:b,s:f}", "class", cls, "computed", (int)n->ref->computed,
                          "tolerance", BT_TOLERANCE);
    js_set(o, "deviation", js_real(n->deviation));
    return o;
}

json_t *summary_json(const struct check *c, json_t *options, int status)
{
    const struct shape *s = &c->shape;
    const struct listing *l = &c->listing;
    json_t *findings = json_array(), *dumps = json_array();
    for (int f = 0; f < findings_kept(&c->findings); f++)
        json_array_append_new(findings, finding_json(&c->findings.item[f]));
    for (int64_t d = 0; c->dump && d < c->dumps_n; d++)
        json_array_append_new(dumps, dump_json(&c->dump[d], d));
    json_t *o =
        json_pack("{s:s,s:o,s:o,s:I,s:s,s:i}", "schema", "nht1-verify/1", "file", js_text(c->path),
                  "options", options, "file_bytes", (json_int_t)c->file_bytes, "verdict",
                  judge_verdict(c->verdict), "exit_status", status);
    js_set(o, "format", json_string(shape_format_name(c->format)));
    js_set(o, "library", c->library[0] ? js_text(c->library) : json_null());
    js_set(o, "manifest", c->has_manifest ? js_text(c->manifest_path) : json_null());
    js_set(o, "run_id", c->has_manifest ? json_string(c->manifest.run_id) : json_null());
    js_set(o, "shape",
           json_pack("{s:I,s:s,s:s,s:I,s:b}", "n", (json_int_t)s->n, "layout",
                     shape_layout_name(s->layout), "endian", shape_endian_name(s->endian), "dumps",
                     (json_int_t)s->dumps_n, "found_out", (int)c->shape_found));
    js_set(o, "dumps_checked_n", json_integer(c->checked_n));
    js_set(o, "dumps", dumps);
    js_set(o, "mean_xce", c->checked_n > 0 ? norms_json(c->mean_xce) : json_null());
    js_set(o, "published_mean", published_json(&c->mean));
    js_set(o, "published_final", published_json(&c->final));
    js_set(o, "listing",
           l->path[0] ? json_pack("{s:o,s:I,s:I}", "file", js_text(l->path), "compared_n",
                                  (json_int_t)l->compared_n, "wrong_n", (json_int_t)l->wrong_n)
                      : json_null());
    js_set(o, "findings_n", json_integer(c->findings.n));
    js_set(o, "findings", findings);
    js_set(o, "notes", judge_notes(c));
    js_set(o, "proved", judge_proved(c));
    js_set(o, "not_proved", judge_not_proved(c));
    return o;
}
