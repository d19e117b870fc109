/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "verify/finding.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/plain.h"

struct finding *finding_add(struct findings *f, const char *kind, int64_t dump, const char *fmt,
                            ...)
{
    va_list args;
    struct finding *item = &f->item[f->n < FINDINGS_MAX ? f->n : FINDINGS_MAX];
    f->n++;
    item->kind = kind;
    item->dump = dump;
    item->places_n = 0;
    va_start(args, fmt);
    vsnprintf(item->text, sizeof item->text, fmt, args);
    va_end(args);
    plain_text(item->text);
    return item;
}

void finding_place(struct finding *f, const struct place *at)
{
    if (f->places_n < FINDING_PLACES) f->place[f->places_n++] = *at;
}

int findings_kept(const struct findings *f)
{
    return f->n < FINDINGS_MAX ? (int)f->n : FINDINGS_MAX;
}
