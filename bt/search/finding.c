/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/search/finding.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/balance.h"
#include "base/columns.h"
#include "base/json.h"
#include "base/plain.h"
#include "base/text.h"
#include "base/units.h"
#include "bt/search/choice.h"
#include "bt/command.h"
#include "bt/evidence.h"
#include "bt/machine.h"
#include "io/writers/hint.h"
#include "io/writers/writer.h"

#define WIDTH       96
#define EFFECTS_MAX 128
#define PRINTED_MAX 8 /* settings that mattered, runners-up: lines of text for each */

/* ------------------------------------------------------------------ effects of settings */

/* The effect of one value of a writer's setting, compared with that of the command line. */
struct effect {
    const char *writer;
    char setting[IO_SETTING_TEXT_MAX + 2], value[IO_SETTING_TEXT_MAX], against[IO_SETTING_TEXT_MAX];
    int rounds;
    double ratio, lo, hi;
};

static void value_text(const struct bt_candidate *c, const struct io_setting *s,
                       char out[IO_SETTING_TEXT_MAX])
{
    io_setting_text(s, &c->tuning, c->hints_n, c->hint, out);
}

/* All pairs of candidates that differ in one setting alone, which one of them has as the command line
 * has it. Returns how many effects. */
static int effects(const struct bt_search *s, struct effect *e)
{
    const struct bt_space *space = &s->space;
    struct race_pair pair[BT_SPACE_MAX];
    int n = 0;
    for (int a = 0; a < space->n; a++) {
        const struct bt_candidate *base = &space->candidate[a];
        if (space->kind[a] != BT_AS_IT_STANDS) continue;
        for (int b = 0; b < space->n && n < EFFECTS_MAX; b++) {
            /* One value of one setting: of the candidate that has it alone, and all that have it. */
            const struct io_setting *which = bt_space_differ(base, &space->candidate[b]);
            struct effect *to = &e[n];
            int pairs = 0;
            if (!which) continue;
            *to = (struct effect){.writer = base->writer};
            snprintf(to->setting, sizeof to->setting, "--%s", which->name);
            value_text(&space->candidate[b], which, to->value);
            value_text(base, which, to->against);
            for (int x = 0; x < space->n; x++)
                for (int y = 0; y < space->n && pairs < BT_SPACE_MAX; y++) {
                    const struct bt_candidate *with = &space->candidate[x];
                    const struct bt_candidate *without = &space->candidate[y];
                    char is[IO_SETTING_TEXT_MAX], was[IO_SETTING_TEXT_MAX];
                    if (strcmp(with->writer, base->writer) != 0 ||
                        bt_space_differ(with, without) != which)
                        continue;
                    value_text(with, which, is);
                    value_text(without, which, was);
                    if (strcmp(is, to->value) == 0 && strcmp(was, to->against) == 0)
                        pair[pairs++] = (struct race_pair){x, y};
                }
            to->rounds = race_effect(s->race, pair, pairs, &to->ratio, &to->lo, &to->hi);
            if (to->rounds > 0) n++;
        }
    }
    return n;
}

static int64_t dumps_of(const struct bt_search *s, int rung)
{
    const struct race_rung *all;
    bool last;
    const int n = race_rungs(s->race, &all, &last);
    return rung >= 1 && rung <= n ? all[rung - 1].dumps : 0;
}

static int64_t steps_of(const struct bt_job *job, int64_t dumps)
{
    const struct bt_problem *p = &job->setup->problem;
    return dumps >= bt_problem_dumps(p) ? p->steps : dumps * p->interval;
}

/* ------------------------------------------------------------------ how to use the best one */

/* Appends to a text of 1024 bytes. */
static void __attribute__((format(printf, 2, 3))) append_text(char *to, const char *fmt, ...)
{
    const size_t used = strlen(to);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(to + used, 1024 - used, fmt, ap);
    va_end(ap);
}

/* The command line that runs a candidate: that of this job with other settings. Malloc'ed; NULL
 * without memory. */
static char *command(const struct bt_job *job, const struct bt_candidate *c)
{
    /* Options that concern this job alone. */
    static const char *const own[] = {"quiet",   "profile", "known",   "json",
                                      "minutes", "seed",    "progress"};
    struct bt_options o = job->setup->opt;
    for (const struct conf_option *of = bt_program.options; of->name; of++) {
        bool drop = bt_setup_writers_option(of->name) != NULL; /* the candidate has its own */
        for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
            drop = drop || strcmp(of->name, own[i]) == 0;
        if (drop) (void)conf_set_default(of, &o);
    }
    o.io = c->writer;
    json_t *settings = bt_candidate_options(c);
    char *line = bt_command(job, &o, settings);
    json_decref(settings);
    return line;
}

static void add_form(json_t *to, const char *form, const char *text)
{
    if (text[0]) json_array_append_new(to, json_pack("{ss ss}", "form", form, "text", text));
}

/* The hints of a candidate in the forms that other programs take them in; readers: those of the
 * MPI-IO that it was found with. New reference. */
static json_t *hint_forms(const struct bt_candidate *c, unsigned readers)
{
    /* OMPIO's settings in the place of hints. */
    static const struct {
        const char *key, *variable, *value; /* NULL: that of the hint */
    } mca[] = {{"cb_nodes", "OMPI_MCA_io_ompio_num_aggregators", NULL},
               {"cb_buffer_size", "OMPI_MCA_io_ompio_bytes_per_agg", NULL},
               {"collective_buffering", "OMPI_MCA_fcoll", "individual"}};
    char romio[1024] = "", ompio[1024] = "", info[1024] = "", stripes[1024] = "";
    for (int h = 0; h < c->hints_n; h++) {
        const char *hint = c->hint[h], *value = strchr(hint, '=') + 1;
        const int key = (int)(value - hint) - 1;
        const unsigned by = io_hint_readers(hint) & readers;
        if (strncmp(hint, "striping_factor=", 16) == 0)
            append_text(stripes, "lfs setstripe -c %s FOLDER\n", value);
        if (!(io_writer_caps(c->writer) & IO_CAP_HINTS)) continue;
        append_text(info, "MPI_Info_set(info, \"%.*s\", \"%s\");\n", key, hint, value);
        if (by & IO_HINT_ROMIO) append_text(romio, "%.*s %s\n", key, hint, value);
        for (size_t i = 0; (by & IO_HINT_OMPIO) && i < sizeof mca / sizeof mca[0]; i++)
            if (strlen(mca[i].key) == (size_t)key && memcmp(mca[i].key, hint, (size_t)key) == 0)
                append_text(ompio, "export %s=%s\n", mca[i].variable,
                            mca[i].value ? mca[i].value : value);
    }
    json_t *to = json_array();
    add_form(to, "MPI_Info", info);
    add_form(to, "ROMIO_HINTS", romio);
    add_form(to, "OMPI_MCA", ompio);
    add_form(to, "lfs setstripe", stripes);
    return to;
}

/* What an earlier search has found, as a label; "" when there was none. */
static void known_label(const struct bt_search *s, char out[BT_LABEL_MAX])
{
    const char *writer = json_string_value(json_object_get(s->known, "writer"));
    char text[BT_LABEL_MAX];
    bt_label(writer ? writer : "", json_object_get(s->known, "options"), text);
    plain_copy(out, BT_LABEL_MAX, text);
}

/* ------------------------------------------------------------------ JSON */

static json_t *candidates_json(const struct bt_search *s, const struct race_standing *stand)
{
    static const char *const state[] = {
        [RACE_UNTRIED] = "untried", [RACE_IN] = "unjudged", [RACE_CUT] = "beaten",
        [RACE_SLOWER] = "beaten",   [RACE_TIED] = "tied",   [RACE_BEST] = "best",
        [RACE_FAILED] = "failed"};
    json_t *a = json_array();
    for (int i = 0; i < s->space.n; i++) {
        const struct race_standing *r = &stand[i];
        char label[BT_LABEL_MAX], why[128] = "";
        bt_candidate_label(&s->space.candidate[i], label);
        if (r->state == RACE_UNTRIED) snprintf(why, sizeof why, "no time for it");
        if (r->state == RACE_CUT)
            snprintf(why, sizeof why, "in the slower half after rung %d", r->rung);
        if (r->state == RACE_SLOWER)
            snprintf(why, sizeof why, "slower than the best in rung %d", r->rung);
        json_t *c = json_pack(
            "{si ss so ss si si so so so so ss so}", "id", i + 1, "writer",
            s->space.candidate[i].writer, "options", bt_candidate_options(&s->space.candidate[i]),
            "label", label, "rung", r->rung, "runs", r->runs, "t_t_s", js_real(r->t_t_s), "ratio",
            js_real(r->ratio), "lo", js_real(r->lo), "hi", js_real(r->hi), "state", state[r->state],
            "why", js_text(r->state == RACE_FAILED ? s->why[i] : why));
        json_array_append_new(a, c);
    }
    return a;
}

static json_t *effects_json(const struct bt_search *s)
{
    struct effect *e = calloc(EFFECTS_MAX, sizeof *e);
    json_t *a = json_array();
    const int n = e ? effects(s, e) : 0;
    for (int i = 0; i < n; i++)
        json_array_append_new(a, json_pack("{ss ss ss ss so so so si}", "writer", e[i].writer,
                                           "setting", e[i].setting, "value", e[i].value, "against",
                                           e[i].against, "ratio", js_real(e[i].ratio), "lo",
                                           js_real(e[i].lo), "hi", js_real(e[i].hi), "pairs",
                                           e[i].rounds));
    free(e);
    return a;
}

/* How many candidates of the last rung there are besides the plain one. least: [out] the smallest share of its time that one of them may
 * take by its interval; 1 where none may take less. */
static int finalists_of(const struct bt_search *s, const struct race_standing *stand, int rungs_n,
                        int plain, double *least)
{
    double ratio, lo, hi;
    int n = 0;
    *least = 1;
    for (int i = 0; i < s->space.n; i++) {
        if (i == plain || stand[i].rung != rungs_n || stand[i].state == RACE_FAILED) continue;
        n++;
        if (plain < 0) continue;
        (void)race_ratio(s->race, rungs_n, i, plain, &ratio, &lo, &hi);
        if (lo < *least) *least = lo;
    }
    return n;
}

/* The outcome of the search, in one sentence. */
static void answer_sentence(const struct bt_search *s, const struct race_standing *stand,
                            char out[1024])
{
    const int best = race_best(s->race), plain = race_plain(s->race);
    const struct race_rung *rung;
    bool last;
    char label[BT_LABEL_MAX], name[BT_LABEL_MAX], minutes[UNITS_TEXT_MAX], why[BALANCE_WHY];
    double ratio, lo, hi, needed, seconds, least = 1;
    int untried = 0, runs, disturbed;
    const int rungs_n = race_rungs(s->race, &rung, &last);
    const bool shared = bt_evidence_cores(&s->job->machine, why) != NULL;
    bool told = false; /* that ranks lacked processors */
    out[0] = '\0';
    if (best < 0) return;
    bt_candidate_label(&s->space.candidate[best], label);
    bt_candidate_label(&s->space.candidate[plain < 0 ? best : plain], name);
    const int finalists = last ? finalists_of(s, stand, rungs_n, plain, &least) : 0;
    switch (race_verdict(s->race)) {
    case RACE_WINNER:
        (void)race_ratio(s->race, rungs_n, best, plain, &ratio, &lo, &hi);
        append_text(out, "%s takes %.3f (%.3f to %.3f) of the time of %s.", label, ratio, lo, hi,
                    name);
        break;
    case RACE_NO_WINNER:
        append_text(out, "No winner: %s will do.", label);
        if (finalists > 0 && least < 1 - RACE_MARGIN)
            append_text(out,
                        " No other of the last rung (%d) was shown to be faster; %d rounds, the "
                        "most, do not exclude %.0f %%.",
                        finalists, rung[rungs_n - 1].rounds, 100 * (1 - least));
        else if (finalists > 0)
            append_text(out,
                        " No other of the last rung (%d) is faster by more than chance and %g %%.",
                        finalists, 100 * RACE_MARGIN);
        break;
    case RACE_UNDECIDED:
        append_text(out, "Undecided: %s will do until another is shown to be faster. ", label);
        race_needed(s->race, &needed, &seconds);
        told = race_disturbed(s->race, &runs, &disturbed);
        if (told && shared)
            append_text(out, "Ranks lacked processors in %d of %d runs of the last rung: %s.",
                        disturbed, runs, why);
        else if (told)
            append_text(out,
                        "In %d of %d runs of the last rung " BALANCE_TAKERS
                        " took processors from the ranks; search again when the computer does "
                        "nothing else, with no more threads than a quota allows.",
                        disturbed, runs);
        else if (last && isfinite(needed))
            append_text(
                out, "%d round%s of the last rung did not decide; about %.0f, --minutes %s, would.",
                rung[rungs_n - 1].rounds, units_plural(rung[rungs_n - 1].rounds), needed,
                units_minutes(seconds / 60, minutes));
        else if (last)
            append_text(out, "%d round%s of the last rung did not decide; more --minutes would.",
                        rung[rungs_n - 1].rounds, units_plural(rung[rungs_n - 1].rounds));
        else
            append_text(out, "The last rung had not begun.");
    }
    if (shared && !told) append_text(out, " Care: %s.", why);
    for (int i = 0; i < s->space.n; i++)
        untried += stand[i].state == RACE_UNTRIED;
    if (untried > 0)
        append_text(
            out,
            " %d of %d candidates were not tried for lack of time; more --minutes would try them.",
            untried, s->space.n);
}

static json_t *best_json(const struct bt_search *s, const struct race_standing *stand)
{
    static const char *const verdict[] = {
        [RACE_UNDECIDED] = "undecided", [RACE_WINNER] = "winner", [RACE_NO_WINNER] = "no winner"};
    const int plain = race_plain(s->race);
    char said[1024];
    const int best = race_best(s->race);
    double ratio, lo, hi;
    char label[BT_LABEL_MAX];
    if (best < 0) return json_null();
    const struct bt_candidate *c = &s->space.candidate[best];
    const int rung = stand[best].rung;
    json_t *against = json_array();
    char *line = command(s->job, c);
    for (int i = 0; i < s->space.n; i++) {
        if (!bt_space_yardstick(&s->space, i) || i == best) continue;
        if (race_ratio(s->race, rung, i, best, &ratio, &lo, &hi) == 0) continue;
        bt_candidate_label(&s->space.candidate[i], label);
        json_t *one = json_pack("{ss so so so}", "label", label, "ratio", js_real(ratio), "lo",
                                js_real(lo), "hi", js_real(hi));
        (void)race_ratio(s->race, rung, i, RACE_COMPUTE, &ratio, &lo, &hi);
        js_set(one, "zeta", js_real(ratio - 1));
        js_set(one, "zeta_lo", js_real(lo - 1));
        js_set(one, "zeta_hi", js_real(hi - 1));
        json_array_append_new(against, one);
    }
    double over_plain = NAN, over_lo = NAN, over_hi = NAN;
    if (best != plain && plain >= 0)
        (void)race_ratio(s->race, rung, best, plain, &over_plain, &over_lo, &over_hi);
    const int rounds = race_ratio(s->race, rung, best, RACE_COMPUTE, &ratio, &lo, &hi);
    answer_sentence(s, stand, said);
    bt_candidate_label(&s->space.candidate[plain < 0 ? best : plain], label);
    json_t *over = json_pack("{ss so so so}", "label", label, "ratio", js_real(over_plain), "lo",
                             js_real(over_lo), "hi", js_real(over_hi));
    bt_candidate_label(c, label);
    json_t *o = json_pack("{si ss ss ss so so so so so so sI sI si so so}", "id", best + 1, "label",
                          label, "verdict", verdict[race_verdict(s->race)], "answer", said, "plain",
                          over, "command", js_text(line), "t_t_s", js_real(stand[best].t_t_s),
                          "zeta", js_real(ratio - 1), "zeta_lo", js_real(lo - 1), "zeta_hi",
                          js_real(hi - 1), "steps", (json_int_t)steps_of(s->job, dumps_of(s, rung)),
                          "dumps", (json_int_t)dumps_of(s, rung), "rounds", rounds, "against",
                          against, "hints", hint_forms(c, s->readers));
    double needed, needed_s;
    int runs, disturbed;
    const bool spoiled = race_disturbed(s->race, &runs, &disturbed);
    js_set(o, "rung_runs", json_integer(runs));
    js_set(o, "disturbed_runs", json_integer(disturbed));
    race_needed(s->race, &needed, &needed_s);
    js_set(o, "rounds_needed",
           race_verdict(s->race) == RACE_UNDECIDED && !spoiled ? js_real(needed) : json_null());
    free(line);
    return o;
}

bool bt_finding_any(const struct bt_search *s)
{
    return s && s->race && race_best(s->race) >= 0;
}

json_t *bt_finding_json(const void *search)
{
    static const char *const ended[] = {[BT_SEARCH_SETTLED] = "settled",
                                        [BT_SEARCH_BUDGET] = "budget",
                                        [BT_SEARCH_INTERRUPTED] = "interrupted",
                                        [BT_SEARCH_KNOWN] = "known"};
    const struct bt_search *s = search;
    const struct bt_job *job = s->job;
    const char *utc = json_string_value(json_object_get(s->known, "utc"));
    char label[BT_LABEL_MAX];
    known_label(s, label);
    json_t *o = json_pack("{ss so so sI so so}", "ended", ended[s->end], "seconds",
                          js_real(s->seconds), "minutes", js_real(job->setup->opt.minutes), "seed",
                          (json_int_t)job->setup->seed, "known",
                          utc ? json_pack("{ss so ss}", "utc", utc, "age_s",
                                          js_real(bt_choice_age_s(utc)), "label", label)
                              : json_null(),
                          "left_out", json_incref(job->left_out));
    struct race_standing *stand = calloc((size_t)s->space.n + 1, sizeof *stand);
    if (s->race && stand) {
        const struct race_rung *rung;
        json_t *rungs = json_array();
        bool last;
        const int n = race_rungs(s->race, &rung, &last);
        for (int i = 0; i < n; i++)
            json_array_append_new(
                rungs, json_pack("{si sI sI si si sb}", "rung", i + 1, "steps",
                                 (json_int_t)steps_of(s->job, rung[i].dumps), "dumps",
                                 (json_int_t)rung[i].dumps, "rounds", rung[i].rounds,
                                 "candidates_n", rung[i].candidates_n, "last", last && i == n - 1));
        race_standings(s->race, stand);
        js_set(o, "rungs", rungs);
        js_set(o, "candidates", candidates_json(s, stand));
        js_set(o, "effects", effects_json(s));
        js_set(o, "best", best_json(s, stand));
    }
    free(stand);
    if (s->end == BT_SEARCH_KNOWN && json_is_object(json_object_get(s->known, "best")))
        js_set(o, "best", json_incref(json_object_get(s->known, "best")));
    return o;
}

/* ------------------------------------------------------------------ text */

void bt_finding_begin(const struct bt_search *s, FILE *to)
{
    const struct bt_job *job = s->job;
    char time[UNITS_TEXT_MAX], label[BT_LABEL_MAX], utc[32];
    size_t i;
    const json_t *one;
    if (s->known) {
        known_label(s, label);
        plain_copy(utc, sizeof utc, json_string_value(json_object_get(s->known, "utc")));
        plain_entry(to, "Known", "%s: found %.16s, %s ago, on this system%s", label, utc,
                    units_duration(fmax(0, bt_choice_age_s(utc)), time),
                    s->end == BT_SEARCH_KNOWN ? "; --minutes 5 searches anew"
                                              : "; has to be beaten in the last rung");
    }
    if (s->end == BT_SEARCH_KNOWN) return;
    const char *parts = NULL;
    for (int w = 0; w < job->setup->writers_n; w++)
        if (io_writer_caps(job->setup->candidate[w].writer) & IO_CAP_PARTS)
            parts = job->setup->candidate[w].writer;
    plain_entry(
        to, "Search",
        "%d candidate%s of %d writer%s, at most %s; each file is verified and removed%s%s%s",
        s->space.n, units_plural(s->space.n), job->setup->writers_n,
        units_plural(job->setup->writers_n), units_duration(60 * job->setup->opt.minutes, time),
        parts ? ", those of " : "", parts ? parts : "", parts ? " only removed" : "");
    json_array_foreach(job->left_out, i, one)
        plain_entry(to, "Left out", "%s: %s", json_string_value(json_object_get(one, "writer")),
                    json_string_value(json_object_get(one, "why")));
    fflush(to);
}

void bt_finding_rung(const struct bt_search *s, int rung, FILE *to)
{
    const struct race_rung *all;
    bool last;
    char name[16], ahead[BT_LABEL_MAX] = "none";
    const int n = race_rungs(s->race, &all, &last), first = race_ahead(s->race);
    if (rung > n) return;
    if (first >= 0) bt_candidate_label(&s->space.candidate[first], ahead);
    snprintf(name, sizeof name, "Rung %d", rung);
    plain_entry(to, name, "%d candidates, %lld dump%s each, %d round%s; ahead: %s",
                all[rung - 1].candidates_n, (long long)all[rung - 1].dumps,
                units_plural(all[rung - 1].dumps), all[rung - 1].rounds,
                units_plural(all[rung - 1].rounds), ahead);
    fflush(to);
}

/* "1.023 (0.990 to 1.051)"; "-" where it is not known. */
static const char *with_interval(char out[64], double x, double lo, double hi)
{
    if (isfinite(lo) && isfinite(hi))
        snprintf(out, 64, "%.3f (%.3f to %.3f)", x, lo, hi);
    else if (isfinite(x))
        snprintf(out, 64, "%.3f", x);
    else
        snprintf(out, 64, "-");
    return out;
}

static int by_effect(const void *a, const void *b)
{
    const struct effect *x = a, *y = b;
    const double p = fabs(log(x->ratio)), q = fabs(log(y->ratio));
    return (p < q) - (p > q);
}

static void print_effects(const struct bt_search *s, FILE *to)
{
    struct effect *e = calloc(EFFECTS_MAX, sizeof *e);
    const int n = e ? effects(s, e) : 0;
    int printed = 0;
    char text[64];
    struct columns t;
    columns_begin(&t, "  -14 -0");
    if (n > 0) qsort(e, (size_t)n, sizeof *e, by_effect);
    for (int i = 0; i < n && printed < PRINTED_MAX; i++) {
        if (!(e[i].lo > 1) && !(e[i].hi < 1)) continue;
        if (printed++ == 0)
            fprintf(
                to,
                "\nWhat mattered: T_T with a setting over T_T without it, 95 %% interval of each; "
                "one in twenty is chance\n");
        columns_cell(&t, "%s", e[i].writer);
        columns_cell(&t, "%s %s instead of %s: %s", e[i].setting, e[i].value, e[i].against,
                     with_interval(text, e[i].ratio, e[i].lo, e[i].hi));
    }
    columns_print(&t, to);
    free(e);
}

/* The candidates in a state, with their ratios. */
static void print_state(const struct bt_search *s, const struct race_standing *stand,
                        enum race_state state, const char *title, FILE *to)
{
    int printed = 0, n = 0;
    char label[BT_LABEL_MAX], text[64];
    struct columns t;
    columns_begin(&t, "  -44 -0");
    for (int i = 0; i < s->space.n; i++)
        n += stand[i].state == state;
    for (int i = 0; i < s->space.n && printed < PRINTED_MAX; i++) {
        if (stand[i].state != state) continue;
        if (printed++ == 0) fprintf(to, "\n%s\n", title);
        bt_candidate_label(&s->space.candidate[i], label);
        if (state == RACE_FAILED)
            plain_wrap(to, WIDTH, "  ", 4, s->why[i]);
        else
            columns_row(&t, label, with_interval(text, stand[i].ratio, stand[i].lo, stand[i].hi),
                        NULL);
    }
    columns_print(&t, to);
    if (n > printed) fprintf(to, "  and %d more\n", n - printed);
}

void bt_finding_print(const struct bt_search *s, FILE *to)
{
    struct race_standing *stand = calloc((size_t)s->space.n + 1, sizeof *stand);
    if (!stand || s->printed || !bt_finding_any(s)) {
        free(stand);
        return;
    }
    race_standings(s->race, stand);
    json_t *best = best_json(s, stand), *one;
    char text[64], ratio[64], label[BT_LABEL_MAX];
    int runs, disturbed;
    const bool spoiled = race_disturbed(s->race, &runs, &disturbed);
    const struct race_rung *rung;
    bool last;
    size_t i;
    (void)race_rungs(s->race, &rung, &last);
    fputc('\n', to);
    plain_entry(to, "Answer", "%s", json_string_value(json_object_get(best, "answer")));
    plain_line(to, "Best      %s", json_string_value(json_object_get(best, "label")));
    fprintf(to, "zeta      %s, paired, %lld dumps, %lld round%s of the %s rung\n",
            with_interval(text, js_number(best, "zeta"), js_number(best, "zeta_lo"),
                          js_number(best, "zeta_hi")),
            json_integer_value(json_object_get(best, "dumps")),
            json_integer_value(json_object_get(best, "rounds")),
            units_plural(json_integer_value(json_object_get(best, "rounds"))),
            last ? "last" : "newest");
    if (!spoiled && disturbed > 0) /* else the answer says it */
        plain_entry(to, "Disturbed",
                    BALANCE_TAKERS
                    " took processors from the ranks in %d of %d runs of the newest rung",
                    disturbed, runs);
    json_array_foreach(json_object_get(best, "against"), i, one)
    {
        snprintf(label, sizeof label, "%s", json_string_value(json_object_get(one, "label")));
        plain_line(to, "%-9s zeta %s; its T_T over that of the best: %s", label,
                   with_interval(text, js_number(one, "zeta"), js_number(one, "zeta_lo"),
                                 js_number(one, "zeta_hi")),
                   with_interval(ratio, js_number(one, "ratio"), js_number(one, "lo"),
                                 js_number(one, "hi")));
    }
    print_state(s, stand, RACE_TIED, "Cannot be told apart from the best: T_T over its T_T", to);
    print_state(s, stand, RACE_IN, "Not judged: T_T over that of the best", to);
    print_effects(s, to);
    print_state(s, stand, RACE_FAILED, "Failed, and left out:", to);
    fputs("\nRun it with\n", to);
    plain_line(to, "  %s", json_string_value(json_object_get(best, "command")));
    json_array_foreach(json_object_get(best, "hints"), i, one)
        fprintf(to, "%s, for other programs:\n%s", json_string_value(json_object_get(one, "form")),
                json_string_value(json_object_get(one, "text")));
    fputc('\n', to);
    json_decref(best);
    free(stand);
    fflush(to);
}
