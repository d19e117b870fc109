/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_NUM_H
#define BASE_NUM_H
/* Layer 0. Arithmetic with sizes, and numbers to text and back. The decimal point is '.', since no
 * program sets a locale (tests/build.bats holds them to it). */
#include <stddef.h>
#include <stdint.h>

static inline int64_t num_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t num_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* --- sizes and counts that come from an option or a file ------------------------------------
 * None is negative. What overflows an int64_t, or comes from a negative number, is
 * NUM_ENDLESS, and so is what is computed from that (except 0 times it, and a quotient of it): one
 * comparison at the end tells whether any step overflowed. */
#define NUM_ENDLESS INT64_MAX

static inline int64_t num_product(int64_t a, int64_t b)
{
    int64_t c;
    if (a < 0 || b < 0) return NUM_ENDLESS;
    return __builtin_mul_overflow(a, b, &c) ? NUM_ENDLESS : c;
}

static inline int64_t num_sum(int64_t a, int64_t b)
{
    int64_t c;
    if (a < 0 || b < 0) return NUM_ENDLESS;
    return __builtin_add_overflow(a, b, &c) ? NUM_ENDLESS : c;
}

/* a / b, rounded up; b >= 1. */
static inline int64_t num_quotient_up(int64_t a, int64_t b)
{
    if (a < 0 || b < 1 || a == NUM_ENDLESS) return NUM_ENDLESS;
    return a / b + (a % b > 0);
}

/* The whole number nearest to x. Local. */
int64_t num_round(double x);

/* --- text ----------------------------------------------------------------------------------- */

#define NUM_TEXT_MAX 32

/* The shortest decimal text that reads back as the same double. Local. Returns buf. */
const char *num_real(double x, char buf[NUM_TEXT_MAX]);

/* Reads a whole text as a finite decimal number. Local. Returns 0, or -1 when it is not one. */
int num_real_parse(const char *text, double *out);

/* Reads a whole text as a decimal integer with an optional suffix: k M G T are 10^3 to 10^12,
 * Ki Mi Gi Ti 2^10 to 2^40; a B may follow a suffix; small letters mean the same as capitals. Local. Returns 0, or -1 when it is not one or
 * does not fit. */
int num_int_parse(const char *text, int64_t *out);

/* The number that is the first line of a small file, as the system's own files have it; 0 when
 * there is none, "max" among them, or the file cannot be read. Local. */
int64_t num_int_read(const char *path);

#endif
