/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the file system gives to a program that does nothing but write and read, the measure of `make
 * bench` for the writers and their ways back. Each rank writes its contiguous share of each dump with
 * pwrite, in requests of 8 MiB at most, into a file that was just made and preallocated; with
 * --direct the shares are rounded down to whole blocks. With --sync end it reads that of the last
 * dump, after the file was dropped from memory and once more. Times are those of the slowest rank;
 * nothing of io/ is in it. */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/json.h"
#include "base/program.h"
#include "base/version.h"
#include "base/watch.h"

#define BLOCK   4096
#define REQUEST (INT64_C(8) << 20)

struct options {
    const char *out, *sync, *json;
    int64_t dump_bytes, dumps;
    bool direct;
};

#define AT(member)         CONF_AT(struct options, member)
#define CHOICE(member, of) CONF_CHOICE_AT(struct options, member, of)

static const struct conf_option options[] = {
    {.name = "out",
     .arg = "FILE",
     .def = "raw.bin",
     .help = "Where to write; the file must not be there.",
     AT(out)},
    {.name = "dump-bytes",
     .arg = "B",
     .def = "42448320",
     CONF_RANGE(1, 1e15),
     .help = "Bytes of a dump, all ranks together.",
     AT(dump_bytes)},
    {.name = "dumps",
     .arg = "D",
     .def = "40",
     CONF_RANGE(1, 1e6),
     .help = "Dumps, one behind the other.",
     AT(dumps)},
    {.name = "direct", .help = "Past the page cache (O_DIRECT).", AT(direct)},
    {.name = "sync",
     .arg = "WHEN",
     .def = "none",
     .help = "Whether the file is flushed at the end; then its last dump is read.",
     CHOICE(sync, "none|end")},
    {.name = "json",
     .arg = "FILE",
     .help = "Write the result to FILE instead of standard output.",
     AT(json),
     .output = true},
    {.name = NULL},
};

static const struct conf_program program = {
    .name = "rawfile",
    .version = nht1_build,
    .summary = "What the file system gives to a program that does nothing but write and read.",
    .examples = "  mpirun -np 2 rawfile --direct --sync end --out /scratch/raw.bin\n",
    .options = options,
};

_Noreturn static void fail(const char *what, const char *path)
{
    fprintf(stderr, "rawfile: %s %s: %s\n", what, path, strerror(errno));
    MPI_Abort(MPI_COMM_WORLD, 3);
    exit(3);
}

static void write_fully(int fd, const char *path, const char *data, int64_t bytes, int64_t offset)
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

static void read_fully(int fd, const char *path, char *data, int64_t bytes, int64_t offset)
{
    while (bytes > 0) {
        const int64_t piece = bytes < REQUEST ? bytes : REQUEST;
        const ssize_t done = pread(fd, data, (size_t)piece, (off_t)offset);
        if (done <= 0) fail("pread", path);
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

/* Seconds for opening and reading my share of a dump. */
static double read_share(const struct options *o, char *data, int64_t share, int64_t offset)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double start_s = watch_now();
    int fd = open(o->out, O_RDONLY | (o->direct ? O_DIRECT : 0));
    if (fd < 0) fail("open", o->out);
    read_fully(fd, o->out, data, share, offset);
    const double read_s = slowest(watch_now() - start_s);
    close(fd);
    return read_s;
}

static int write_dumps(void *setup)
{
    const struct options *o = setup;
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int64_t block = o->direct ? BLOCK : 1, share = o->dump_bytes / size / block * block;
    const char *const path = o->out;
    if (rank == 0) make_file(path, share * size * o->dumps);
    char *data = buffer_new((size_t)share + BLOCK);
    if (!data) fail("memory for", path);
    memset(data, rank + 1, (size_t)share);
    MPI_Barrier(MPI_COMM_WORLD);
    int fd = open(path, O_WRONLY | (o->direct ? O_DIRECT : 0));
    if (fd < 0) fail("open", path);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start_s = watch_now();
    for (int64_t d = 0; d < o->dumps; d++)
        write_fully(fd, path, data, share, (d * size + rank) * share);
    const double write_s = slowest(watch_now() - start_s);
    MPI_Barrier(MPI_COMM_WORLD);
    const double sync_start_s = watch_now();
    if (strcmp(o->sync, "end") == 0 && fsync(fd) != 0) fail("fsync", path);
    const double sync_s = slowest(watch_now() - sync_start_s);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
    double cold_s = 0, warm_s = 0;
    if (strcmp(o->sync, "end") == 0) {
        const int64_t offset = ((o->dumps - 1) * size + rank) * share;
        cold_s = read_share(o, data, share, offset);
        warm_s = read_share(o, data, share, offset);
    }
    const int64_t bytes = share * size * o->dumps;
    const double dump_bytes = (double)(share * size);
    json_t *result =
        json_pack("{sI so so so so so so}", "bytes", (json_int_t)bytes, "write_s", js_real(write_s),
                  "sync_s", js_real(sync_s), "write_bytes_per_s", js_real((double)bytes / write_s),
                  "bytes_per_s", js_real((double)bytes / (write_s + sync_s)), "cold_bytes_per_s",
                  cold_s > 0 ? js_real(dump_bytes / cold_s) : json_null(), "warm_bytes_per_s",
                  warm_s > 0 ? js_real(dump_bytes / warm_s) : json_null());
    if (rank == 0 && js_result(o->json ? o->json : "-", result) < 0) fail("result", err_message());
    json_decref(result);
    free(data);
    return 0;
}

static const struct program frame = {
    .conf = &program, .single = true, .setup_bytes = sizeof(struct options), .run = write_dumps};

int main(int argc, char **argv)
{
    return program_main(&frame, argc, argv);
}
