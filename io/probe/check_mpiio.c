/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks of MPI-IO, each with a small file of its own. What was written is compared with what POSIX
 * calls find in the file: libraries report success for writes that did not happen. A byte of the
 * file depends on its place alone, so that a check of any pattern of access ends in the same way. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/par.h"
#include "base/watch.h"
#include "io/probe/check.h"
#include "io/writers/writer.h"

#define CELL        40                        /* bytes: five doubles */
#define RUN_CELLS   16                        /* consecutive ones of a rank, in the view */
#define BLOCK_BYTES (CELL * RUN_CELLS * 1600) /* 1 MiB, roughly: of a rank, where there is room */
#define LONG_BLOCKS 16                        /* in what is timed */
#define TIMES       3
#define LONG_S      0.5 /* that one time may take, where that is fewer blocks */

/* The message of a failure names the function alone. */
#define CALL(function, ...) TRY(par_check(function(__VA_ARGS__), #function))

static unsigned char byte_at(int64_t place)
{
    return (unsigned char)((uint64_t)place * 0x9e3779b97f4a7c15 >> 56);
}

/* An open file and this rank's block of values, those of the places from at on. */
struct view_file {
    MPI_File fh;
    unsigned char *buf;
    int64_t bytes, at;
};

static int64_t block_bytes(const struct probe_try *t)
{
    const int64_t step = CELL * RUN_CELLS, most = t->room_bytes / (8 * t->size) / step * step;
    return num_min(BLOCK_BYTES, most);
}

static void fill(const struct view_file *w)
{
    for (int64_t i = 0; i < w->bytes; i++)
        w->buf[i] = byte_at(w->at + i);
}

static int begin_check(struct probe_try *t, struct view_file *w, int64_t bytes, MPI_Info info)
{
    *w = (struct view_file){MPI_FILE_NULL, malloc((size_t)bytes), bytes, t->rank * bytes};
    if (!w->buf) return mem_error("%lld bytes", (long long)bytes);
    fill(w);
    TRY(par_check(par_file_open(t->comm, t->path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &w->fh),
                  "MPI_File_open"));
    return 0;
}

/* Rank 0 compares the first bytes of the file. */
static int compare_file(const char *path, int64_t bytes)
{
    unsigned char part[65536];
    int64_t at = 0, wrong = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return err_set_errno(ERR_IO, errno, "open of what MPI-IO wrote");
    while (at < bytes) {
        const ssize_t done = pread(fd, part, (size_t)num_min(bytes - at, sizeof part), (off_t)at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) break;
        for (ssize_t i = 0; i < done; i++)
            wrong += part[i] != byte_at(at + i);
        at += done;
    }
    close(fd);
    if (at < bytes)
        return err_set(ERR_VERIFY, "MPI reported success, but of %lld bytes the file holds %lld",
                       (long long)bytes, (long long)at);
    if (wrong == 0) return 0;
    return err_set(ERR_VERIFY, "MPI reported success, but of %lld bytes in the file %lld are wrong",
                   (long long)bytes, (long long)wrong);
}

/* Closes the file, which must hold the blocks of all ranks then. */
static int end_check(struct probe_try *t, struct view_file *w)
{
    CALL(MPI_File_close, &w->fh);
    free(w->buf);
    return t->rank == 0 ? compare_file(t->path, t->size * w->bytes) : 0;
}

static int independent(struct probe_try *t)
{
    struct view_file w;
    TRY(begin_check(t, &w, block_bytes(t), MPI_INFO_NULL));
    CALL(MPI_File_write_at, w.fh, w.at, w.buf, (int)w.bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    return end_check(t, &w);
}

static int collective(struct probe_try *t)
{
    struct view_file w;
    TRY(begin_check(t, &w, block_bytes(t), MPI_INFO_NULL));
    CALL(MPI_File_write_at_all, w.fh, w.at, w.buf, (int)w.bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    return end_check(t, &w);
}

/* Ranks take turns of RUN_CELLS cells: pieces as short as the rows of a small block. */
static int view(struct probe_try *t)
{
    struct view_file w;
    MPI_Datatype cell, mine;
    const int64_t bytes = block_bytes(t), run = CELL * RUN_CELLS;
    const int runs = (int)(bytes / run), turn = RUN_CELLS * t->size;
    TRY(begin_check(t, &w, bytes, MPI_INFO_NULL));
    for (int64_t i = 0; i < bytes; i++)
        w.buf[i] = byte_at((i / run * t->size + t->rank) * run + i % run);
    CALL(MPI_Type_contiguous, CELL, MPI_BYTE, &cell);
    CALL(MPI_Type_vector, runs, RUN_CELLS, turn, cell, &mine);
    CALL(MPI_Type_commit, &cell);
    CALL(MPI_Type_commit, &mine);
    CALL(MPI_File_set_view, w.fh, t->rank * run, cell, mine, "native", MPI_INFO_NULL);
    CALL(MPI_File_write_all, w.fh, w.buf, runs * RUN_CELLS, cell, MPI_STATUS_IGNORE);
    CALL(MPI_Type_free, &cell);
    CALL(MPI_Type_free, &mine);
    return end_check(t, &w);
}

static double compute(int64_t work)
{
    volatile double x = 1;
    const double since_s = watch_now();
    for (int64_t i = 0; i < work; i++)
        x = x * 0.999999 + 1e-6;
    return watch_now() - since_s;
}

/* A nonblocking write with so much work between the call and the wait. [out] s: of both, and of the
 * call alone; slowest rank. */
static int write_beside(struct probe_try *t, struct view_file *w, int64_t work, double s[2])
{
    MPI_Request request;
    CALL(MPI_Barrier, t->comm);
    const double since_s = watch_now();
    CALL(MPI_File_iwrite_at, w->fh, w->at, w->buf, (int)w->bytes, MPI_BYTE, &request);
    s[1] = watch_now() - since_s;
    compute(work);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    s[0] = watch_now() - since_s;
    CALL(MPI_Allreduce, MPI_IN_PLACE, s, 2, MPI_DOUBLE, MPI_MAX, t->comm);
    return 0;
}

/* A write alone takes s; with as much computing in between, 2 s where one waits for the other, and
 * one s where they overlap. */
static int nonblocking(struct probe_try *t)
{
    struct view_file w;
    double alone_s = 1e30, call_s = 1e30, both_s = 1e30, work_s = 1e30, s[2];
    int64_t work = 100000;
    TRY(begin_check(t, &w, block_bytes(t) * LONG_BLOCKS / (t->room_bytes < (64 << 20) ? 8 : 1),
                    MPI_INFO_NULL));
    /* What a slow file system takes long for is no hang. */
    const int64_t most = w.bytes;
    w.bytes = num_min(num_max(CELL * RUN_CELLS, block_bytes(t) / 16), most);
    TRY(write_beside(t, &w, 0, s));
    w.bytes = (int64_t)fmin((double)most, (double)w.bytes * fmax(1, LONG_S / fmax(s[0], 1e-9)));
    w.at = t->rank * w.bytes;
    fill(&w);
    for (int i = 0; i < TIMES; i++) {
        TRY(write_beside(t, &w, 0, s));
        if (s[0] < alone_s) alone_s = s[0];
        if (s[1] < call_s) call_s = s[1];
    }
    while ((work_s = compute(work)) < alone_s / 2 && work_s < 0.5)
        work *= 2;
    work = (int64_t)((double)work * fmin(alone_s, 1) / work_s);
    work_s = fmin(compute(work), compute(work));
    CALL(MPI_Allreduce, MPI_IN_PLACE, &work_s, 1, MPI_DOUBLE, MPI_MAX, t->comm);
    for (int i = 0; i < TIMES; i++) {
        TRY(write_beside(t, &w, work, s));
        if (s[0] < both_s) both_s = s[0];
    }
    double share = (alone_s + work_s - both_s) / (alone_s < work_s ? alone_s : work_s);
    share = fmax(0, fmin(share, 1 - call_s / alone_s)); /* what the call did is not hidden */
    js_set(t->values, "overlap", js_real(share));
    js_set(t->values, "call_share", js_real(call_s / alone_s));
    probe_say(t, "%s: %.0f %% of the shorter of writing and computing is hidden",
              share >= 0.5   ? "overlaps with computing"
              : share >= 0.2 ? "overlaps with computing in part"
                             : "does not overlap with computing",
              share * 100);
    return end_check(t, &w);
}

static int nonblocking_collective(struct probe_try *t)
{
    struct view_file w;
    MPI_Request request;
    TRY(begin_check(t, &w, block_bytes(t), MPI_INFO_NULL));
    CALL(MPI_File_iwrite_at_all, w.fh, w.at, w.buf, (int)w.bytes, MPI_BYTE, &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    return end_check(t, &w);
}

static int split_collective(struct probe_try *t)
{
    struct view_file w;
    TRY(begin_check(t, &w, block_bytes(t), MPI_INFO_NULL));
    CALL(MPI_File_write_at_all_begin, w.fh, w.at, w.buf, (int)w.bytes, MPI_BYTE);
    CALL(MPI_File_write_at_all_end, w.fh, w.buf, MPI_STATUS_IGNORE);
    return end_check(t, &w);
}

/* In order of the ranks; then each for itself, in whichever order, behind that. */
static int shared_pointer(struct probe_try *t)
{
    struct view_file w;
    struct stat st;
    TRY(begin_check(t, &w, block_bytes(t), MPI_INFO_NULL));
    CALL(MPI_File_write_ordered, w.fh, w.buf, (int)w.bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    CALL(MPI_File_write_shared, w.fh, w.buf, (int)w.bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    TRY(end_check(t, &w));
    if (t->rank != 0) return 0;
    if (stat(t->path, &st) < 0) return err_set_errno(ERR_IO, errno, "stat");
    if ((int64_t)st.st_size == 2 * t->size * w.bytes) return 0;
    return err_set(ERR_VERIFY,
                   "blocks written with the shared pointer overlap: %lld "
                   "bytes in the file, not %lld",
                   (long long)st.st_size, (long long)(2 * t->size * w.bytes));
}

/* Each rank reads the block of the next one and compares it. */
static int read_next(struct probe_try *t, struct view_file *w)
{
    const int64_t at = (t->rank + 1) % t->size * w->bytes;
    int64_t wrong = 0;
    memset(w->buf, 0, (size_t)w->bytes);
    CALL(MPI_File_read_at, w->fh, at, w->buf, (int)w->bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    for (int64_t i = 0; i < w->bytes; i++)
        wrong += w->buf[i] != byte_at(at + i);
    if (wrong == 0) return 0;
    return err_set(ERR_VERIFY, "%lld of %lld bytes that another rank wrote are not seen",
                   (long long)wrong, (long long)w->bytes);
}

static int atomic_mode(struct probe_try *t)
{
    struct view_file w;
    int on = 0;
    TRY(begin_check(t, &w, block_bytes(t), MPI_INFO_NULL));
    CALL(MPI_File_set_atomicity, w.fh, 1);
    CALL(MPI_File_get_atomicity, w.fh, &on);
    CALL(MPI_File_write_at, w.fh, w.at, w.buf, (int)w.bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    CALL(MPI_Barrier, t->comm);
    TRY(par_agree(t->comm,
                  on ? read_next(t, &w) : err_set(ERR_IO, "it stays off, without a word")));
    return end_check(t, &w);
}

static int sync_and_read(struct probe_try *t)
{
    struct view_file w;
    TRY(begin_check(t, &w, block_bytes(t), MPI_INFO_NULL));
    CALL(MPI_File_write_at, w.fh, w.at, w.buf, (int)w.bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    CALL(MPI_File_sync, w.fh);
    CALL(MPI_Barrier, t->comm);
    CALL(MPI_File_sync, w.fh);
    TRY(par_agree(t->comm, read_next(t, &w)));
    return end_check(t, &w);
}

/* What is given when a file is opened and what the library then says is in force. Some echo any key:
 * the first one means nothing to anybody. */
static int hints(struct probe_try *t)
{
    static const char *const hint[][2] = {{"nht1_unknown", "1"},
                                          {"cb_buffer_size", "1048576"},
                                          {"cb_nodes", "1"},
                                          {"collective_buffering", "true"},
                                          {"romio_cb_write", "enable"},
                                          {"romio_ds_write", "disable"},
                                          {"ind_wr_buffer_size", "65536"},
                                          {"striping_factor", "1"},
                                          {"striping_unit", "65536"}};
    char value[MPI_MAX_INFO_VAL + 1];
    struct view_file w;
    MPI_Info given = MPI_INFO_NULL, used;
    json_t *list[2] = {json_array(), json_array()};
    int there;
    for (size_t i = 0; i < sizeof hint / sizeof hint[0]; i++)
        TRY(par_info_add(&given, hint[i][0], hint[i][1]));
    TRY(begin_check(t, &w, block_bytes(t), given));
    CALL(MPI_File_get_info, w.fh, &used);
    bool echo = false;
    for (size_t i = 0; i < sizeof hint / sizeof hint[0]; i++) {
        CALL(MPI_Info_get, used, hint[i][0], MPI_MAX_INFO_VAL, value, &there);
        const bool kept = there && strcmp(value, hint[i][1]) == 0;
        if (i == 0)
            echo = kept;
        else
            json_array_append_new(list[kept ? 0 : 1], json_string(hint[i][0]));
    }
    CALL(MPI_Info_free, &used);
    CALL(MPI_Info_free, &given);
    const char *const what[] = {echo ? "returned:" : "taken:", "dropped:"};
    for (int l = 0; l < 2; l++) {
        const size_t n = json_array_size(list[l]);
        if (n > 0) probe_say(t, "%s%s", t->note[0] ? "; " : "", what[l]);
        for (size_t i = 0; i < n; i++)
            probe_say(t, "%s %s", i > 0 ? "," : "", json_string_value(json_array_get(list[l], i)));
    }
    if (echo) probe_say(t, "; any key is returned, so this does not show which are obeyed");
    js_set(t->values, "taken", list[0]);
    js_set(t->values, "dropped", list[1]);
    js_set(t->values, "echoes_unknown", json_boolean(echo));
    CALL(MPI_File_write_at, w.fh, w.at, w.buf, (int)w.bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    return end_check(t, &w);
}

const struct probe_check probe_mpiio[] = {
    {"independent", IO_NEED_INDEPENDENT, independent},
    {"collective", IO_NEED_COLLECTIVE, collective},
    {"view of 40-byte cells", IO_NEED_VIEW, view},
    {"sync", IO_NEED_SYNC, sync_and_read},
    {"nonblocking", IO_NEED_NONBLOCKING, nonblocking},
    {"nonblocking collective", 0, nonblocking_collective},
    {"split collective", 0, split_collective},
    {"shared pointer", 0, shared_pointer},
    {"atomic mode", 0, atomic_mode},
    {"hints", 0, hints},
    {NULL, 0, NULL},
};
