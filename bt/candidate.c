/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/candidate.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "io/writers/hint.h"
#include "io/writers/writer.h"

json_t *bt_candidate_options(const struct bt_candidate *c)
{
    const struct io_setting *s;
    struct io_tuning plain = {0};
    const unsigned caps = io_writer_caps(c->writer);
    json_t *to = json_array();
    char option[IO_SETTING_TEXT_MAX + 2], value[IO_SETTING_TEXT_MAX], without[IO_SETTING_TEXT_MAX];
    io_tuning_complete(&plain);
    for (int i = 0; (s = io_setting_at(i)) != NULL; i++) {
        if (s->key || !(caps & s->cap)) continue;
        io_setting_text(s, &c->tuning, 0, NULL, value);
        io_setting_text(s, &plain, 0, NULL, without);
        if (strcmp(value, without) == 0) continue;
        snprintf(option, sizeof option, "--%s", s->name);
        json_array_append_new(to, json_string(option));
        if (s->arg) json_array_append_new(to, json_string(value));
    }
    for (int h = 0; h < c->hints_n; h++) {
        if (!(caps & IO_CAP_HINTS) && !(io_hint_readers(c->hint[h]) & IO_HINT_FILE)) continue;
        json_array_append_new(to, json_string("--hint"));
        json_array_append_new(to, js_text(c->hint[h]));
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
