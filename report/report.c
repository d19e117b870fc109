/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/report.h"

#include "base/err.h"
#include "base/num.h"
#include "report/text.h"

/* In the order of the page. */
static int (*const parts[])(struct report *) = {part_verdict, part_bt,      part_beff,
                                                part_beffio,  part_balance, part_system};

int report_build(struct report *r, const char *title)
{
    char own[256];
    TRY(runs_collect(&r->runs, r->docs, r->level));
    const json_t *root = r->docs->doc[0].root;
    num_print(own, sizeof own, "%s %.60s, %.100s",
              r->runs.runs_n > 0 ? "Does I/O keep up?" : "Communication and file access:",
              doc_text(root, "system.host"), doc_text(root, "system.cpu.model"));
    r->page = page_new(title ? title : own);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        TRY(parts[i](r));
    return page_ok(r->page) ? 0 : err_set(ERR_NOMEM, "no memory for the report");
}

void report_free(struct report *r)
{
    page_free(r->page);
    runs_free(&r->runs);
}
