/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/stamp.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

void stamp_add(json_t *list, const char *code, const char *severity, json_t *numbers,
               const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    json_array_append_new(list,
                          json_pack("{ss ss so so}", "code", code, "severity", severity, "numbers",
                                    numbers ? numbers : json_object(), "sentence", js_text(text)));
}

bool stamp_is(const json_t *stamp, const char *code)
{
    const char *is = json_string_value(json_object_get(stamp, "code"));
    return is && strcmp(is, code) == 0;
}

const char *stamp_sentence(const json_t *stamp)
{
    const char *text = json_string_value(json_object_get(stamp, "sentence"));
    return text ? text : "";
}

json_t *stamp_sentences(const json_t *list, bool (*keep)(const json_t *stamp))
{
    json_t *texts = json_array(), *stamp;
    size_t i;
    json_array_foreach(list, i, stamp)
    {
        if (keep(stamp)) json_array_append_new(texts, json_string(stamp_sentence(stamp)));
    }
    return texts;
}
