/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stands in for the released b_eff_io in the test of runs/study released: takes its options, measures
 * nothing, and leaves PREFIX.sum in the whole shape of tests/samples, with 100 MB/s everywhere. */
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

/* A partition of n processes. */
static void partition(FILE *f, int n, int mb, int mt, double minutes)
{
    fprintf(f,
            "Summary of file I/O bandwidth accumulated on %3d processes with %4d MByte/PE\n"
            "-----------------------------------------------------------------------------\n\n"
            " number pos chunk-   access   type=0   type=1   type=2   type=3   type=4\n"
            " of PEs     size (l) methode scatter  shared  separate segmened seg-coll\n"
            "            [bytes]  methode  [MB/s]   [MB/s]   [MB/s]   [MB/s]   [MB/s]\n"
            " -----------------------------------------------------------------------\n\n",
            n, mb);
    rows(f, n, "write", "100.000");
    rows(f, n, "rewrite", "-");
    rows(f, n, "read", "100.000");
    fprintf(f,
            "This table shows all results, except pattern 2 (scatter, l=1MBytes, L=2MBytes): \n"
            "  bw_pat2=  100.000 MB/s write,  100.000 MB/s rewrite,  100.000 MB/s read\n\n"
            "(For gnuplot:)\n"
            "  set xtics ( '1k' 1, '+8' 2, '32k' 4, '+8' 5, '1M' 7, '+8' 8, '2M' 10)\n"
            "  set title 'Stand in 1 2 none' -4\n"
            "  set label 1 'b_eff_io'  at 10,50000 right\n"
            "  set label 2 'rel. 2.1'  at 10,25000 right\n"
            "  set label 3 'T=%.1fmin' at 10,12500 right\n"
            "  set label 4 'n=%d'     at 10,6250  right\n\n",
            minutes, n);
    fprintf(f,
            "weighted average bandwidth for write   :  100.000 MB/s on %d processes\n"
            "weighted average bandwidth for rewrite :  100.000 MB/s on %d processes\n"
            "weighted average bandwidth for read    :  100.000 MB/s on %d processes\n"
            "(type=0 is weighted double)\n\n"
            "Total amount of data written/read with each access method: %8.3f MBytes\n"
            "  = %.1f percent of the total memory (%d MBytes)\n\n",
            n, n, n, 0.5 * mt, 50.0, mt);
    fprintf(f,
            "b_eff_io of these measurements =  100.000 MB/s on %d processes with %d MByte/PE and "
            "scheduled time=%.1f min\n\n"
            "NOT VALID for comparison of different systems\n"
            "  criterion 1: scheduled time %.1f min >= 30 min -- NOT reached\n"
            "  criterion 2: shared file pointers must be used for pattern type 1 -- reached\n"
            "  criterion 3: error count (0) == 0 -- reached\n\n",
            n, mb, minutes, minutes);
}

/* list: the partitions as -N has them. */
static void sum(FILE *f, const char *list, int mb, int mt, int t)
{
    int n[10], partitions = 0, used = 0;
    while (partitions < 10 && sscanf(list, "%d%n", &n[partitions], &used) == 1) {
        list += used + (list[used] == ',');
        partitions++;
    }
    if (partitions == 0) return; /* an empty summary */
    const double minutes = t / partitions / 60.0;
    fprintf(f,
            "b_eff_io.c, Revision 2.1 from Dec. 12, 2001\n\n"
            "MEMORY_PER_PROCESSOR = %4d MBytes  [1MBytes = 1024*1024 bytes, 1MB = 1e6 bytes]\n"
            "Maximum chunk size   =    2.000 MBytes\n\n-N ",
            mb);
    for (int i = 0; i < partitions; i++)
        fprintf(f, "%s%d", i ? "," : " ", n[i]);
    fprintf(f,
            " T=%d, MT=%d MBytes\nPATH=p, PREFIX=f\n       system name : Stand\n"
            "       hostname    : in\n       OS release  : 1\n       OS version  : 2\n"
            "       machine     : none\n\nDate of measurement: Mon Nov 23 03:10:50 2026\n\n\n\n",
            t, mt);
    for (int i = 0; i < partitions; i++)
        partition(f, n[i], mb, mt, minutes);
    fprintf(f,
            "Maximum over all number of PEs\n------------------------------\n\n\n"
            " b_eff_io =  100.000 MB/s on %d processes with %d MByte/PE, scheduled time=%.1f Min, "
            "on Stand in 1 2 none, NOT VALID (see above)\n",
            n[0], mb, minutes);
}

int main(int argc, char **argv)
{
    const char *prefix = "b_eff_io", *fails = getenv("STANDIN_FAILS");
    char name[4096], all[16];
    const char *list = all;
    int rank, n, mb = 0, mt = 0, t = 1800;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    snprintf(all, sizeof all, "%d", n);
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "-N") == 0) list = argv[i + 1];
        if (strcmp(argv[i], "-MB") == 0) mb = atoi(argv[i + 1]);
        if (strcmp(argv[i], "-MT") == 0) mt = atoi(argv[i + 1]);
        if (strcmp(argv[i], "-T") == 0) t = atoi(argv[i + 1]);
        if (strcmp(argv[i], "-f") == 0) prefix = argv[i + 1];
    }
    if (mb == 0 || mt == 0) return 1;
    snprintf(name, sizeof name, "%s.sum", prefix);
    FILE *f = rank == 0 && !fails ? fopen(name, "w") : NULL;
    if (f) {
        sum(f, list, mb, mt, t);
        fclose(f);
    }
    MPI_Finalize();
    return fails ? 3 : 0;
}
