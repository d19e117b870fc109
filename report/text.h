/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H
/* Serial. Texts in the notations that a report is written in: escaped, so that a name out of a
 * result file is never markup, a command or a formula. Prose is text of this program, in which the
 * benchmark's symbols (T_T, T_C, R_IO, N_S, I_W, zeta) are set as such. All functions are local. */
#include <stdio.h>

#include "base/text.h"

/* The formatted text, malloc'ed; NULL without memory. */
char *text_print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* One of the notations below. */
typedef void text_writer(FILE *to, const char *text);

text_writer text_html;        /* between tags and inside "..." */
text_writer text_html_prose;  /* the same, symbols set */
text_writer text_markdown;    /* inside a line or a table's cell */
text_writer text_csv;         /* one field, in quotes where needed */
text_writer text_csv_plain;   /* one field that needs no quotes: ',' becomes ';', quotes '\'' */
text_writer text_gnuplot;     /* inside "..." of a script, for what is drawn without markup */
text_writer text_gnuplot_enh; /* inside "..." of a script, prose with symbols set */

/* A number with three significant digits, or more for large ones, "-" when it is not finite; in
 * buf. Returns buf. */
#define TEXT_NUMBER_MAX 48
const char *text_number(double x, char buf[TEXT_NUMBER_MAX]);

/* "+12.3 %", "-0.5 %" of a share 0.123; "-" when it is not finite. Returns buf. */
const char *text_percent(double share, char buf[TEXT_NUMBER_MAX]);

#endif
