/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_COLUMNS_H
#define BASE_COLUMNS_H
/* Layer 0. Tables for people: columns as wide as their widest cell. Rows are collected, then printed at
 * once. All functions are local.
 *
 *     struct columns t;
 *     columns_begin(&t, "-14 10 = 8  -0");
 *     columns_row(&t, "writer", "T_T", "zeta", "", NULL);
 *     columns_row(&t, "posix", "0.301", "0.012", "verified", NULL);
 *     columns_print(&t, stdout);
 *
 * The picture has a number for each column, its least width, with '-' where cells begin at the left. What
 * stands between the numbers, blanks and signs, stands between the cells of the first row; below signs
 * stand blanks. No line ends with blanks. */
#include <stdbool.h>
#include <stdio.h>

enum { COLUMNS_MAX = 24 };

struct columns {
    const char *picture; /* borrowed */
    char **cell;         /* row by row */
    int n, cells_n, room;
    bool lost; /* there was no memory for a cell */
};

void columns_begin(struct columns *t, const char *picture);

/* The next cell of the row, printf-style; copied and made plain (base/plain.h). */
void columns_cell(struct columns *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The cells of the row that are not there yet, or the first of them: texts, NULL after the last one. The
 * other cells are empty, and the row ends. */
void columns_row(struct columns *t, ...) __attribute__((sentinel));

/* Prints and frees the table; where there was no memory for it, a line that says so. */
void columns_print(struct columns *t, FILE *to);

#endif
