/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/stamp.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

void stamp_add(json_t *list, const char *code, const char *severity, json_t *numbers,
               const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    json_array_append_new(list,
                          json_pack("{ss ss so so}", "code", code, "severity", severity, "numbers",
                                    numbers ? numbers : json_object(), "sentence", js_text(text)));
}

const char *stamp_text(const json_t *stamp, const char *member)
{
    const char *text = json_string_value(json_object_get(stamp, member));
    return text ? text : "";
}

bool stamp_is(const json_t *stamp, const char *code)
{
    return strcmp(stamp_text(stamp, "code"), code) == 0;
}

const json_t *stamp_find(const json_t *list, const char *code)
{
    size_t i;
    const json_t *stamp;
    json_array_foreach(list, i, stamp)
    {
        if (stamp_is(stamp, code)) return stamp;
    }
    return NULL;
}
