/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/candidate.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "io/hint.h"
#include "io/writer.h"

#define KIB INT64_C(1024)
#define MIB (KIB * KIB)
/* What MPI-IO libraries collect on a rank at a time where nothing is said: ROMIO; OMPIO twice that. */
#define LIBRARY_BUFFER (16 * MIB)
#define HINTS_MAX      40 /* of one candidate */

/* ------------------------------------------------------------------ settings */

static const struct {
    const char *name;
    unsigned cap;    /* of the writers that obey it */
    const char *key; /* of a hint, else NULL */
} setting[] = {
    {"--aggregators", IO_CAP_AGGREGATORS, NULL},
    {"--buffer", IO_CAP_BUFFER, NULL},
    {"--staging", IO_CAP_STAGING, NULL},
    {"--direct", IO_CAP_DIRECT, NULL},
    {"--group", IO_CAP_GROUP, NULL},
    {"--chunk", IO_CAP_CHUNK, NULL},
    {"--hint cb_nodes", IO_CAP_HINTS, "cb_nodes"},
    {"--hint cb_buffer_size", IO_CAP_HINTS, "cb_buffer_size"},
    {"--hint collective_buffering", IO_CAP_HINTS, "collective_buffering"},
    {"--hint romio_cb_write", IO_CAP_HINTS, "romio_cb_write"},
    {"--hint romio_ds_write", IO_CAP_HINTS, "romio_ds_write"},
    {"--hint striping_factor", IO_CAP_SERIAL_FILE, "striping_factor"},
};
#define SETTINGS ((int)(sizeof setting / sizeof setting[0]))

const char *bt_setting_at(int i)
{
    return i >= 0 && i < SETTINGS ? setting[i].name : NULL;
}

bool bt_setting_obeyed(const struct bt_candidate *c, int i)
{
    return (io_writer_caps(c->writer) & setting[i].cap) != 0;
}

/* As on the command line: the largest of Gi, Mi and Ki that divides it. */
static void bytes_text(int64_t bytes, char out[BT_VALUE_MAX])
{
    const char *unit[] = {"", "Ki", "Mi", "Gi"};
    int u = 0;
    while (u < 3 && bytes > 0 && bytes % KIB == 0) {
        bytes /= KIB;
        u++;
    }
    snprintf(out, BT_VALUE_MAX, "%lld%s", (long long)bytes, unit[u]);
}

void bt_setting_value(const struct bt_candidate *c, int i, char out[BT_VALUE_MAX])
{
    const struct io_tuning *t = &c->tuning;
    const int64_t number[] = {t->aggregators, 0, t->staging, 0, c->group, t->chunk};
    if (setting[i].key) {
        const char *value = io_hint_value(c->hints_n, c->hint, setting[i].key);
        snprintf(out, BT_VALUE_MAX, "%s", value ? value : "default");
    } else if (setting[i].cap == IO_CAP_BUFFER) {
        bytes_text(t->buffer_bytes, out);
    } else if (setting[i].cap == IO_CAP_DIRECT) {
        snprintf(out, BT_VALUE_MAX, "%s", t->direct ? "yes" : "no");
    } else if (number[i] == 0) {
        snprintf(out, BT_VALUE_MAX, "default");
    } else {
        snprintf(out, BT_VALUE_MAX, "%lld", (long long)number[i]);
    }
}

int bt_candidate_differ(const struct bt_candidate *a, const struct bt_candidate *b)
{
    char x[BT_VALUE_MAX], y[BT_VALUE_MAX];
    int which = -1;
    if (strcmp(a->writer, b->writer) != 0) return -1;
    for (int i = 0; i < SETTINGS; i++) {
        if (!bt_setting_obeyed(a, i)) continue;
        bt_setting_value(a, i, x);
        bt_setting_value(b, i, y);
        if (strcmp(x, y) == 0) continue;
        if (which >= 0) return -1;
        which = i;
    }
    return which;
}

json_t *bt_candidate_options(const struct bt_candidate *c)
{
    const struct bt_candidate plain = {
        .group = BT_GROUP, .tuning = {.buffer_bytes = IO_BUFFER_BYTES, .staging = IO_STAGING}};
    json_t *to = json_array();
    char value[BT_VALUE_MAX], without[BT_VALUE_MAX];
    for (int i = 0; i < SETTINGS; i++) {
        bt_setting_value(c, i, value);
        bt_setting_value(&plain, i, without);
        if (setting[i].key || !bt_setting_obeyed(c, i) || strcmp(value, without) == 0) continue;
        json_array_append_new(to, json_string(setting[i].name));
        if (setting[i].cap != IO_CAP_DIRECT) json_array_append_new(to, json_string(value));
    }
    for (int h = 0; h < c->hints_n; h++) {
        const bool library = (io_writer_caps(c->writer) & IO_CAP_HINTS) != 0;
        if (!library && !(io_hint_readers(c->hint[h]) & IO_HINT_FILE)) continue;
        json_array_append_new(to, json_string("--hint"));
        json_array_append_new(to, json_string(c->hint[h]));
    }
    return to;
}

void bt_label(const char *writer, const json_t *options, char out[BT_LABEL_MAX])
{
    size_t i, used = (size_t)snprintf(out, BT_LABEL_MAX, "%s", writer);
    const json_t *word;
    json_array_foreach(options, i, word)
    {
        if (used < BT_LABEL_MAX)
            used +=
                (size_t)snprintf(out + used, BT_LABEL_MAX - used, " %s", json_string_value(word));
    }
}

void bt_candidate_label(const struct bt_candidate *c, char out[BT_LABEL_MAX])
{
    json_t *options = bt_candidate_options(c);
    bt_label(c->writer, options, out);
    json_decref(options);
}

/* ------------------------------------------------------------------ the space */

/* One other value of one setting; 0 members leave what is there. */
struct change {
    unsigned cap;
    int64_t value;
    char hint[BT_VALUE_MAX];
};

/* A list of them, of one writer. */
struct changes {
    int n;
    struct change of[48];
};

static void offer(struct changes *to, unsigned cap, int64_t value)
{
    if (to->n < 48) to->of[to->n++] = (struct change){.cap = cap, .value = value};
}

static void __attribute__((format(printf, 3, 4)))
offer_hint(struct changes *to, unsigned cap, const char *fmt, ...)
{
    va_list ap;
    if (to->n == 48) return;
    struct change *c = &to->of[to->n++];
    *c = (struct change){.cap = cap};
    va_start(ap, fmt);
    vsnprintf(c->hint, sizeof c->hint, fmt, ap);
    va_end(ap);
}

/* Of n values those that, cut to most, are neither the one in force nor one before them: requests
 * longer than what there is to write, or more aggregators than ranks, are no other setting. Returns
 * how many are left, at the front. */
static int distinct(int64_t in_force, int64_t most, int64_t *value, int n)
{
    int kept = 0;
    for (int i = 0; i < n; i++) {
        const int64_t v = num_min(value[i], most);
        bool known = v < 1 || v == num_min(in_force, most);
        for (int k = 0; k < kept; k++)
            known = known || num_min(value[k], most) == v;
        if (!known) value[kept++] = value[i];
    }
    return kept;
}

static void offer_some(struct changes *to, unsigned cap, int64_t in_force, int64_t most,
                       int64_t *value, int n)
{
    n = distinct(in_force, most, value, n);
    for (int i = 0; i < n; i++)
        offer(to, cap, cap == IO_CAP_BUFFER ? value[i] : num_min(value[i], most));
}

/* What can be changed about a writer that stands as c. Values follow from the problem and the
 * machine: a request longer than what a rank has to write is none. */
static void changes_of(struct changes *to, const struct bt_candidate *c,
                       const struct bt_surroundings *a)
{
    const unsigned caps = io_writer_caps(c->writer), may = caps & ~a->fixed;
    const int64_t ranks = a->ranks, nodes = a->nodes;
    const int64_t writing = num_min(
        c->tuning.aggregators > 0 ? c->tuning.aggregators : IO_AGGREGATORS_PER_NODE * nodes, ranks);
    const int64_t share = (a->dump_bytes + writing - 1) / writing;
    to->n = 0;
    if (may & IO_CAP_DIRECT) offer(to, IO_CAP_DIRECT, 1);
    if (may & IO_CAP_AGGREGATORS)
        offer_some(to, IO_CAP_AGGREGATORS, writing, ranks, (int64_t[]){nodes, 2 * nodes, ranks}, 3);
    if (may & IO_CAP_BUFFER)
        offer_some(to, IO_CAP_BUFFER, c->tuning.buffer_bytes, share,
                   (int64_t[]){MIB / 2, 2 * MIB, 32 * MIB}, 3);
    if (may & IO_CAP_STAGING)
        offer_some(to, IO_CAP_STAGING, c->tuning.staging, a->dumps_n, (int64_t[]){1, 4}, 2);
    if (may & IO_CAP_GROUP)
        offer_some(to, IO_CAP_GROUP, c->group, ranks, (int64_t[]){1, ranks / 4, ranks}, 3);
    if (a->striped && (caps & IO_CAP_SERIAL_FILE) && !(a->fixed & IO_CAP_HINTS)) {
        offer_hint(to, IO_CAP_SERIAL_FILE, "striping_factor=4");
        offer_hint(to, IO_CAP_SERIAL_FILE, "striping_factor=16");
    }
    if (!(may & IO_CAP_HINTS)) return;
    if (caps & IO_CAP_COLLECTIVE) {
        int64_t few[] = {nodes, 4 * nodes, ranks}, bytes[] = {MIB, 4 * MIB, 64 * MIB};
        int n = distinct(0, ranks, few, 3); /* what the library takes nobody knows */
        for (int i = 0; i < n; i++)
            offer_hint(to, IO_CAP_HINTS, "cb_nodes=%lld", (long long)num_min(few[i], ranks));
        n = distinct(LIBRARY_BUFFER, a->dump_bytes, bytes, 3);
        for (int i = 0; i < n; i++)
            offer_hint(to, IO_CAP_HINTS, "cb_buffer_size=%lld", (long long)bytes[i]);
        if (a->readers & IO_HINT_OMPIO) offer_hint(to, IO_CAP_HINTS, "collective_buffering=false");
        if (a->readers & IO_HINT_ROMIO) {
            offer_hint(to, IO_CAP_HINTS, "romio_cb_write=enable");
            offer_hint(to, IO_CAP_HINTS, "romio_cb_write=disable");
        }
    }
    if (a->readers & IO_HINT_ROMIO) offer_hint(to, IO_CAP_HINTS, "romio_ds_write=disable");
}

/* The candidate with a change. Hints are added to those that are there. */
static struct bt_candidate changed(struct bt_space *s, const struct bt_candidate *from,
                                   const struct change *by)
{
    struct bt_candidate c = *from;
    if (by->hint[0] && from->hints_n < HINTS_MAX) {
        const char **list = &s->list[s->lists_n];
        char *text = s->text[s->texts_n++];
        for (int h = 0; h < from->hints_n; h++)
            list[h] = from->hint[h];
        snprintf(text, BT_VALUE_MAX, "%s", by->hint);
        list[from->hints_n] = text;
        c.hint = list;
        c.hints_n = from->hints_n + 1;
        s->lists_n += c.hints_n;
    }
    switch (by->hint[0] ? 0 : by->cap) {
    case IO_CAP_DIRECT:
        c.tuning.direct = true;
        break;
    case IO_CAP_AGGREGATORS:
        c.tuning.aggregators = (int)by->value;
        break;
    case IO_CAP_BUFFER:
        c.tuning.buffer_bytes = by->value;
        break;
    case IO_CAP_STAGING:
        c.tuning.staging = (int)by->value;
        break;
    case IO_CAP_GROUP:
        c.group = (int)by->value;
        break;
    default:
        break;
    }
    return c;
}

static void add(struct bt_space *s, const struct bt_candidate *c, enum bt_candidate_kind kind)
{
    if (s->n == BT_SPACE_MAX) return;
    s->candidate[s->n] = *c;
    s->kind[s->n++] = kind;
}

/* Pairs worth a try: what goes around the page cache needs requests long enough to keep the device
 * busy, and memory for what is under way; the fewest that collect need room for what they collect. */
static bool pair(const struct changes *with, int i, int j)
{
    const struct change *a = &with->of[i], *b = &with->of[j];
    const bool nodes = strncmp(a->hint, "cb_nodes", 8) == 0;
    const bool fewest = nodes && (i == 0 || strncmp(a[-1].hint, "cb_nodes", 8) != 0);
    if (a->cap == IO_CAP_DIRECT) return b->cap != IO_CAP_DIRECT && !b->hint[0];
    return fewest && strncmp(b->hint, "cb_buffer", 9) == 0;
}

int bt_space_make(struct bt_space *s, const struct bt_candidate *writer, int n,
                  const struct bt_surroundings *around)
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
        add(s, &writer[w], BT_AS_IT_STANDS);
    for (int kind = BT_ONE_SETTING; all && kind <= BT_PAIR; kind++)
        for (int w = 0; w < n; w++) {
            changes_of(with, &writer[w], around);
            for (int i = 0; i < with->n && s->n < BT_SPACE_MAX; i++) {
                if (kind == BT_ONE_SETTING) {
                    const struct bt_candidate c = changed(s, &writer[w], &with->of[i]);
                    add(s, &c, BT_ONE_SETTING);
                }
                for (int j = 0; kind == BT_PAIR && j < with->n && s->n < BT_SPACE_MAX; j++) {
                    if (!pair(with, i, j)) continue;
                    const struct bt_candidate one = changed(s, &writer[w], &with->of[i]);
                    const struct bt_candidate two = changed(s, &one, &with->of[j]);
                    add(s, &two, BT_PAIR);
                }
            }
        }
    free(with);
    return all ? 0 : err_set(ERR_NOMEM, "no memory for the candidates of --io auto");
}

bool bt_space_yardstick(const struct bt_space *s, int i)
{
    return s->kind[i] == BT_AS_IT_STANDS &&
           (io_writer_caps(s->candidate[i].writer) & IO_CAP_YARDSTICK) != 0;
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
    add(s, c, BT_KNOWN);
    return s->n - 1;
}
