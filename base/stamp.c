/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/stamp.h"

#include <stdarg.h>
#include <stdio.h>

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
