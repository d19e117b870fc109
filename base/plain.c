/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/plain.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the UTF-8 character at s, 0 where there is none (RFC 3629: no overlong forms, no
 * surrogates, nothing above U+10FFFF). A NUL is no continuation, so a cut text is not overrun. */
static size_t decode(const unsigned char *s, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t bytes = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (bytes == 0 || s[0] > 0xf4) return 0;
    *code = bytes == 1 ? s[0] : s[0] & (0x7fu >> bytes);
    for (size_t b = 1; b < bytes; b++) {
        if ((s[b] & 0xc0) != 0x80) return 0;
        *code = *code << 6 | (s[b] & 0x3fu);
    }
    const bool surrogate = *code >= 0xd800 && *code <= 0xdfff;
    return *code < least[bytes] || *code > 0x10ffff || surrogate ? 0 : bytes;
}

static bool obeyed(uint32_t code)
{
    static const struct {
        uint32_t from, to;
    } range[] = {{0, 0x1f},        {0x7f, 0x9f},     {0x61c, 0x61c},
                 {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}};
    for (size_t r = 0; r < sizeof range / sizeof range[0]; r++)
        if (code >= range[r].from && code <= range[r].to) return true;
    return false;
}

char *plain_text(char *text)
{
    char *to = text;
    for (const char *from = text; *from;) {
        uint32_t code = 0;
        size_t bytes = decode((const unsigned char *)from, &code);
        if (bytes == 0 || obeyed(code)) {
            *to++ = '?';
            from += bytes > 0 ? bytes : 1;
        } else
            while (bytes-- > 0)
                *to++ = *from++;
    }
    *to = '\0';
    return text;
}

char *plain_copy(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text);
    return plain_text(out);
}

void plain_line(FILE *to, const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) < 0) text = NULL;
    va_end(args);
    fprintf(to, "%s\n", text ? plain_text(text) : "");
    free(text);
}

void plain_wrap(FILE *to, int width, const char *first, int indent, const char *words)
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

void plain_entry(FILE *to, const char *name, const char *fmt, ...)
{
    char first[32], *text = NULL;
    const int indent = snprintf(first, sizeof first, "%-9s ", name);
    va_list args;
    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) < 0) text = NULL;
    va_end(args);
    plain_wrap(to, 96, first, indent, text ? text : "");
    free(text);
}
