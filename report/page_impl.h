/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPORT_PAGE_IMPL_H
#define REPORT_PAGE_IMPL_H
/* Serial. The inside of a page, shared by page.c (adding) and page_html.c, page_markdown.c. */
#include "report/page.h"

enum page_kind { PAGE_SECTION, PAGE_PARAGRAPH, PAGE_CODE, PAGE_TABLE, PAGE_FIGURE };

struct page_part {
    enum page_kind kind;
    enum page_mark mark;
    int level;
    char *id, *text; /* text: what is said, a heading, a figure's caption; never NULL */
    struct table *table;
    struct figure *figure;
};

struct page {
    char *title;
    int parts_n, room;
    struct page_part *part;
    bool failed;
};

#endif
