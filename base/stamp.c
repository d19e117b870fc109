/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/stamp.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

static const struct {
    const char *code, *programs, *severities, *spoils, *meaning;
} row[STAMP_CODES] = {
#define STAMP(name, code, programs, severities, spoils, meaning)                                   \
    {code, programs, severities, spoils, meaning},
#include "base/stamp_list.h"
#undef STAMP
};

static const char *const severity_word[] = {"good", "note", "warn", "bad"};

void stamp_add(json_t *list, enum stamp_code code, enum stamp_severity severity, json_t *numbers,
               const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    json_array_append_new(list,
                          json_pack("{ss ss so so}", "code", row[code].code, "severity",
                                    severity_word[severity], "numbers",
                                    numbers ? numbers : json_object(), "sentence", js_text(text)));
}

json_t *stamp_number(json_t *numbers, const char *key, double value)
{
    json_t *o = numbers ? numbers : json_object();
    if (isfinite(value)) json_object_set_new(o, key, json_real(value));
    return o;
}

const char *stamp_text(const json_t *stamp, const char *member)
{
    const char *text = json_string_value(json_object_get(stamp, member));
    return text ? text : "";
}

bool stamp_is(const json_t *stamp, enum stamp_code code)
{
    return strcmp(stamp_text(stamp, "code"), row[code].code) == 0;
}

const json_t *stamp_find(const json_t *list, enum stamp_code code)
{
    return stamp_find_text(list, row[code].code);
}

const json_t *stamp_find_text(const json_t *list, const char *code)
{
    size_t i;
    const json_t *stamp;
    json_array_foreach(list, i, stamp)
    {
        if (strcmp(stamp_text(stamp, "code"), code) == 0) return stamp;
    }
    return NULL;
}

/* The words of a text that are separated by single spaces. */
static json_t *words(const char *text)
{
    json_t *list = json_array();
    for (size_t n; *text; text += n + (text[n] == ' ')) {
        n = strcspn(text, " ");
        json_array_append_new(list, json_stringn(text, n));
    }
    return list;
}

json_t *stamp_codes_json(void)
{
    json_t *codes = json_object();
    for (int i = 0; i < STAMP_CODES; i++)
        json_object_set_new(codes, row[i].code,
                            json_pack("{so so ss* ss}", "programs", words(row[i].programs),
                                      "severities", words(row[i].severities), "spoils",
                                      row[i].spoils[0] ? row[i].spoils : NULL, "meaning",
                                      row[i].meaning));
    return json_pack("{ss so}", "schema", "nht1-stamps/1", "stamps", codes);
}
