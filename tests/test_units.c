/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantities as text, numbers read back. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/num.h"
#include "base/units.h"

static char buf[UNITS_TEXT_MAX];

static void decimal_bytes(void **state)
{
    (void)state;
    assert_string_equal(units_bytes(0, buf), "0 B");
    assert_string_equal(units_bytes(512, buf), "512 B");
    assert_string_equal(units_bytes(999, buf), "999 B");
    assert_string_equal(units_bytes(1000, buf), "1.00 kB");
    assert_string_equal(units_bytes(42448320, buf), "42.4 MB");
    assert_string_equal(units_bytes(999.6e6, buf), "1.00 GB");
    assert_string_equal(units_bytes(999.4e6, buf), "999 MB");
    assert_string_equal(units_bytes(9.996e9, buf), "10.0 GB");
    assert_string_equal(units_bytes(-1.5e3, buf), "-1.50 kB");
    assert_string_equal(units_bytes(9e21, buf), "9000 EB");
    assert_string_equal(units_bytes(NAN, buf), "n/a");
}

static void sizes_in_any_case(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } as[] = {{"8m", 8000000},
              {"8M", 8000000},
              {"8mb", 8000000},
              {"1g", 1000000000},
              {"1K", 1000},
              {"3ki", 3072},
              {"3KIB", 3072},
              {"2gib", INT64_C(2) << 30},
              {"1t", INT64_C(1000000000000)},
              {"1Ti", INT64_C(1) << 40}};
    int64_t value;
    (void)state;
    for (size_t i = 0; i < sizeof as / sizeof as[0]; i++) {
        assert_int_equal(num_int_parse(as[i].text, &value), 0);
        assert_int_equal(value, as[i].value);
    }
    assert_int_equal(num_int_parse("8b", &value), -1);
    assert_int_equal(num_int_parse("8mi b", &value), -1);
    assert_int_equal(num_int_parse("8p", &value), -1);
}

static void binary_bytes(void **state)
{
    (void)state;
    assert_string_equal(units_bytes_iec(1023, buf), "1023 B");
    assert_string_equal(units_bytes_iec(1024, buf), "1.00 KiB");
    assert_string_equal(units_bytes_iec(42448320, buf), "40.5 MiB");
    assert_string_equal(units_bytes_iec(0x1p40, buf), "1.00 TiB");
}

static void rates(void **state)
{
    (void)state;
    assert_string_equal(units_rate(1.25e9, buf), "1.25 GB/s");
    assert_string_equal(units_rate(0.25, buf), "0.25 B/s");
    assert_string_equal(units_rate(INFINITY, buf), "n/a");
}

static void durations(void **state)
{
    (void)state;
    assert_string_equal(units_duration(0, buf), "0 s");
    assert_string_equal(units_duration(2.5e-7, buf), "250 ns");
    assert_string_equal(units_duration(1.5e-5, buf), "15.0 us");
    assert_string_equal(units_duration(0.0123, buf), "12.3 ms");
    assert_string_equal(units_duration(0.9996, buf), "1.00 s");
    assert_string_equal(units_duration(3.42, buf), "3.42 s");
    assert_string_equal(units_duration(59.94, buf), "59.9 s");
    assert_string_equal(units_duration(59.96, buf), "1 min 0 s");
    assert_string_equal(units_duration(72.3, buf), "1 min 12 s");
    assert_string_equal(units_duration(119.7, buf), "2 min 0 s");
    assert_string_equal(units_duration(3599.4, buf), "59 min 59 s");
    assert_string_equal(units_duration(3599.7, buf), "1 h 0 min");
    assert_string_equal(units_duration(7500, buf), "2 h 5 min");
    assert_string_equal(units_duration(86400 * 3 + 4 * 3600, buf), "3 d 4 h");
    assert_string_equal(units_duration(-3.42, buf), "-3.42 s");
}

static void minutes_of_an_option(void **state)
{
    (void)state;
    assert_string_equal(units_minutes(0.336, buf), "0.34");
    assert_string_equal(units_minutes(4.21, buf), "4.2");
    assert_string_equal(units_minutes(9.96, buf), "10");
    assert_string_equal(units_minutes(1900.4, buf), "1900");
}

static void shortest_text(void **state)
{
    (void)state;
    assert_string_equal(num_real(0.1, buf), "0.1");
    assert_string_equal(num_real(1.0 / 3, buf), "0.3333333333333333");
    assert_string_equal(num_real(-5e-324, buf), "-5e-324");
    assert_string_equal(num_real(DBL_MAX, buf), "1.7976931348623157e+308");
    assert_string_equal(num_real(40, buf), "40");
}

static void numbers_read_back(void **state)
{
    (void)state;
    double x;
    int64_t n;
    srandom(1234);
    for (int i = 0; i < 2000; i++) {
        double want = ldexp((double)random() / 3, (int)(random() % 1800) - 900);
        assert_int_equal(num_real_parse(num_real(want, buf), &x), 0);
        assert_true(x == want);
    }
    assert_int_equal(num_int_parse("-3Gi", &n), 0);
    assert_true(n == -3 * (INT64_C(1) << 30));
    static const char *const bad[] = {"", " 1", "1 ", "0x10", "1KK", "1kk", "k", "--1", "+"};
    for (int b = 0; b < 9; b++) {
        assert_int_equal(num_int_parse(bad[b], &n), -1);
    }
    static const char *const worse[] = {"", " 1", "1.0 ", "0x1p3", "inf", "1e999", "1,5", ".", "-"};
    for (int b = 0; b < 9; b++) {
        assert_int_equal(num_real_parse(worse[b], &x), -1);
    }
}

static void plural_of_a_count(void **state)
{
    (void)state;
    assert_string_equal(units_plural(1), "");
    assert_string_equal(units_plural(0), "s");
    assert_string_equal(units_plural(INT64_MAX), "s");
}

static void cells_of_a_column(void **state)
{
    (void)state;
    char out[UNITS_CELL_MAX];
    assert_string_equal(units_cell(out, "%.3f", 1.25), "1.250");
    assert_string_equal(units_cell(out, "%.1f %%", -2), "-2.0 %");
    assert_string_equal(units_cell(out, "%.3f", NAN), "-");
    assert_string_equal(units_cell(out, "%.3f", INFINITY), "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_of_a_column),
        cmocka_unit_test(decimal_bytes),
        cmocka_unit_test(sizes_in_any_case),
        cmocka_unit_test(binary_bytes),
        cmocka_unit_test(rates),
        cmocka_unit_test(durations),
        cmocka_unit_test(minutes_of_an_option),
        cmocka_unit_test(shortest_text),
        cmocka_unit_test(numbers_read_back),
        cmocka_unit_test(plural_of_a_count),
    };
    return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
