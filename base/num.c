/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/num.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t num_round(double x)
{
    return x >= 0 && x < 0x1p63 ? llround(x) : NUM_ENDLESS;
}

const char *num_real(double x, char buf[NUM_TEXT_MAX])
{
    bool whole = fabs(x) < 1e15 && x == floor(x);
    if (whole) {
        snprintf(buf, NUM_TEXT_MAX, "%.0f", x);
        return buf;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(buf, NUM_TEXT_MAX, "%.*g", digits, x);
        double back;
        if (num_real_parse(buf, &back) == 0 && back == x) break;
    }
    return buf;
}

int num_real_parse(const char *text, double *out)
{
    if (!*text || strspn(text, "0123456789+-.eE") != strlen(text)) return -1;
    char *end;
    double x = strtod(text, &end);
    if (end == text || *end || !isfinite(x)) return -1;
    *out = x;
    return 0;
}

static const struct {
    const char *text;
    int64_t factor;
} suffix[] = {
    {"", 1},
    {"k", 1000},
    {"M", 1000000},
    {"G", 1000000000},
    {"T", INT64_C(1000000000000)},
    {"Ki", INT64_C(1) << 10},
    {"Mi", INT64_C(1) << 20},
    {"Gi", INT64_C(1) << 30},
    {"Ti", INT64_C(1) << 40},
};

int num_int_parse(const char *text, int64_t *out)
{
    if (!*text || !strchr("+-0123456789", *text)) return -1;
    char *end;
    errno = 0;
    int64_t value = strtoll(text, &end, 10);
    if (errno || end == text) return -1;
    for (size_t s = 0; s < sizeof suffix / sizeof suffix[0]; s++) {
        const size_t n = strlen(suffix[s].text);
        if (strncasecmp(end, suffix[s].text, n) != 0) continue;
        if (end[n] && (n == 0 || strcasecmp(end + n, "B") != 0)) continue; /* 512MiB is 512Mi */
        return __builtin_mul_overflow(value, suffix[s].factor, out) ? -1 : 0;
    }
    return -1;
}

int64_t num_int_read(const char *path)
{
    char text[64] = "";
    int64_t value = 0;
    FILE *f = fopen(path, "re");
    if (!f) return 0;
    if (!fgets(text, sizeof text, f)) text[0] = '\0';
    fclose(f);
    text[strcspn(text, "\n")] = '\0';
    return num_int_parse(text, &value) == 0 ? value : 0;
}
