/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFF_RMAX_H
#define BEFF_RMAX_H
/* Layer 2, free of MPI. Floating-point rates to compare b_eff with: the balance factor is b_eff
 * divided by the Linpack rate R_max, bytes per flop [RK01] section 2.1. All functions are local. */
#include <stdint.h>

/* Reads "45.3G", "1.2 Tflop/s", "4.5e10", "800 Mflops": a number, a prefix k M G T P E, flop/s.
 * what: the option, for the message. Returns 0 or ERR_USAGE. */
int beff_rmax_parse(const char *what, const char *text, double *flop_per_s);

/* The best rate in the output of HPL (its table of results) or of HPCC (HPL_Tflops=). Returns 0,
 * ERR_IO, or ERR_USAGE when there is none. */
int beff_rmax_hpl(const char *path, double *flop_per_s);

/* The rate of a result of nht1-bt: operations by BT's nominal count over the time T_C, which was measured. [out]
 * cores_n: the cores that it was measured on, 0: it does not say. Returns 0, ERR_IO or ERR_USAGE. */
int beff_rmax_bt(const char *path, double *flop_per_s, int64_t *cores_n);

#endif
