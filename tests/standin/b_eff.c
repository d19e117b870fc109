/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stands in for the released b_eff in the test of runs/study released: leaves PREFIX.sum in the whole
 * shape of tests/samples and PREFIX.prot with its sections, with made-up values: a process sends 1 + pattern
 * MB/s by every method at every size. MEMORY_PER_PROCESSOR has to be defined. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES = 21, RINGS = 6, RANDOM = 30 };

static FILE *opened(const char *prefix, const char *end)
{
    char name[4096];
    snprintf(name, sizeof name, "%s.%s", prefix, end);
    FILE *f = fopen(name, "w");
    if (!f) exit(1);
    return f;
}

static int size_of(int i)
{
    const double lmax = MEMORY_PER_PROCESSOR * 8192.0;
    return i < 13 ? 1 << i : (int)(4096 * pow(lmax / 4096, (i - 12) / 8.0) + 0.5);
}

/* What both files begin with. The patterns that are only reported are those of four processes. */
static void head(FILE *f, int n)
{
    static const char *const reported[] = {
        "worst-cyc-1dim",   "best  bi-section", "worst bi-section", "one PingPong Pair",
        "acyclic-2dim-all", "acyclic-3dim-all", "cyclic-2dim-x",    "cyclic-2dim-y",
        "cyclic-2dim-all",  "cyclic-3dim-x",    "cyclic-3dim-y",    "cyclic-3dim-all"};
    const int rings = RINGS, used = RINGS + RANDOM, all = used + 12;
    int dims[2] = {0, 0};
    MPI_Dims_create(n, 2, dims);
    fprintf(f,
            "\nSECTION-HEAD-BEGIN\n\nb_eff.c, Revision 3.6.0.1 from Feb 02, 2016\n\n"
            "MEMORY_PER_PROCESSOR = %d MBytes  [1M = 1024*1024]\n"
            "2-dim-patterns: size = %d * %d\n3-dim-patterns: size = %d * %d * 1\n"
            "Used message lengths:\nmsglng=",
            MEMORY_PER_PROCESSOR, dims[0], dims[1], dims[0], dims[1]);
    for (int i = 0; i < SIZES; i++)
        fprintf(f, " %d", size_of(i));
    fprintf(f, "\nUsed methods:  0=Sndrcv  1=Alltoal  2=non-blk\nUsed patterns:");
    for (int p = 0; p < all; p++) {
        char ring[64];
        snprintf(ring, sizeof ring, p == 0 && n == 4 ? "ring-2*2fix" : "ring-1*%dfix", n);
        fprintf(f, "%s %2d=%-17s", p && p % 4 == 0 ? "\n              " : "", p,
                p < rings  ? ring
                : p < used ? "random-cyc-1dim"
                           : reported[p - used]);
    }
    fprintf(f,
            "\n\n               0-%d   used for ring pattern average of b_eff\n"
            "               %d-%d  used for random pattern average of b_eff\n"
            "               %d-%d only reported, not used for b_eff average\n\n"
            "SECTION-HEAD-END\n\n",
            rings - 1, rings, used - 1, used, all - 1);
}

static void summary(FILE *f, int n)
{
    static const char *const heading[] = {
        " number  |   b_eff   |  Lmax  |   b_eff   |   b_eff   | Latency | Latency | Latency | "
        "ping-pong  ",
        " of pro  |           |        |  at Lmax  |  at Lmax  | rings & |  rings  |  ping-  | "
        "bandwith   ",
        " cessors |           |        |  rings &  |   rings   | random  |  only   |  pong   | "
        "           ",
        "         |           |        |  random   |   only    | micro-  | micro-  | micro-  | "
        "           ",
        "         |  MByte/s  |        |  MByte/s  |  MByte/s  |  sec    |  sec    |  sec    | "
        " MByte/s   "};
    head(f, n);
    fprintf(f,
            "system parameters  : %d nodes, %d MB/node\n       system name : Stand\n"
            "       hostname    : in\n       OS release  : 1\n       OS version  : 2\n"
            "       machine     : none\n\nDate of measurement: Mon Nov 23 03:21:05 2026\n\n"
            "Total execution wall clock time = %5.0f seconds\n\n",
            n, MEMORY_PER_PROCESSOR, 7.0);
    for (int i = 0; i < 5; i++)
        fprintf(f, "%12s|%s\n", "", heading[i]);
    for (int i = 0; i < 110; i++)
        fputc('-', f);
    fprintf(f, "\n%12s|%97s\n", "", "");
    fprintf(f, "accumulated |%7d%13.0f %5.3g MB%11.0f%13.0f%10.3f%10.3f%10.3f%13.0f%20s\n", n,
            500.0 * n, size_of(20) / 1048576.0, 900.0 * n, 950.0 * n, 2.0, 2.5, 1.5, 800.0, "");
    fprintf(f, "%12s|%97s\n", "", "");
    fprintf(f, "per process |%20.0f%20.0f%13.0f%54s\n\n\nSECTION-BEFF-END\n\n", 500.0, 900.0, 950.0,
            "");
    fprintf(f, "b_eff = %10.3f MB/s = %7.3f * %3d PEs with %d MB/PE on Stand in 1 2 none\n",
            500.0 * n, 500.0, n, MEMORY_PER_PROCESSOR);
}

static void protocol(FILE *f, int n)
{
    head(f, n);
    fprintf(f, "SECTION-VALUES-BEGIN\n");
    for (int i = 0; i < SIZES; i++)
        for (int m = 0; m < 3; m++)
            for (int p = 0; p < RINGS + RANDOM; p++) {
                fprintf(f, "L=%8d mthd=%d pat=%2d min:", size_of(i), m, p);
                for (int r = 0; r < 3; r++)
                    fprintf(f, "%9.3f", 1.0 + p - 0.1 * r);
                fprintf(f, " -> %9.3f (%.3f sec)\n", 1.0 + p, 0.005);
            }
    fprintf(f, "SECTION-VALUES-END\n");
}

int main(int argc, char **argv)
{
    int rank, n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    const char *const prefix = argc == 3 && strcmp(argv[1], "-f") == 0 ? argv[2] : "b_eff";
    if (rank == 0) {
        FILE *f = opened(prefix, "sum");
        summary(f, n);
        fclose(f);
        f = getenv("STANDIN_NO_PROTOCOL") ? NULL : opened(prefix, "prot");
        if (f) protocol(f, n);
        if (f) fclose(f);
    }
    MPI_Finalize();
    return 0;
}
