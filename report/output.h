/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPORT_OUTPUT_H
#define REPORT_OUTPUT_H
/* Serial. Where reports go. A file that is there is replaced when it is empty or an earlier report;
 * anything else is left alone. option: for messages. All functions are local and return 0,
 * ERR_USAGE, ERR_IO or ERR_NOMEM. */
#include "report/page.h"

/* Whether a report may be written there; asked before the work. */
int output_check(const char *path, const char *option);

/* Makes the directory when it is not there; its parent must be. */
int output_directory(const char *path, const char *option);

int output_html(const struct page *page, const char *path);

/* figures: the directory of the drawings as given, NULL for none; links are relative to the
 * Markdown file when both are relative paths. */
int output_markdown(const struct page *page, const char *path, const char *figures);

/* Draws all figures of the page, in a directory that is there, or NULL: in one that is removed
 * again. Without gnuplot, and when it fails, standard error and the page say so. */
int output_draw(struct page *page, const char *directory, enum progress_mode mode);

#endif
