/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables: widths of the cells, signs of the heading, nothing at the end of lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/columns.h"

static void prints(struct columns *t, const char *expected)
{
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    columns_print(t, to);
    fclose(to);
    assert_string_equal(text, expected);
    free(text);
}

static void columns_are_as_wide_as_their_cells(void **state)
{
    (void)state;
    struct columns t;
    columns_begin(&t, "  -6 5 4  -0");
    columns_row(&t, "writer", "T_T", "zeta", "note", NULL);
    columns_row(&t, "posix", "0.3", "0.1", "", NULL);
    columns_cell(&t, "%s", "pnetcdf-indep");
    columns_cell(&t, "%.1f", 1234567.5);
    columns_row(&t, "-", "a b", NULL);
    prints(&t, "  writer              T_T zeta  note\n"
               "  posix               0.3  0.1\n"
               "  pnetcdf-indep 1234567.5    -  a b\n");
}

static void signs_stand_in_the_heading(void **state)
{
    (void)state;
    struct columns t;
    columns_begin(&t, "-3 4 = 4 + 4");
    columns_row(&t, "", "sum", "a", "b", NULL);
    columns_row(&t, "x", "3", "1", "2", NULL);
    columns_row(&t, "y", NULL);
    prints(&t, "     sum =    a +    b\n"
               "x      3      1      2\n"
               "y\n");
}

static void cells_are_made_plain_and_counted_in_characters(void **state)
{
    (void)state;
    struct columns t;
    columns_begin(&t, "-0 1");
    columns_row(&t, "\xc3\xa4\xc3\xb6", "1", NULL);
    columns_row(&t, "a\x1b[1m", "22", NULL);
    prints(&t, "\xc3\xa4\xc3\xb6     1\n"
               "a?[1m 22\n");
}

static void a_table_without_rows_is_empty(void **state)
{
    (void)state;
    struct columns t;
    columns_begin(&t, "1 2");
    prints(&t, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_as_wide_as_their_cells),
        cmocka_unit_test(signs_stand_in_the_heading),
        cmocka_unit_test(cells_are_made_plain_and_counted_in_characters),
        cmocka_unit_test(a_table_without_rows_is_empty),
    };
    return cmocka_run_group_tests_name("columns", tests, NULL, NULL);
}
