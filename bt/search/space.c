/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/search/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/writers/hint.h"
#include "io/writers/writer.h"

enum { HINTS_MAX = 40, CHANGES_MAX = 48 }; /* of one candidate; of one writer */
enum { FORMAT_COST = 1000 };               /* more than all settings */

/* The values of settings that are tried with a writer. */
struct changes {
    int n;
    struct io_value of[CHANGES_MAX];
};

static void changes_of(struct changes *to, const struct bt_candidate *c,
                       const struct io_surroundings *a)
{
    const struct io_setting *s;
    const unsigned caps = io_writer_caps(c->writer);
    to->n = 0;
    for (int i = 0; (s = io_setting_at(i)) != NULL && to->n <= CHANGES_MAX - IO_VALUES_MAX; i++)
        to->n += io_setting_values(s, caps, &c->tuning, a, &to->of[to->n]);
}

/* The candidate with a change. Hints are added to those that are there. */
static struct bt_candidate candidate_with(struct bt_space *s, const struct bt_candidate *from,
                                          const struct io_value *by)
{
    struct bt_candidate c = *from;
    if (!by->hint[0]) io_setting_put(by->setting, by->number, &c.tuning);
    if (!by->hint[0] || from->hints_n == HINTS_MAX) return c;
    const char **list = &s->list[s->lists_n];
    char *text = s->text[s->texts_n++];
    for (int h = 0; h < from->hints_n; h++)
        list[h] = from->hint[h];
    snprintf(text, IO_SETTING_TEXT_MAX, "%s", by->hint);
    list[from->hints_n] = text;
    c.hint = list;
    c.hints_n = from->hints_n + 1;
    s->lists_n += c.hints_n;
    return c;
}

static void add_candidate(struct bt_space *s, const struct bt_candidate *c,
                          enum bt_candidate_kind kind)
{
    if (s->n == BT_SPACE_MAX) return;
    s->candidate[s->n] = *c;
    s->kind[s->n++] = kind;
}

static bool is_hint(const struct io_value *v, const char *key)
{
    return v->setting->key && strcmp(v->setting->key, key) == 0;
}

/* Pairs worth a try: what goes around the page cache needs requests long enough to keep the device
 * busy, and memory for what is under way; the fewest that collect need room for what they collect. */
static bool is_promising_pair(const struct changes *with, int i, int j)
{
    const struct io_value *a = &with->of[i], *b = &with->of[j];
    const bool fewest = is_hint(a, "cb_nodes") && (i == 0 || !is_hint(&a[-1], "cb_nodes"));
    if (a->setting->cap == IO_CAP_DIRECT) return b->setting != a->setting && !b->setting->key;
    return fewest && is_hint(b, "cb_buffer_size");
}

int bt_space_make(struct bt_space *s, const struct bt_candidate *writer, int n,
                  const struct io_surroundings *around)
{
    struct changes *with = malloc(sizeof *with);
    *s = (struct bt_space){
        .candidate = calloc(BT_SPACE_MAX, sizeof *s->candidate),
        .kind = calloc(BT_SPACE_MAX, sizeof *s->kind),
        .text = calloc(2 * BT_SPACE_MAX, sizeof *s->text),
        .list = calloc(2 * BT_SPACE_MAX * (HINTS_MAX + 1), sizeof *s->list),
    };
    const bool all = with && s->candidate && s->kind && s->text && s->list;
    for (int w = 0; all && w < n; w++)
        add_candidate(s, &writer[w], BT_AS_IT_STANDS);
    for (int kind = BT_ONE_SETTING; all && kind <= BT_PAIR; kind++)
        for (int w = 0; w < n; w++) {
            changes_of(with, &writer[w], around);
            for (int i = 0; i < with->n && s->n < BT_SPACE_MAX; i++) {
                if (kind == BT_ONE_SETTING) {
                    const struct bt_candidate c = candidate_with(s, &writer[w], &with->of[i]);
                    add_candidate(s, &c, BT_ONE_SETTING);
                }
                for (int j = 0; kind == BT_PAIR && j < with->n && s->n < BT_SPACE_MAX; j++) {
                    if (!is_promising_pair(with, i, j)) continue;
                    const struct bt_candidate one = candidate_with(s, &writer[w], &with->of[i]);
                    const struct bt_candidate two = candidate_with(s, &one, &with->of[j]);
                    add_candidate(s, &two, BT_PAIR);
                }
            }
        }
    free(with);
    return all ? 0 : mem_error("the candidates of --io auto");
}

const struct io_setting *bt_space_differ(const struct bt_candidate *a, const struct bt_candidate *b)
{
    const struct io_setting *s, *only = NULL;
    const unsigned caps = io_writer_caps(a->writer);
    char x[IO_SETTING_TEXT_MAX], y[IO_SETTING_TEXT_MAX];
    if (strcmp(a->writer, b->writer) != 0) return NULL;
    for (int i = 0; (s = io_setting_at(i)) != NULL; i++) {
        if (!(caps & s->cap)) continue;
        io_setting_text(s, &a->tuning, a->hints_n, a->hint, x);
        io_setting_text(s, &b->tuning, b->hints_n, b->hint, y);
        if (strcmp(x, y) == 0) continue;
        if (only) return NULL;
        only = s;
    }
    return only;
}

bool bt_space_yardstick(const struct bt_space *s, int i)
{
    return s->kind[i] == BT_AS_IT_STANDS &&
           (io_writer_caps(s->candidate[i].writer) & IO_CAP_YARDSTICK) != 0;
}

int bt_space_cost(const struct bt_space *s, int i)
{
    const struct bt_candidate *c = &s->candidate[i];
    json_t *options = bt_candidate_options(c);
    const json_t *word;
    size_t at;
    int cost = strcmp(c->writer, io_writer_plain()->name) == 0 ? 0 : 1;
    json_array_foreach(options, at, word) cost +=
        strncmp(json_string_value(word), "--", 2) == 0 ? 1 : 0;
    json_decref(options);
    const bool serial = (io_writer_caps(c->writer) & IO_CAP_SERIAL_FILE) != 0;
    return serial && io_writer_format(c->writer) == IO_RAW ? cost : cost + FORMAT_COST;
}

void bt_space_free(struct bt_space *s)
{
    free(s->candidate);
    free(s->kind);
    free(s->text);
    free(s->list);
    *s = (struct bt_space){0};
}

int bt_space_take(struct bt_space *s, const struct bt_candidate *c)
{
    char label[BT_LABEL_MAX], other[BT_LABEL_MAX];
    bt_candidate_label(c, label);
    for (int i = 0; i < s->n; i++) {
        bt_candidate_label(&s->candidate[i], other);
        if (strcmp(label, other) == 0) return i;
    }
    if (s->n == BT_SPACE_MAX) return -1;
    add_candidate(s, c, BT_KNOWN);
    return s->n - 1;
}
