/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An MPI program whose calls of MPI-IO are known, for the tests of nht1-profile:
 *
 *     mkcalls all FILE        every data access function, function number k (in the order below) k + 1
 *                             times with 8 (k + 1) bytes, and counts and statuses are checked
 *     mkcalls holes FILE      write_all through a view of blocks of 64 bytes, every second one
 *     mkcalls uneven FILE     rank r writes r + 1 times, rank 0 a header of 100 bytes before
 *     mkcalls separate FILE   every rank a file of its own, FILE.RANK
 *     mkcalls self FILE       rank 0 alone, then all
 *     mkcalls read-back FILE  writes and reads the same
 *     mkcalls abort|kill FILE writes ten times; then the last rank calls MPI_Abort or kills itself
 *     mkcalls sleep FILE      writes 8 MB ten times, 50 ms apart
 *     mkcalls cost FILE N B   N times write_at of B bytes: prints seconds per call
 *
 * Ends with status 1 when a status or what is read is wrong. */
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, size, wrong;
static char buf[1 << 20];

static void check(MPI_Status *status, int words)
{
    int n = -1;
    MPI_Get_count(status, MPI_DOUBLE, &n);
    if (n == words) return;
    fprintf(stderr, "rank %d: a call moved %d words of %d\n", rank, n, words);
    wrong = 1;
}

/* Function number k once, n words. */
static void call(MPI_File f, int k, int n, MPI_Offset at)
{
    MPI_Status s;
    MPI_Request r = MPI_REQUEST_NULL;
    const MPI_Datatype t = MPI_DOUBLE;
    switch (k) {
    case 0:
        MPI_File_write_at(f, at, buf, n, t, &s);
        break;
    case 1:
        MPI_File_write_at_all(f, at, buf, n, t, &s);
        break;
    case 2:
        MPI_File_iwrite_at(f, at, buf, n, t, &r);
        break;
    case 3:
        MPI_File_write_at_all_begin(f, at, buf, n, t), MPI_File_write_at_all_end(f, buf, &s);
        break;
    case 4:
        MPI_File_write(f, buf, n, t, &s);
        break;
    case 5:
        MPI_File_write_all(f, buf, n, t, &s);
        break;
    case 6:
        MPI_File_iwrite(f, buf, n, t, &r);
        break;
    case 7:
        MPI_File_write_all_begin(f, buf, n, t), MPI_File_write_all_end(f, buf, &s);
        break;
    case 8:
        MPI_File_write_shared(f, buf, n, t, &s);
        break;
    case 9:
        MPI_File_write_ordered(f, buf, n, t, &s);
        break;
    case 10:
        MPI_File_iwrite_shared(f, buf, n, t, &r);
        break;
    case 11:
        MPI_File_write_ordered_begin(f, buf, n, t), MPI_File_write_ordered_end(f, buf, &s);
        break;
    case 12:
        MPI_File_iwrite_at_all(f, at, buf, n, t, &r);
        break;
    case 13:
        MPI_File_iwrite_all(f, buf, n, t, &r);
        break;
    case 14:
        MPI_File_read_at(f, at, buf, n, t, &s);
        break;
    case 15:
        MPI_File_read_at_all(f, at, buf, n, t, &s);
        break;
    case 16:
        MPI_File_iread_at(f, at, buf, n, t, &r);
        break;
    case 17:
        MPI_File_read_at_all_begin(f, at, buf, n, t), MPI_File_read_at_all_end(f, buf, &s);
        break;
    case 18:
        MPI_File_read(f, buf, n, t, &s);
        break;
    case 19:
        MPI_File_read_all(f, buf, n, t, &s);
        break;
    case 20:
        MPI_File_iread(f, buf, n, t, &r);
        break;
    case 21:
        MPI_File_read_all_begin(f, buf, n, t), MPI_File_read_all_end(f, buf, &s);
        break;
    case 22:
        MPI_File_read_shared(f, buf, n, t, &s);
        break;
    case 23:
        MPI_File_read_ordered(f, buf, n, t, &s);
        break;
    case 24:
        MPI_File_iread_shared(f, buf, n, t, &r);
        break;
    case 25:
        MPI_File_read_ordered_begin(f, buf, n, t), MPI_File_read_ordered_end(f, buf, &s);
        break;
    case 26:
        MPI_File_iread_at_all(f, at, buf, n, t, &r);
        break;
    case 27:
        MPI_File_iread_all(f, buf, n, t, &r);
        break;
    default:
        return;
    }
    if (r != MPI_REQUEST_NULL) MPI_Wait(&r, &s);
    check(&s, n);
}

static MPI_File opened(MPI_Comm comm, const char *name)
{
    MPI_File f;
    if (MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f) !=
        MPI_SUCCESS) {
        fprintf(stderr, "cannot open %s\n", name);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return f;
}

static void all_functions(const char *name)
{
    MPI_File f = opened(MPI_COMM_WORLD, name);
    /* Nothing is read near the end of the file: one MPI-IO library hangs there. */
    MPI_File_set_size(f, 1 << 24);
    for (int k = 0; k < 28; k++) {
        if (k == 14) {
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_File_seek(f, 0, MPI_SEEK_SET);
            MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
        }
        for (int i = 0; i <= k; i++)
            call(f, k, k + 1, 65536 * (MPI_Offset)rank + 1024 * i);
    }
    MPI_File_close(&f);
}

static void holes(const char *name)
{
    MPI_File f = opened(MPI_COMM_WORLD, name);
    MPI_Datatype blocks;
    MPI_Status s;
    MPI_Type_vector(16, 8, 16, MPI_DOUBLE, &blocks);
    MPI_Type_commit(&blocks);
    MPI_File_set_view(f, 2048 * rank, MPI_DOUBLE, blocks, "native", MPI_INFO_NULL);
    MPI_File_write_all(f, buf, 128, MPI_DOUBLE, &s);
    check(&s, 128);
    MPI_Type_free(&blocks);
    MPI_File_close(&f);
}

static void uneven(const char *name)
{
    MPI_File f = opened(MPI_COMM_WORLD, name);
    MPI_Status s;
    if (rank == 0) MPI_File_write_at(f, 0, buf, 100, MPI_BYTE, &s);
    for (int i = 0; i <= rank; i++)
        MPI_File_write_at(f, 100 + 4096 * (16 * rank + i), buf, 4096, MPI_BYTE, &s);
    MPI_File_close(&f);
}

static void separate(const char *name)
{
    char mine[4096];
    MPI_Status s;
    snprintf(mine, sizeof mine, "%s.%d", name, rank);
    MPI_File f = opened(MPI_COMM_SELF, mine);
    for (int i = 0; i < 3; i++)
        MPI_File_write(f, buf, 1000, MPI_BYTE, &s);
    MPI_File_close(&f);
}

static void self(const char *name)
{
    MPI_Status s;
    if (rank == 0) {
        MPI_File f = opened(MPI_COMM_SELF, name);
        MPI_File_write(f, buf, 10, MPI_DOUBLE, &s);
        MPI_File_close(&f);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File f = opened(MPI_COMM_WORLD, name);
    MPI_File_write_at_all(f, 80 + 8 * rank, buf, 1, MPI_DOUBLE, &s);
    MPI_File_close(&f);
}

static void read_back(const char *name)
{
    MPI_File f = opened(MPI_COMM_WORLD, name);
    MPI_Status s;
    memset(buf, 'a' + rank, 1000);
    MPI_File_write_at_all(f, 1000 * rank, buf, 1000, MPI_BYTE, &s);
    MPI_File_sync(f);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at_all(f, 1000 * rank, buf, 1000, MPI_BYTE, &s);
    wrong |= buf[999] != 'a' + rank;
    MPI_File_close(&f);
}

static void cost(const char *name, int n, int bytes)
{
    MPI_File f = opened(MPI_COMM_SELF, name);
    MPI_Status s;
    struct timespec from, to;
    for (int pass = 0; pass < 2; pass++) {
        clock_gettime(CLOCK_MONOTONIC, &from);
        for (int i = 0; i < n; i++)
            MPI_File_write_at(f, 0, buf, bytes, MPI_BYTE, &s);
        clock_gettime(CLOCK_MONOTONIC, &to);
    }
    const double s_all =
        (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    if (rank == 0) printf("%.9f\n", s_all / n);
    MPI_File_close(&f);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 1);
    const char *what = argv[1], *name = argv[2];
    if (strcmp(what, "all") == 0) all_functions(name);
    if (strcmp(what, "holes") == 0) holes(name);
    if (strcmp(what, "uneven") == 0) uneven(name);
    if (strcmp(what, "separate") == 0) separate(name);
    if (strcmp(what, "self") == 0) self(name);
    if (strcmp(what, "read-back") == 0) read_back(name);
    if (strcmp(what, "cost") == 0 && argc == 5) cost(name, atoi(argv[3]), atoi(argv[4]));
    if (strcmp(what, "abort") == 0 || strcmp(what, "kill") == 0) {
        MPI_File f = opened(MPI_COMM_WORLD, name);
        MPI_Status s;
        for (int i = 0; i < 10; i++)
            MPI_File_write_at(f, 1000 * (10 * rank + i), buf, 1000, MPI_BYTE, &s);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == size - 1 && *what == 'a') MPI_Abort(MPI_COMM_WORLD, 7);
        if (rank == size - 1) kill(getpid(), SIGKILL);
        sleep(30);
    }
    if (strcmp(what, "sleep") == 0) {
        MPI_File f = opened(MPI_COMM_WORLD, name);
        for (int i = 0; i < 10; i++) {
            MPI_Status s;
            for (int b = 0; b < 8; b++)
                MPI_File_write_at(f, ((MPI_Offset)rank * 80 + 8 * i + b) << 20, buf, 1 << 20,
                                  MPI_BYTE, &s);
            usleep(50000);
        }
        MPI_File_close(&f);
    }
    MPI_Finalize();
    return wrong;
}
