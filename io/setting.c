/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/setting.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/conf.h"
#include "base/err.h"
#include "base/num.h"
#include "io/aggregate.h"
#include "io/writers/hint.h"
#include "io/writers/writer.h"

#define KIB INT64_C(1024)
#define MIB (KIB * KIB)
/* What MPI-IO libraries collect on a rank at a time where nothing is said: ROMIO; OMPIO twice that. */
#define LIBRARY_BUFFER (16 * MIB)

/* ------------------------------------------------------------------ values worth trying */

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

/* The same, and the values themselves are cut. */
static int distinct_cut(int64_t in_force, int64_t most, int64_t *value, int n)
{
    n = distinct(in_force, most, value, n);
    for (int i = 0; i < n; i++)
        value[i] = num_min(value[i], most);
    return n;
}

/* What may be tried of a setting whose value is now this, of hints 0. Returns how many. Those of the
 * table by the word in its column "values". */
typedef int values_fn(int64_t now, const struct io_tuning *t, const struct io_surroundings *a,
                      int64_t value[IO_VALUES_MAX]);

static int values_none(int64_t now, const struct io_tuning *t, const struct io_surroundings *a,
                       int64_t *value)
{
    (void)now, (void)t, (void)a, (void)value;
    return 0;
}

static int values_yes(int64_t now, const struct io_tuning *t, const struct io_surroundings *a,
                      int64_t *value)
{
    (void)t, (void)a;
    value[0] = 1;
    return now ? 0 : 1;
}

static int values_ranks(int64_t now, const struct io_tuning *t, const struct io_surroundings *a,
                        int64_t *value)
{
    (void)t;
    memcpy(value, (int64_t[]){1, a->ranks / 4, a->ranks}, 3 * sizeof *value);
    return distinct_cut(now, a->ranks, value, 3);
}

static int values_dumps(int64_t now, const struct io_tuning *t, const struct io_surroundings *a,
                        int64_t *value)
{
    (void)t;
    memcpy(value, (int64_t[]){1, 4}, 2 * sizeof *value);
    return distinct_cut(now, a->dumps_n, value, 2);
}

static int values_aggregators(int64_t now, const struct io_tuning *t,
                              const struct io_surroundings *a, int64_t *value)
{
    (void)now; /* 0 stands for a number of its own */
    memcpy(value, (int64_t[]){a->nodes, 2 * a->nodes, a->ranks}, 3 * sizeof *value);
    return distinct_cut(io_aggregators(t->aggregators, a->ranks, a->nodes), a->ranks, value, 3);
}

static int values_request(int64_t now, const struct io_tuning *t, const struct io_surroundings *a,
                          int64_t *value)
{
    const int64_t writing = io_aggregators(t->aggregators, a->ranks, a->nodes);
    memcpy(value, (int64_t[]){MIB / 2, 2 * MIB, 32 * MIB}, 3 * sizeof *value);
    return distinct(now, (a->dump_bytes + writing - 1) / writing, value, 3);
}

static int values_cb_nodes(int64_t now, const struct io_tuning *t, const struct io_surroundings *a,
                           int64_t *value)
{
    (void)t;
    memcpy(value, (int64_t[]){a->nodes, 4 * a->nodes, a->ranks}, 3 * sizeof *value);
    return distinct_cut(now, a->ranks, value, 3); /* what the library takes nobody knows */
}

static int values_cb_buffer(int64_t now, const struct io_tuning *t, const struct io_surroundings *a,
                            int64_t *value)
{
    (void)now, (void)t;
    memcpy(value, (int64_t[]){MIB, 4 * MIB, 64 * MIB}, 3 * sizeof *value);
    return distinct(LIBRARY_BUFFER, a->dump_bytes, value, 3);
}

static int values_striping(int64_t now, const struct io_tuning *t, const struct io_surroundings *a,
                           int64_t *value)
{
    (void)now, (void)t;
    memcpy(value, (int64_t[]){4, 16}, 2 * sizeof *value);
    return a->striped ? 2 : 0;
}

/* ------------------------------------------------------------------ the table */

/* What a search needs to know of a setting beside what all may know. */
struct row {
    struct io_setting setting;
    values_fn *values;
    /* Of hints: */
    const char *word[2]; /* the values that are tried, where they are no numbers */
    unsigned also,
        reader; /* capabilities of the writers, and the readers, that they are tried with */
};

static const struct row row[] = {
#define IO_SETTING(option, type, member, capability, argument, default_, low, high, tried, text)   \
    {.setting = {.name = #option,                                                                  \
                 .cap = (capability),                                                              \
                 .arg = (argument),                                                                \
                 .offset = offsetof(struct io_tuning, member),                                     \
                 .def = (default_),                                                                \
                 .least = (low),                                                                   \
                 .most = (high)},                                                                  \
     .values = values_##tried},
#include "io/setting_list.h"
#undef IO_SETTING
#define HINT(KEY, CAP) .setting = {.name = "hint " KEY, .key = KEY, .cap = (CAP)}
    {HINT("cb_nodes", IO_CAP_HINTS), .values = values_cb_nodes, .also = IO_CAP_COLLECTIVE},
    {HINT("cb_buffer_size", IO_CAP_HINTS), .values = values_cb_buffer, .also = IO_CAP_COLLECTIVE},
    {HINT("collective_buffering", IO_CAP_HINTS), .word = {"false"}, .also = IO_CAP_COLLECTIVE,
     .reader = IO_HINT_OMPIO},
    {HINT("romio_cb_write", IO_CAP_HINTS), .word = {"enable", "disable"}, .also = IO_CAP_COLLECTIVE,
     .reader = IO_HINT_ROMIO},
    {HINT("romio_ds_write", IO_CAP_HINTS), .word = {"disable"}, .reader = IO_HINT_ROMIO},
    {HINT("striping_factor", IO_CAP_SERIAL_FILE), .values = values_striping},
};
#define ROWS ((int)(sizeof row / sizeof row[0]))

const struct io_setting *io_setting_at(int i)
{
    return i >= 0 && i < ROWS ? &row[i].setting : NULL;
}

const struct io_setting *io_setting_find(const char *name)
{
    for (int i = 0; i < ROWS; i++)
        if (!row[i].setting.key && strcmp(row[i].setting.name, name) == 0) return &row[i].setting;
    return NULL;
}

int io_setting_values(const struct io_setting *s, unsigned caps, const struct io_tuning *t,
                      const struct io_surroundings *a, struct io_value value[IO_VALUES_MAX])
{
    const struct row *r = (const struct row *)s; /* its first member */
    int64_t number[IO_VALUES_MAX];
    int n = 0;
    const unsigned user = s->key ? IO_CAP_HINTS : s->cap;
    if (!(caps & s->cap) || (a->fixed & user) || (caps & r->also) != r->also) return 0;
    if (r->reader && !(a->readers & r->reader)) return 0;
    for (; !r->values && n < 2 && r->word[n]; n++) {
        value[n] = (struct io_value){.setting = s};
        snprintf(value[n].hint, sizeof value[n].hint, "%s=%s", s->key, r->word[n]);
    }
    if (!r->values) return n;
    n = r->values(s->key ? 0 : io_setting_get(s, t), t, a, number);
    for (int i = 0; i < n; i++) {
        value[i] = (struct io_value){.setting = s, .number = number[i]};
        if (s->key)
            snprintf(value[i].hint, sizeof value[i].hint, "%s=%lld", s->key, (long long)number[i]);
    }
    return n;
}

/* ------------------------------------------------------------------ members */

int64_t io_setting_get(const struct io_setting *s, const struct io_tuning *t)
{
    const char *at = (const char *)t + s->offset;
    int64_t number;
    if (!s->arg) return *(const bool *)at;
    memcpy(&number, at, sizeof number);
    return number;
}

void io_setting_put(const struct io_setting *s, int64_t number, struct io_tuning *t)
{
    char *at = (char *)t + s->offset;
    const bool flag = number != 0;
    memcpy(at, s->arg ? (const void *)&number : &flag, s->arg ? sizeof number : sizeof flag);
}

/* The default of a number, 0 where there is none. */
static int64_t default_of(const struct io_setting *s)
{
    int64_t number = 0;
    if (s->def) (void)conf_int(s->name, s->def, 0, 0, &number); /* a word of the table */
    return number;
}

/* As on the command line; of bytes with the largest of Gi, Mi and Ki that divides them. */
static void number_text(const struct io_setting *s, int64_t number, char out[IO_SETTING_TEXT_MAX])
{
    static const char *const unit[] = {"", "Ki", "Mi", "Gi"};
    const bool bytes = strcmp(s->arg, "BYTES") == 0;
    int u = 0;
    for (; bytes && u < 3 && number > 0 && number % KIB == 0; u++)
        number /= KIB;
    snprintf(out, IO_SETTING_TEXT_MAX, "%lld%s", (long long)number, unit[u]);
}

void io_setting_text(const struct io_setting *s, const struct io_tuning *t, int hints_n,
                     const char *const *hint, char out[IO_SETTING_TEXT_MAX])
{
    const char *value = s->key ? io_hint_value(hints_n, hint, s->key) : NULL;
    if (s->arg && io_setting_get(s, t) > 0)
        number_text(s, io_setting_get(s, t), out);
    else if (!s->key && !s->arg)
        snprintf(out, IO_SETTING_TEXT_MAX, "%s", io_setting_get(s, t) ? "yes" : "no");
    else
        snprintf(out, IO_SETTING_TEXT_MAX, "%s", value ? value : "default");
}

void io_tuning_complete(struct io_tuning *t)
{
    for (int i = 0; i < ROWS; i++)
        if (row[i].setting.arg && io_setting_get(&row[i].setting, t) == 0)
            io_setting_put(&row[i].setting, default_of(&row[i].setting), t);
}

int io_tuning_check(const struct io_tuning *t)
{
    char least[IO_SETTING_TEXT_MAX], most[IO_SETTING_TEXT_MAX];
    for (int i = 0; i < ROWS; i++) {
        const struct io_setting *s = &row[i].setting;
        const int64_t number = s->arg ? io_setting_get(s, t) : 0;
        if (number == 0 || ((double)number >= s->least && (double)number <= s->most)) continue;
        number_text(s, (int64_t)s->least, least);
        number_text(s, (int64_t)s->most, most);
        return err_set(ERR_USAGE, "--%s %lld: outside of %s to %s", s->name, (long long)number,
                       least, most);
    }
    return 0;
}

/* ------------------------------------------------------------------ memory */

#define PIECES_N      2 /* of an aggregator: one that is collected, and what was received of it */
#define READ_PIECES_N 4 /* one that is read, what is sent of it, and two that were received */

static int64_t room(int64_t bytes)
{
    return (int64_t)buffer_room((size_t)bytes);
}

struct io_memory io_writer_memory(const char *writer, const struct io_tuning *t, int64_t ranks,
                                  int64_t nodes, int64_t part_bytes)
{
    const unsigned caps = io_writer_caps(writer);
    struct io_tuning full = *t;
    io_tuning_complete(&full);
    const int64_t dumps_n = caps & IO_CAP_STAGING ? full.staging : 0;
    if (!(caps & IO_CAP_AGGREGATORS))
        return (struct io_memory){ranks, num_max(dumps_n, 1) * room(part_bytes)};
    const int64_t n = io_aggregators(t->aggregators, ranks, nodes);
    const int64_t range_bytes = num_quotient_up(ranks, n) * part_bytes;
    return (struct io_memory){n, dumps_n * room(range_bytes) +
                                     PIECES_N * room(num_min(full.buffer_bytes, range_bytes))};
}

int64_t io_reader_memory(const char *writer, const struct io_tuning *t, int64_t dump_bytes)
{
    struct io_tuning full = *t;
    io_tuning_complete(&full);
    const int64_t piece =
        num_min(t->buffer_bytes > 0 ? t->buffer_bytes : IO_READ_BYTES, dump_bytes);
    const int64_t ahead_n = io_writer_caps(writer) & IO_CAP_STAGING ? full.staging + 1 : 0;
    return (READ_PIECES_N + ahead_n) * room(piece);
}
