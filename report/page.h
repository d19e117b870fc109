/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H
/* Serial. A report as a list of parts, put together once and written in several notations: one HTML
 * file that needs nothing else, Markdown, tables as CSV, figures as files. Texts are prose
 * (report/text.h) and copied. An adding function that finds no memory is noticed by page_ok. All
 * functions are local. */
#include <stdbool.h>
#include <stdio.h>

#include "base/progress.h"
#include "report/figure.h"
#include "report/table.h"

struct page;

enum page_mark { PAGE_PLAIN, PAGE_GOOD, PAGE_BAD, PAGE_CARE };

/* title: of the report. NULL without memory, which the adding functions take. */
struct page *page_new(const char *title);
void page_free(struct page *p);

/* A heading and its anchor; level 2 or 3. */
void page_section(struct page *p, int level, const char *id, const char *title);

/* A paragraph; mark: what it is about at a glance, a verdict or a warning. */
void page_text(struct page *p, enum page_mark mark, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Lines as they stand: commands, listings. */
void page_code(struct page *p, const char *text);

/* Take what they are given. A table without rows and a figure without points are left out. caption:
 * what to see in the figure. */
void page_table(struct page *p, struct table *t);
void page_figure(struct page *p, struct figure *f, const char *caption);

/* Whether everything given was kept. */
bool page_ok(const struct page *p);

/* Makes the files of all figures in a directory that is there (figure_make). */
int page_draw(struct page *p, const char *directory, bool draw, enum progress_mode mode);
int page_figures(const struct page *p);

/* The whole report. figures: where Markdown finds the drawings, NULL: nowhere. */
void page_html(const struct page *p, FILE *to);
void page_markdown(const struct page *p, FILE *to, const char *figures);

/* Every table as DIRECTORY/NAME.csv. Returns 0, ERR_IO or ERR_NOMEM. */
int page_csv(const struct page *p, const char *directory);

#endif
