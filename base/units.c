/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/units.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Three significant digits of 0 <= x; more for 1000 and above, which are shown as whole numbers. */
static int decimals(double x)
{
    if (x < 9.995) return 2;
    return x < 99.95 ? 1 : 0;
}

static const char *const decimal_bytes[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
static const char *const binary_bytes[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
enum { BYTE_UNITS = 7 };

/* The unit is the largest in which the value, as it will be printed, is at least 1. Whole numbers
 * of bytes are printed whole. */
static const char *scaled(double value, double base, const char *const *unit, const char *per,
                          char *buf)
{
    if (!isfinite(value)) return strcpy(buf, "n/a");
    double x = fabs(value);
    int u = 0;
    while (u < BYTE_UNITS - 1 && x >= base - 0.5) {
        x /= base;
        u++;
    }
    int digits = u == 0 && x == floor(x) ? 0 : decimals(x);
    snprintf(buf, UNITS_TEXT_MAX, "%s%.*f %s%s", value < 0 ? "-" : "", digits, x, unit[u], per);
    return buf;
}

const char *units_bytes(double bytes, char buf[UNITS_TEXT_MAX])
{
    return scaled(bytes, 1000, decimal_bytes, "", buf);
}

const char *units_bytes_iec(double bytes, char buf[UNITS_TEXT_MAX])
{
    return scaled(bytes, 1024, binary_bytes, "", buf);
}

const char *units_rate(double bytes_per_s, char buf[UNITS_TEXT_MAX])
{
    return scaled(bytes_per_s, 1000, decimal_bytes, "/s", buf);
}

/* From a minute on: the two units that matter, the smaller one rounded to a whole number. A
 * duration just below a limit, which its own unit would print as 60 of them, belongs above. */
static const struct {
    double from_s, s, small_s;
    const char *unit, *small_unit;
} pair[] = {
    {86400 - 30, 86400, 3600, "d", "h"},
    {3600 - 0.5, 3600, 60, "h", "min"},
    {60 - 0.05, 60, 1, "min", "s"},
};
enum { PAIRS = sizeof pair / sizeof pair[0] };

const char *units_duration(double s, char buf[UNITS_TEXT_MAX])
{
    const char *sign = s < 0 ? "-" : "";
    if (!isfinite(s)) return strcpy(buf, "n/a");
    double x = fabs(s);
    int p = 0;
    while (p < PAIRS && x < pair[p].from_s) {
        p++;
    }
    if (p == PAIRS) { /* below a minute: one unit */
        static const char *const unit[] = {"ns", "us", "ms", "s"};
        int u = 0;
        for (x *= 1e9; u < 3 && x >= 999.5; u++)
            x /= 1000;
        snprintf(buf, UNITS_TEXT_MAX, "%s%.*f %s", sign, x == 0 ? 0 : decimals(x), x,
                 x == 0 ? "s" : unit[u]);
        return buf;
    }
    double smalls = floor(x / pair[p].small_s + 0.5), per = pair[p].s / pair[p].small_s;
    double bigs = floor(smalls / per);
    snprintf(buf, UNITS_TEXT_MAX, "%s%.0f %s %.0f %s", sign, bigs, pair[p].unit,
             smalls - bigs * per, pair[p].small_unit);
    return buf;
}

const char *units_minutes(double minutes, char buf[UNITS_TEXT_MAX])
{
    snprintf(buf, UNITS_TEXT_MAX, minutes < 9.95 ? "%.2g" : "%.0f", minutes);
    return buf;
}

const char *units_plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

const char *units_cell(char out[UNITS_CELL_MAX], const char *format, double x)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(out, UNITS_CELL_MAX, isfinite(x) ? format : "-", x);
#pragma GCC diagnostic pop
    return out;
}
