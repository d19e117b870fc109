/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H
/* Serial. A table: columns first, then cells row by row. A number keeps its value beside the text
 * that is shown, so that the CSV has all of its digits. Texts that are given are copied. An adding
 * function that finds no memory is noticed by table_ok. All functions are local. */
#include <stdbool.h>
#include <stdio.h>

#include "report/text.h"

struct table;

/* name: of its CSV file, letters, digits and '-'. caption: prose. NULL without memory, which the
 * adding functions take. */
struct table *table_new(const char *name, const char *caption);
void table_free(struct table *t);

/* A column; header: prose, with the unit. Before the first cell. */
void table_column(struct table *t, const char *header);

/* The next cell: a text as it stands. */
void table_cell(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The next cell: a number, shown with three significant digits; "-" when it is not finite. */
void table_number(struct table *t, double x);

/* The same, shown as a text that is given. */
void table_value(struct table *t, double x, const char *shown);

/* Whether everything given was kept. */
bool table_ok(const struct table *t);
int table_rows(const struct table *t);
const char *table_name(const struct table *t);

/* Notations. A last row that is not full is filled with empty cells. */
void table_html(const struct table *t, FILE *to);
void table_markdown(const struct table *t, FILE *to);
void table_csv(const struct table *t, FILE *to);

#endif
