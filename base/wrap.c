/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/wrap.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"

void wrap_print(FILE *to, int width, const char *first, int indent, const char *words)
{
    char *whole = strdup(words);
    const char *text = whole ? plain_text(whole) : "";
    int column = fprintf(to, "%s", first);
    bool fresh = true;
    while (*text) {
        const int length = (int)strcspn(text, " ");
        if (!fresh && column + 1 + length > width) {
            column = fprintf(to, "\n%*s", indent, "") - 1;
            fresh = true;
        }
        column += fprintf(to, "%s%.*s", fresh ? "" : " ", length, text);
        fresh = false;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', to);
    free(whole);
}
