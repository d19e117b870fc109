/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stands in for the released b_eff_io in the test of runs/study released: takes its options, measures
 * nothing, and leaves PREFIX.sum in the shape of tests/samples, with 100 MB/s everywhere. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void rows(FILE *f, int n, const char *access, const char *others)
{
    static const long bytes[] = {1024, 1032, 32768, 32776, 1048576, 1048584, 2097152};
    char total[32];
    for (int pos = 1; pos <= 7; pos++)
        fprintf(f, "%4d PEs %d %8ld %-7s %8.3f %8s %8s %8s %8s\n", n, pos, bytes[pos - 1], access,
                100.0, others, others, others, others);
    snprintf(total, sizeof total, "total-%s", access);
    fprintf(f, "%4d PEs      %-13s %8.3f %8s %8s %8s %8s\n\n", n, total, 100.0, others, others,
            others, others);
}

static void sum(FILE *f, int n, int mb, int mt, int t)
{
    fprintf(
        f,
        "b_eff_io.c, Revision 2.1 from Dec. 12, 2001\n\n"
        "MEMORY_PER_PROCESSOR = %4d MBytes  [1MBytes = 1024*1024 bytes, 1MB = 1e6 bytes]\n"
        "Maximum chunk size   =    2.000 MBytes\n\n-N  %d T=%d, MT=%d MBytes\nPATH=p, PREFIX=f\n\n",
        mb, n, t, mt);
    fprintf(f, "Summary of file I/O bandwidth accumulated on %3d processes with %4d MByte/PE\n\n",
            n, mb);
    rows(f, n, "write", "100.000");
    rows(f, n, "rewrite", "-");
    rows(f, n, "read", "100.000");
    fprintf(f, "  bw_pat2=  100.000 MB/s write,  100.000 MB/s rewrite,  100.000 MB/s read\n\n");
    fprintf(f, "weighted average bandwidth for write   :  100.000 MB/s on %d processes\n", n);
    fprintf(f, "weighted average bandwidth for rewrite :  100.000 MB/s on %d processes\n", n);
    fprintf(f, "weighted average bandwidth for read    :  100.000 MB/s on %d processes\n", n);
    fprintf(f,
            "b_eff_io of these measurements =  100.000 MB/s on %d processes with %d MByte/PE and "
            "scheduled time=%.1f min\n\n",
            n, mb, t / 60.0);
    fprintf(f, "NOT VALID for comparison of different systems\n\n");
    fprintf(f,
            " b_eff_io =  100.000 MB/s on %d processes with %d MByte/PE, scheduled time=%.1f Min, "
            "on Stand In, NOT VALID (see above)\n",
            n, mb, t / 60.0);
}

int main(int argc, char **argv)
{
    const char *prefix = "b_eff_io", *fails = getenv("STANDIN_FAILS");
    char name[4096];
    int rank, n, mb = 0, mt = 0, t = 1800;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "-MB") == 0) mb = atoi(argv[i + 1]);
        if (strcmp(argv[i], "-MT") == 0) mt = atoi(argv[i + 1]);
        if (strcmp(argv[i], "-T") == 0) t = atoi(argv[i + 1]);
        if (strcmp(argv[i], "-f") == 0) prefix = argv[i + 1];
    }
    if (mb == 0 || mt == 0) return 1;
    snprintf(name, sizeof name, "%s.sum", prefix);
    FILE *f = rank == 0 && !fails ? fopen(name, "w") : NULL;
    if (f) {
        sum(f, n, mb, mt, t);
        fclose(f);
    }
    MPI_Finalize();
    return fails ? 3 : 0;
}
