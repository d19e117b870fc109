/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H
/* Layer 0. Quantities as text for people: three significant digits.
 * Two families that never meet in one table: kB MB GB are powers of 1000, KiB MiB GiB
 * powers of 1024. All functions are local, write into buf and return it; a value that is not finite
 * becomes "n/a". */
#include <stdint.h>

#define UNITS_TEXT_MAX 48

/* "42.4 MB", "512 B". bytes: may be negative. */
const char *units_bytes(double bytes, char buf[UNITS_TEXT_MAX]);

/* "40.5 MiB". */
const char *units_bytes_iec(double bytes, char buf[UNITS_TEXT_MAX]);

/* "1.25 GB/s", from bytes per second. */
const char *units_rate(double bytes_per_s, char buf[UNITS_TEXT_MAX]);

/* "250 ns", "3.42 s", "1 min 12 s", "2 h 5 min", "3 d 4 h", from seconds. */
const char *units_duration(double s, char buf[UNITS_TEXT_MAX]);

/* "0.34", "4.2", "12", "1900": minutes as an option takes them, two digits or whole. */
const char *units_minutes(double minutes, char buf[UNITS_TEXT_MAX]);

/* "" for one of a thing, "s" for others: what its name ends with. */
const char *units_plural(int64_t n);

/* A number for a column, by a format of printf for one double; "-" when it is not finite. */
#define UNITS_CELL_MAX 24
const char *units_cell(char out[UNITS_CELL_MAX], const char *format, double x);

#endif
