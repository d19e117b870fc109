/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_PROBLEM_H
#define BT_PROBLEM_H
/* Layer 2, but free of MPI and of everything in io/, so that the serial programs share it. What is
 * solved: problem classes, constants and published norms of NAS BT. Source: [BT] sections 1, 2, 10,
 * 11 (keys: docs/references.md). */
#include <stdbool.h>
#include <stdint.h>

#define BT_NCOMP 5
#define BT_N_MIN 6
#define BT_N_MAX 65536 /* 40 N^3 bytes stay far inside int64_t */

/* Constants of [BT] section 2. */
#define BT_C1    1.4
#define BT_C2    0.4
#define BT_KAPPA 0.1   /* c3 c4, viscosity */
#define BT_KE    0.196 /* c1 c5 c3 c4, heat conduction */
#define BT_A43   (4.0 / 3.0)
#define BT_EPS4  0.25 /* fourth-order dissipation */

struct bt_problem {
    char cls;      /* 'S','W','A'..'F', or 'U' for a free one */
    int64_t n;     /* N: grid points along each side */
    int64_t steps; /* N_S */
    double dt;
    int64_t interval; /* I_W: steps between dumps; a dump is due after step s when s % I_W == 0 */
    bool last;        /* dump the last step too */
};

/* Norms of a class, as published, or of the same with fewer steps, computed by the tests' second solver
 * (tests/oracle.h); has_mean is false for F, whose BT-IO means were never published. */
struct bt_reference {
    char cls;
    int64_t n, steps;
    double dt;
    double residual[BT_NCOMP];   /* xcr */
    double error[BT_NCOMP];      /* xce */
    double mean_error[BT_NCOMP]; /* mean of xce over the dumps at I_W = 5 */
    bool has_mean;
    bool computed; /* fewer steps than the class */
};

#define BT_TOLERANCE   1e-8 /* relative, of every norm; absolute, of dt */
#define BT_DT_RELATIVE 1e-6 /* of dt as well, or 1e-8 would be 1.6 % of class F's */

/* Fills in N, N_S, dt and I_W of a class (I_W: 10 for S by [F93] table 1, else 5). ERR_USAGE for a
 * letter that is not a class. */
int bt_problem_class(char cls, struct bt_problem *p);

/* The classes with their published values, smallest first; NULL behind the last one. */
const struct bt_reference *bt_reference_at(int i);

/* The values for this N, N_S and dt, or NULL when none are known. */
const struct bt_reference *bt_reference_find(int64_t n, int64_t steps, double dt);

/* Largest relative deviation of five numbers from their reference; NaN counts as infinite. */
double bt_reference_deviation(const double x[BT_NCOMP], const double ref[BT_NCOMP]);

/* Number of dumps of a run. */
int64_t bt_problem_dumps(const struct bt_problem *p);

/* True when a dump is due after step s = 1..steps. */
bool bt_problem_dump_due(const struct bt_problem *p, int64_t s);

/* Nominal floating-point operations of N_S steps, [BT] section 10. */
double bt_problem_flop(const struct bt_problem *p);

#endif
