/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/beff/rmax.h"

#include <limits.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/json.h"
#include "base/num.h"
#include "base/text.h"

#define LINES_MAX                                                                                  \
    (1 << 20) /* of an output of HPL or HPCC, which has some hundred; a device has no end */

/* Whether b_eff over this rate is a number that means something. */
static bool plausible(double flop_per_s)
{
    return flop_per_s >= 1 && flop_per_s <= 1e30;
}

int beff_rmax_parse(const char *what, const char *text, double *flop_per_s)
{
    static const char *const unit[] = {"", "flop/s", "flops", "flop/sec"};
    static const char prefixes[] = "kmgtpe";
    char number[64], *rest;
    double value;
    (void)strtod(text, &rest); /* where the number ends: 4E is a prefix, 4E5 is not */
    const size_t digits = (size_t)(rest - text);
    snprintf(number, sizeof number, "%.*s", (int)digits, text);
    rest += strspn(rest, " ");
    const char *prefix = *rest ? strchr(prefixes, tolower((unsigned char)*rest)) : NULL;
    bool known = false;
    for (size_t i = 0; i < sizeof unit / sizeof unit[0]; i++)
        known = known || strcasecmp(rest + (prefix != NULL), unit[i]) == 0;
    const bool read = known && digits < sizeof number && num_real_parse(number, &value) == 0;
    const double rate =
        read ? value * pow(10, prefix ? 3.0 * (double)(prefix - prefixes + 1) : 0) : 0;
    if (!plausible(rate))
        return err_set(ERR_USAGE,
                       "%s '%s': a rate from 1 to 1e30 flop/s is expected, such as 45.3G, "
                       "1.2Tflop/s or 4.5e10",
                       what, text);
    *flop_per_s = rate;
    return 0;
}

/* The rate in a line of HPL's or HPCC's output, 0 when it holds none. A line of HPL's table is:
 * name of the variant, N, NB, P, Q, time, Gflop/s. */
static double rate_in(const char *line)
{
    char variant[32], gflops[32];
    double rate;
    if (sscanf(line, "HPL_Tflops=%31s", gflops) == 1)
        return num_real_parse(gflops, &rate) == 0 ? rate * 1e12 : 0;
    if (sscanf(line, " %31s %*d %*d %*d %*d %*31s %31s", variant, gflops) != 2) return 0;
    if (variant[0] != 'W') return 0;
    return num_real_parse(gflops, &rate) == 0 ? rate * 1e9 : 0;
}

int beff_rmax_hpl(const char *path, double *flop_per_s)
{
    char line[512];
    double last = 0; /* a result that the lines behind it may say has failed */
    int failed_n = 0;
    FILE *f = text_open(path);
    if (!f) return err_set_errno(ERR_IO, errno, "--hpl %s", path);
    *flop_per_s = 0;
    for (int i = 0; i < LINES_MAX && fgets(line, sizeof line, f); i++) {
        const double rate = rate_in(line);
        if (failed_n > 0 && strncmp(line, "HPL_Tflops=", 11) == 0) continue; /* that of some row */
        if (plausible(rate)) {
            *flop_per_s = fmax(*flop_per_s, last);
            last = rate;
        } else if (strncmp(line, "||Ax-b||", 8) == 0 && strstr(line, "FAILED")) {
            last = 0;
            failed_n++;
        }
    }
    *flop_per_s = fmax(*flop_per_s, last);
    const bool failed = ferror(f);
    fclose(f);
    if (failed) return err_set_errno(ERR_IO, errno, "--hpl %s", path);
    if (*flop_per_s > 0) return 0;
    if (failed_n > 0)
        return err_set(ERR_USAGE, "--hpl %s: every result in it has FAILED the check of HPL", path);
    return err_set(ERR_USAGE,
                   "--hpl %s: no result of HPL in this file; its output (a table with Gflops) or "
                   "that of HPCC (HPL_Tflops=) is expected, or give the rate with --rmax",
                   path);
}

static int bt_rate(const json_t *result, const char *path, double *flop_per_s, int64_t *cores_n)
{
    json_t *problem, *t_c;
    const char *schema, *origin;
    double flop, seconds;
    TRY(js_get_text(result, path, "schema", &schema));
    if (strncmp(schema, "nht1-bt/", 8) != 0)
        return err_set(ERR_USAGE, "%s: is a result of '%s', not of nht1-bt", path, schema);
    TRY(js_get_object(result, path, "problem", &problem));
    TRY(js_get_object(result, path, "t_c", &t_c));
    TRY(js_get_real(problem, path, "nominal_flop", &flop));
    if (json_is_null(json_object_get(t_c, "t_c_s")))
        return err_set(ERR_USAGE,
                       "%s: this run knew no compute-only time; make it with nht1-bt --io none",
                       path);
    TRY(js_get_real(t_c, path, "t_c_s", &seconds));
    TRY(js_get_text(t_c, path, "origin", &origin));
    if (strcmp(origin, "given") == 0)
        return err_set(ERR_USAGE,
                       "%s: its compute-only time was given (--tc) and is no measurement; make it "
                       "with nht1-bt --io none",
                       path);
    const double cores = js_number(json_object_get(result, "system"), "cores_in_use");
    *cores_n = cores >= 1 && cores <= INT_MAX ? (int64_t)cores : 0;
    *flop_per_s = flop / seconds;
    if (!(flop > 0) || !(seconds > 0) || !plausible(*flop_per_s))
        return err_set(ERR_USAGE,
                       "%s: its operations over its time are no rate from 1 to 1e30 flop/s", path);
    return 0;
}

int beff_rmax_bt(const char *path, double *flop_per_s, int64_t *cores_n)
{
    json_t *result;
    int rc = js_read(path, &result);
    if (rc == 0) {
        rc = bt_rate(result, path, flop_per_s, cores_n);
        json_decref(result);
    }
    if (rc < 0) err_prefix("--bt-result: ");
    return rc;
}
