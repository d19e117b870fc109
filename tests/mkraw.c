/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mkraw FILE DUMP_BYTES DUMPS buffered|direct none|end: what the file system gives to a program
 * that does nothing but write. Each rank writes its contiguous share of each dump with pwrite, in
 * requests of 8 MiB at most, into a file that was just made and preallocated. Prints one line,
 *
 *     BYTES WRITE_S SYNC_S
 *
 * the times of the slowest rank; with direct the shares are rounded down to whole blocks. It is the
 * measure of `make bench` for the writers; nothing of io/ is in it. */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/watch.h"

#define BLOCK   4096
#define REQUEST (INT64_C(8) << 20)

_Noreturn static void fail(const char *what, const char *path)
{
    fprintf(stderr, "mkraw: %s %s: %s\n", what, path, strerror(errno));
    MPI_Abort(MPI_COMM_WORLD, 3);
    exit(3);
}

static void put(int fd, const char *path, const char *data, int64_t bytes, int64_t offset)
{
    while (bytes > 0) {
        const int64_t piece = bytes < REQUEST ? bytes : REQUEST;
        const ssize_t done = pwrite(fd, data, (size_t)piece, (off_t)offset);
        if (done <= 0) fail("pwrite", path);
        data += done;
        offset += done;
        bytes -= done;
    }
}

static void make_file(const char *path, int64_t bytes)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0666);
    if (fd < 0) fail("open", path);
    if (fallocate(fd, 0, 0, (off_t)bytes) != 0 && ftruncate(fd, (off_t)bytes) != 0)
        fail("fallocate", path);
    close(fd);
}

static double slowest(double mine)
{
    double all;
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return all;
}

static void measure(const char *path, int64_t share, int64_t dumps, int flags, int sync)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) make_file(path, share * size * dumps);
    char *data = buffer_new((size_t)share + BLOCK);
    if (!data) fail("memory for", path);
    memset(data, rank + 1, (size_t)share);
    MPI_Barrier(MPI_COMM_WORLD);
    int fd = open(path, O_WRONLY | flags);
    if (fd < 0) fail("open", path);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start_s = watch_now();
    for (int64_t d = 0; d < dumps; d++)
        put(fd, path, data, share, (d * size + rank) * share);
    const double write_s = slowest(watch_now() - start_s);
    MPI_Barrier(MPI_COMM_WORLD);
    const double sync_start_s = watch_now();
    if (sync && fsync(fd) != 0) fail("fsync", path);
    const double sync_s = slowest(watch_now() - sync_start_s);
    if (rank == 0) printf("%lld %.6f %.6f\n", (long long)(share * size * dumps), write_s, sync_s);
    close(fd);
    free(data);
}

int main(int argc, char **argv)
{
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 6) {
        fprintf(stderr, "usage: mkraw FILE DUMP_BYTES DUMPS buffered|direct none|end\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    const int direct = strcmp(argv[4], "direct") == 0;
    int64_t share = atoll(argv[2]) / size;
    if (direct) share = share / BLOCK * BLOCK;
    measure(argv[1], share, atoll(argv[3]), direct ? O_DIRECT : 0, strcmp(argv[5], "end") == 0);
    MPI_Finalize();
    return 0;
}
