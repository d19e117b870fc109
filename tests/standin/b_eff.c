/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stands in for the released b_eff in the test of runs/study released: leaves PREFIX.sum in the shape of
 * tests/samples and PREFIX.prot with its sections, with made-up values: a process sends 1 + pattern MB/s
 * by every method at every size. MEMORY_PER_PROCESSOR has to be defined. */
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

static void summary(FILE *f, int n)
{
    fprintf(f,
            "b_eff.c, Revision 3.6.0.1 from Feb 02, 2016\n\nMEMORY_PER_PROCESSOR = %d MBytes  [1M "
            "= 1024*1024]\n",
            MEMORY_PER_PROCESSOR);
    fprintf(f, "accumulated |%7d%13.0f %5.3g MB%11.0f%13.0f%10.3f%10.3f%10.3f%13.0f\n", n,
            500.0 * n, size_of(20) / 1048576.0, 900.0 * n, 950.0 * n, 2.0, 2.5, 1.5, 800.0);
    fprintf(f, "per process |%20.0f%20.0f%13.0f\n\nSECTION-BEFF-END\n\n", 500.0, 900.0, 950.0);
    fprintf(f, "b_eff = %10.3f MB/s = %7.3f * %3d PEs with %d MB/PE on Stand In\n", 500.0 * n,
            500.0, n, MEMORY_PER_PROCESSOR);
}

static void protocol(FILE *f, int n)
{
    fprintf(
        f, "\nSECTION-HEAD-BEGIN\n\nb_eff.c, Revision 3.6.0.1 from Feb 02, 2016\n\nUsed patterns:");
    for (int p = 0; p < RINGS + RANDOM; p++) {
        char name[64] = "random-cyc-1dim";
        if (p < RINGS) snprintf(name, sizeof name, "ring-1*%dfix", n);
        fprintf(f, "%s %2d=%-17s", p && p % 4 == 0 ? "\n              " : "", p, name);
    }
    fprintf(f, "\n\nSECTION-HEAD-END\n\nSECTION-VALUES-BEGIN\n");
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
