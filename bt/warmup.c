/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/warmup.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/par.h"
#include "base/stop.h"

#define CHUNK_BYTES (INT64_C(4) << 20)

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Bytes that this node should write. */
static int64_t share(const struct bt_job *job, int fd)
{
    const struct bt_problem *p = &job->setup->problem;
    const int64_t total = bt_problem_dumps(p) * io_dump_bytes(job->setup->layout, p->n);
    struct statvfs fs;
    int64_t bytes = smaller(total / job->machine.nodes.count, BT_WARMUP_MAX_BYTES);
    if (fstatvfs(fd, &fs) == 0)
        bytes = smaller(bytes, (int64_t)(fs.f_bavail * fs.f_frsize / 2) / job->machine.nodes.count);
    return smaller(bytes, bt_machine_free_bytes() / 4);
}

/* Returns the bytes written. */
static int64_t fill(int fd, int64_t bytes)
{
    int64_t done = 0;
    char *chunk = calloc(1, (size_t)CHUNK_BYTES);
    while (chunk && done < bytes && !stop_requested()) {
        const ssize_t n = pwrite(fd, chunk, (size_t)smaller(CHUNK_BYTES, bytes - done), done);
        if (n <= 0) break;
        done += n;
    }
    free(chunk);
    return done;
}

static int64_t warm_node(const struct bt_job *job)
{
    char path[4096 + 64];
    snprintf(path, sizeof path, "%s.warmup-%s-%d", job->setup->opt.out, job->machine.nodes.host,
             (int)getpid());
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return 0;
    unlink(path); // gone when closed, whatever happens meanwhile
    const int64_t done = fill(fd, share(job, fd));
    close(fd);
    return done;
}

int bt_warmup(struct bt_job *job)
{
    const int64_t mine = job->machine.nodes.node_rank == 0 ? warm_node(job) : 0;
    TRY_MPI(MPI_Allreduce(&mine, &job->warmup_bytes, 1, MPI_INT64_T, MPI_SUM, job->comm));
    return 0;
}
