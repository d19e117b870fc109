/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stands in for the released b_eff in the test of runs/study released: leaves PREFIX.sum in the shape of
 * tests/samples, with a made-up value. MEMORY_PER_PROCESSOR has to be defined. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    char name[4096] = "b_eff.sum";
    int rank, n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (argc == 3 && strcmp(argv[1], "-f") == 0) snprintf(name, sizeof name, "%s.sum", argv[2]);
    FILE *f = rank == 0 ? fopen(name, "w") : NULL;
    if (f) {
        fprintf(f, "b_eff.c, Revision 3.6.0.1 from Feb 02, 2016\n\nMEMORY_PER_PROCESSOR = %d MBytes  [1M = 1024*1024]\n",
                MEMORY_PER_PROCESSOR);
        fprintf(f, "accumulated |%7d%13.0f     1 MB%11.0f%13.0f%10.3f%10.3f%10.3f%13.0f\n", n, 500.0 * n, 900.0 * n, 950.0 * n,
                2.0, 2.5, 1.5, 800.0);
        fprintf(f, "per process |%20.0f%20.0f%13.0f\n\nSECTION-BEFF-END\n\n", 500.0, 900.0, 950.0);
        fprintf(f, "b_eff = %10.3f MB/s = %7.3f * %3d PEs with %d MB/PE on Stand In\n", 500.0 * n, 500.0, n,
                MEMORY_PER_PROCESSOR);
        fclose(f);
    }
    MPI_Finalize();
    return 0;
}
