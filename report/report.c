/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/report.h"

#include "base/err.h"
#include "report/text.h"

/* In the order of the page. */
static int (*const parts[])(struct report *) = {part_bt, part_beff, part_beffio};

int report_build(struct report *r, const char *title)
{
    r->page = page_new(title ? title : "Application I/O benchmark: report");
    TRY(runs_collect(&r->runs, r->docs, r->level));
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        TRY(parts[i](r));
    return page_ok(r->page) ? 0 : err_set(ERR_NOMEM, "no memory for the report");
}

void report_free(struct report *r)
{
    page_free(r->page);
    runs_free(&r->runs);
}
