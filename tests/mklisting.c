/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the diagonal listing (docs/format.md section 5) of a run computed by the dense solver of
 * oracle.c, which shares nothing with bt/ and its writers:
 *
 *     mklisting N STEPS DT INTERVAL [FILE] | gzip -9n >verify/listings/nN.txt.gz
 *
 * The reference listings are those of 12 60 0.01 10, 64 200 0.0008 5 and 102 200 0.0003 5. The
 * error norms of the last state go to standard error, to be compared with [BT] section 11. With
 * FILE the dumps are written there too, in layout mijk and the byte order of the machine, without a
 * manifest. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/oracle.h"

static void print_diagonal(const struct oracle *o)
{
    for (int i = 0; i < o->n; i++) {
        const double *u = oracle_at(o, o->u, i, i, i);
        for (int m = 0; m < BT_NCOMP; m++)
            printf("%15.10f\n", u[m]);
    }
}

static void write_dump(const struct oracle *o, FILE *to)
{
    const size_t cells = (size_t)o->n * (size_t)o->n * (size_t)o->n;
    if (!to || fwrite(o->u, sizeof(double), BT_NCOMP * cells, to) == BT_NCOMP * cells) return;
    perror("mklisting");
    exit(3);
}

static void run(struct oracle *o, int steps, int interval, FILE *dumps)
{
    for (int s = 1; s <= steps; s++) {
        oracle_step(o);
        if (s % interval != 0) continue;
        print_diagonal(o);
        write_dump(o, dumps);
    }
}

int main(int argc, char **argv)
{
    struct oracle o;
    double xce[BT_NCOMP];
    if (argc < 5) {
        fputs("usage: mklisting N STEPS DT INTERVAL [FILE]\n", stderr);
        return 1;
    }
    FILE *dumps = argc > 5 ? fopen(argv[5], "w") : NULL;
    if (argc > 5 && !dumps) perror(argv[5]);
    oracle_new(&o, atoi(argv[1]), strtod(argv[3], NULL));
    run(&o, atoi(argv[2]), atoi(argv[4]), dumps);
    if (dumps && fclose(dumps) != 0) perror(argv[5]);
    oracle_error_norms(&o, xce);
    for (int m = 0; m < BT_NCOMP; m++)
        fprintf(stderr, "%.16e\n", xce[m]);
    oracle_free(&o);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 3;
}
