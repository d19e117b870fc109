/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"

int text_begin(struct text *t)
{
    *t = (struct text){0};
    t->to = open_memstream(&t->body, &t->size);
    return t->to ? 0 : mem_error("a text");
}

int text_end(struct text *t, char **out)
{
    const bool lost = ferror(t->to) != 0;
    *out = NULL;
    if (fclose(t->to) != 0 || lost) {
        free(t->body);
        return mem_error("a text");
    }
    *out = t->body;
    return 0;
}

int text_save(struct text *t, const char *path)
{
    char *body;
    TRY(text_end(t, &body));
    const int rc = js_result_text(path, body);
    free(body);
    return rc;
}

FILE *text_open(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *f = fd >= 0 && fcntl(fd, F_SETFL, 0) == 0 ? fdopen(fd, "r") : NULL;
    if (fd >= 0 && !f) close(fd);
    return f;
}

void text_cut_words(char *text, const char *ends)
{
    char *to = text;
    text[strcspn(text, ends)] = '\0';
    for (const char *from = text; *from; from++) {
        const bool blank = strchr(" \t\r\n", *from);
        if (!blank || (to > text && to[-1] != ' ')) *to++ = blank ? ' ' : *from;
    }
    if (to > text && to[-1] == ' ') to--;
    *to = '\0';
}
