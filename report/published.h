/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPORT_PUBLISHED_H
#define REPORT_PUBLISHED_H
/* Serial. Results published in 1993: tables 2 to 6 of [F93]. Local. */
#include <stdint.h>

struct published {
    const char *system, *program;
    int64_t n, processors, dumps_n;
    double t_c_s, t_t_s, r_io, zeta; /* as printed; r_io in bytes/s */
    enum published_note {
        PUBLISHED_PLAIN,
        PUBLISHED_ODD,    /* R_IO or zeta is not what T_T and T_C give: show both */
        PUBLISHED_SCALED, /* from 25 of 200 steps */
    } note;
};

/* The rows in the order of the tables. n: [out] how many. */
const struct published *published_rows(int *n);

/* The fastest run of a system at a problem size, NULL when it has none. */
const struct published *published_best(const char *system, int64_t n);

#define PUBLISHED_YMP  "Cray Y-MP"
#define PUBLISHED_CM2  "CM-2"
#define PUBLISHED_IPSC "iPSC/860"

#endif
