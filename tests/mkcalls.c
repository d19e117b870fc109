/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An MPI program whose calls of MPI-IO are known, for the tests of nht1-profile: mkcalls WHAT FILE
 *
 *     all         every data access function, function number k (in the order below) k + 1 times with
 *                 8 (k + 1) bytes, and counts and statuses are checked
 *     large       the same by MPI_File_..._c, with large counts; status 77 if MPI has none
 *     holes       write_all through a view of blocks of 64 bytes, every second one
 *     views       write_all of 128 bytes each through views of many constructors; on two ranks the
 *                 pieces are of 32, 32, 16, 16, 64, 8, 32, 8 and 128 bytes
 *     views-large the same by MPI_Type_..._c; status 77 if MPI has none
 *     seeks       eight writes, before every second of which the pointer is moved, twice
 *     consecutive ten write_at, write and write_at in turns, each where the one before ended
 *     permuted    ten writes of 100 bytes, each after a seek, in another order than that of the file
 *     past        100 times 1000 bytes to each FILE.posix, FILE.stdio and, by MPI_File_write_at, FILE
 *     slow        ten writes of 10 bytes and, by the last rank, one of 1 MiB at 5000
 *     halves      even and odd ranks: each FILE.0 or FILE.1 together, then both FILE
 *     many        300 files FILE.N, open at the same time, 10 bytes each
 *     nested      set_view of a type of 30 levels, each a structure of two of the one below
 *     waitany     2000 requests in one array, nonblocking writes among them, ended by MPI_Waitany
 *     threads     four threads, each opens, writes and closes 10 files FILE.T.N; status 77 if MPI has none
 *     uneven      rank r writes r + 1 times, rank 0 a header of 100 bytes before
 *     header      rank 0 alone writes 10 bytes three times, 1000 bytes apart
 *     sync        ten times: 1000 bytes of each rank, then MPI_File_sync
 *     sync-late   MPI_File_sync, 0.4 s later of the last rank
 *     separate    every rank a file of its own, FILE.RANK
 *     own-many    every rank 1100 files of its own, FILE.RANK.N, 10 bytes each, by POSIX calls
 *     self        rank 0 alone, then all
 *     read-back   writes and reads the same
 *     before      as past, and 10 bytes to FILE.before by POSIX calls before MPI_Init
 *     children    rank 0 writes 5 bytes to FILE.rank by POSIX calls, has a program write 7000 to FILE.program and a child of its
 *                 own 300 to FILE.child, and waits for both
 *     sizes       rank 0 appends 1000 bytes ten times, each where the file ends as MPI_File_get_size and
 *                 MPI_File_seek say; ends with status 1 as soon as they are wrong
 *     fresh       creates the file with MPI_MODE_EXCL, preallocates, sets its size, and deletes another one
 *     pointer     all ranks write by the shared pointer, each for itself, then together
 *     differs     writes 402 times; where its writes are dropped, twice
 *     folder      all ranks make the folder FILE, rank 0 first, where its writes are dropped the last one; then each
 *                 writes 10 bytes to FILE/RANK by POSIX calls
 *     disorder    writes the same ten pieces in another order where its writes are dropped
 *     abort, kill, segv, wait   writes ten times; then the last rank calls MPI_Abort, kills itself,
 *                 ends by SIGSEGV, or all wait for an end from outside
 *     sleep       writes 8 MB ten times, 50 ms apart
 *     cost-waitany, cost-view, cost-open   followed by N: the same of MPI_Waitany in an array of N requests, of
 *                 set_view with a type of N levels, and of write_at of 8 bytes while N files are open
 *     cost        followed by N and B: write_at of B bytes, profiled and not in turns of N calls;
 *                 prints what a call takes, and what it takes more when it is profiled, medians of
 *                 turns; cost-posix: the same of pwrite
 *
 * Ends with status 1 when a status or what is read is wrong. */
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

/* Function number k once, n words, by the form of the functions that ends so. */
#define CALL(form)                                                                                 \
    static void call##form(MPI_File f, int k, int n, MPI_Offset at)                                \
    {                                                                                              \
        MPI_Status s;                                                                              \
        MPI_Request r = MPI_REQUEST_NULL;                                                          \
        const MPI_Datatype t = MPI_DOUBLE;                                                         \
        switch (k) {                                                                               \
        case 0:                                                                                    \
            MPI_File_write_at##form(f, at, buf, n, t, &s);                                         \
            break;                                                                                 \
        case 1:                                                                                    \
            MPI_File_write_at_all##form(f, at, buf, n, t, &s);                                     \
            break;                                                                                 \
        case 2:                                                                                    \
            MPI_File_iwrite_at##form(f, at, buf, n, t, &r);                                        \
            break;                                                                                 \
        case 3:                                                                                    \
            MPI_File_write_at_all_begin##form(f, at, buf, n, t),                                   \
                MPI_File_write_at_all_end(f, buf, &s);                                             \
            break;                                                                                 \
        case 4:                                                                                    \
            MPI_File_write##form(f, buf, n, t, &s);                                                \
            break;                                                                                 \
        case 5:                                                                                    \
            MPI_File_write_all##form(f, buf, n, t, &s);                                            \
            break;                                                                                 \
        case 6:                                                                                    \
            MPI_File_iwrite##form(f, buf, n, t, &r);                                               \
            break;                                                                                 \
        case 7:                                                                                    \
            MPI_File_write_all_begin##form(f, buf, n, t), MPI_File_write_all_end(f, buf, &s);      \
            break;                                                                                 \
        case 8:                                                                                    \
            MPI_File_write_shared##form(f, buf, n, t, &s);                                         \
            break;                                                                                 \
        case 9:                                                                                    \
            MPI_File_write_ordered##form(f, buf, n, t, &s);                                        \
            break;                                                                                 \
        case 10:                                                                                   \
            MPI_File_iwrite_shared##form(f, buf, n, t, &r);                                        \
            break;                                                                                 \
        case 11:                                                                                   \
            MPI_File_write_ordered_begin##form(f, buf, n, t),                                      \
                MPI_File_write_ordered_end(f, buf, &s);                                            \
            break;                                                                                 \
        case 12:                                                                                   \
            MPI_File_iwrite_at_all##form(f, at, buf, n, t, &r);                                    \
            break;                                                                                 \
        case 13:                                                                                   \
            MPI_File_iwrite_all##form(f, buf, n, t, &r);                                           \
            break;                                                                                 \
        case 14:                                                                                   \
            MPI_File_read_at##form(f, at, buf, n, t, &s);                                          \
            break;                                                                                 \
        case 15:                                                                                   \
            MPI_File_read_at_all##form(f, at, buf, n, t, &s);                                      \
            break;                                                                                 \
        case 16:                                                                                   \
            MPI_File_iread_at##form(f, at, buf, n, t, &r);                                         \
            break;                                                                                 \
        case 17:                                                                                   \
            MPI_File_read_at_all_begin##form(f, at, buf, n, t),                                    \
                MPI_File_read_at_all_end(f, buf, &s);                                              \
            break;                                                                                 \
        case 18:                                                                                   \
            MPI_File_read##form(f, buf, n, t, &s);                                                 \
            break;                                                                                 \
        case 19:                                                                                   \
            MPI_File_read_all##form(f, buf, n, t, &s);                                             \
            break;                                                                                 \
        case 20:                                                                                   \
            MPI_File_iread##form(f, buf, n, t, &r);                                                \
            break;                                                                                 \
        case 21:                                                                                   \
            MPI_File_read_all_begin##form(f, buf, n, t), MPI_File_read_all_end(f, buf, &s);        \
            break;                                                                                 \
        case 22:                                                                                   \
            MPI_File_read_shared##form(f, buf, n, t, &s);                                          \
            break;                                                                                 \
        case 23:                                                                                   \
            MPI_File_read_ordered##form(f, buf, n, t, &s);                                         \
            break;                                                                                 \
        case 24:                                                                                   \
            MPI_File_iread_shared##form(f, buf, n, t, &r);                                         \
            break;                                                                                 \
        case 25:                                                                                   \
            MPI_File_read_ordered_begin##form(f, buf, n, t),                                       \
                MPI_File_read_ordered_end(f, buf, &s);                                             \
            break;                                                                                 \
        case 26:                                                                                   \
            MPI_File_iread_at_all##form(f, at, buf, n, t, &r);                                     \
            break;                                                                                 \
        case 27:                                                                                   \
            MPI_File_iread_all##form(f, buf, n, t, &r);                                            \
            break;                                                                                 \
        default:                                                                                   \
            return;                                                                                \
        }                                                                                          \
        if (r != MPI_REQUEST_NULL) MPI_Wait(&r, &s);                                               \
        check(&s, n);                                                                              \
    }
CALL()
#if MPI_VERSION >= 4
CALL(_c)
enum { LARGE = 1 };
#else
#define call_c call
enum { LARGE = 0 };
#endif

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

static void all_functions(const char *name, void (*call_one)(MPI_File, int, int, MPI_Offset))
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
            call_one(f, k, k + 1, 65536 * (MPI_Offset)rank + 1024 * i);
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

/* The same 128 bytes through one view after the other, made by the form of the constructors. */
#define VIEWS_BY(form, items)                                                                      \
    static void views##form(const char *name)                                                      \
    {                                                                                              \
        enum { VIEWS = 9 };                                                                        \
        MPI_File f = opened(MPI_COMM_WORLD, name);                                                 \
        MPI_Datatype t[VIEWS], real;                                                               \
        MPI_Status s;                                                                              \
        const items whole[2] = {4, 8}, first[2] = {0, 2}, part[2] = {4, 4}, row[2] = {2, 8},       \
                    second[2] = {1, 0}, lengths[2] = {8, 8}, places[2] = {2, 20};                  \
        const int grid[2] = {1, 2}, deal[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC},       \
                  each[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2},                                         \
                  cut[2] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK},                            \
                  none[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};                  \
        MPI_Type_create_f90_real(15, MPI_UNDEFINED, &real);                                        \
        MPI_Type_vector##form(4, 4, 8, real, &t[0]);                                               \
        MPI_Type_create_subarray##form(2, whole, part, first, MPI_ORDER_C, MPI_DOUBLE, &t[1]);     \
        MPI_Type_create_darray##form(2, rank % 2, 2, whole, deal, each, grid, MPI_ORDER_C,         \
                                     MPI_DOUBLE, &t[2]);                                           \
        MPI_Type_create_hvector##form(8, 2, 64, MPI_DOUBLE, &t[3]);                                \
        MPI_Type_indexed##form(2, lengths, places, MPI_DOUBLE, &t[4]);                             \
        MPI_Type_create_resized##form(MPI_DOUBLE, 0, 24, &t[5]);                                   \
        MPI_Type_create_darray##form(2, rank % 2, 2, whole, cut, none, grid, MPI_ORDER_C,          \
                                     MPI_DOUBLE, &t[6]);                                           \
        MPI_Type_create_darray##form(2, rank % 2, 2, whole, deal, none, grid, MPI_ORDER_C,         \
                                     MPI_DOUBLE, &t[7]);                                           \
        MPI_Type_create_subarray##form(2, whole, row, second, MPI_ORDER_C, MPI_DOUBLE, &t[8]);     \
        memset(buf, 1, 16 * sizeof(double));                                                       \
        for (int v = 0; v < VIEWS; v++) {                                                          \
            MPI_Type_commit(&t[v]);                                                                \
            MPI_File_set_view(f, 4096 * rank, MPI_DOUBLE, t[v], "native", MPI_INFO_NULL);          \
            MPI_File_write_all(f, buf, 16, MPI_DOUBLE, &s);                                        \
            check(&s, 16);                                                                         \
            MPI_Type_free(&t[v]);                                                                  \
        }                                                                                          \
        MPI_File_close(&f);                                                                        \
    }
VIEWS_BY(, int)
#if MPI_VERSION >= 4
VIEWS_BY(_c, MPI_Count)
#else
#define views_c views
#endif

static void seeks(const char *name)
{
    MPI_File f = opened(MPI_COMM_SELF, name);
    MPI_Status s;
    for (int i = 0; i < 8; i++) {
        for (int twice = 0; i % 2 && twice < 2; twice++)
            MPI_File_seek(f, 1000 * i, MPI_SEEK_SET);
        MPI_File_write(f, buf, 10, MPI_DOUBLE, &s);
        check(&s, 10);
    }
    MPI_File_close(&f);
}

static void consecutive(const char *name)
{
    MPI_File f = opened(MPI_COMM_SELF, name);
    MPI_Status s;
    for (int i = 0; i < 10; i++) {
        if (i % 2) MPI_File_seek(f, 100 * i, MPI_SEEK_SET);
        if (i % 2)
            MPI_File_write(f, buf, 100, MPI_BYTE, &s);
        else
            MPI_File_write_at(f, 100 * i, buf, 100, MPI_BYTE, &s);
        if (i == 4) MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    }
    MPI_File_close(&f);
}

static void permuted(const char *name)
{
    MPI_File f = opened(MPI_COMM_SELF, name);
    MPI_Status s;
    for (int i = 0; i < 10; i++) {
        MPI_File_seek(f, 100 * (3 * i % 10), MPI_SEEK_SET);
        MPI_File_write(f, buf, 100, MPI_BYTE, &s);
    }
    MPI_File_close(&f);
}

static void past_mpi_io(const char *name)
{
    char one[4096];
    MPI_File f = opened(MPI_COMM_SELF, name);
    MPI_Status s;
    snprintf(one, sizeof one, "%s.posix", name);
    const int fd = open(one, O_CREAT | O_WRONLY, 0644);
    snprintf(one, sizeof one, "%s.stdio", name);
    FILE *stdio = fopen(one, "w");
    for (int i = 0; i < 100; i++) {
        wrong |= fd < 0 || write(fd, buf, 1000) != 1000;
        wrong |= !stdio || fwrite(buf, 1000, 1, stdio) != 1;
        MPI_File_write_at(f, 1000 * i, buf, 1000, MPI_BYTE, &s);
    }
    if (fd >= 0) close(fd);
    wrong |= !stdio || fclose(stdio) != 0;
    MPI_File_close(&f);
}

static void flushed(const char *name)
{
    MPI_File f = opened(MPI_COMM_WORLD, name);
    MPI_Status s;
    for (int i = 0; i < 10; i++) {
        MPI_File_write_at(f, 1000 * (size * i + rank), buf, 1000, MPI_BYTE, &s);
        wrong |= MPI_File_sync(f) != MPI_SUCCESS;
    }
    MPI_File_close(&f);
}

/* The last rank flushes later. */
static void flushed_late(const char *name)
{
    MPI_File f = opened(MPI_COMM_WORLD, name);
    if (rank == size - 1) usleep(400000);
    wrong |= MPI_File_sync(f) != MPI_SUCCESS;
    MPI_File_close(&f);
}

static void own_many(const char *name)
{
    char one[4096];
    for (int i = 0; i < 1100; i++) {
        snprintf(one, sizeof one, "%s.%d.%d", name, rank, i);
        const int fd = open(one, O_CREAT | O_WRONLY, 0644);
        wrong |= fd < 0 || write(fd, buf, 10) != 10 || close(fd) != 0;
    }
}

static void slow(const char *name)
{
    MPI_File f = opened(MPI_COMM_WORLD, name);
    MPI_Status s;
    for (int i = 0; i < 10; i++)
        MPI_File_write_at(f, 10 * i, buf, 10, MPI_BYTE, &s);
    if (rank == size - 1) MPI_File_write_at(f, 5000, buf, 1 << 20, MPI_BYTE, &s);
    MPI_File_close(&f);
}

static void halves(const char *name)
{
    char mine[4096];
    MPI_Comm half;
    MPI_Status s;
    snprintf(mine, sizeof mine, "%s.%d", name, rank % 2);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_File f = opened(half, mine), both = opened(half, name);
    MPI_File_write_at_all(f, 80 * rank, buf, 10, MPI_DOUBLE, &s);
    MPI_File_write_at(both, 80 * rank, buf, 2, MPI_DOUBLE, &s);
    MPI_File_close(&both);
    MPI_File_close(&f);
    MPI_Comm_free(&half);
}

static void many(const char *name)
{
    enum { FILES = 300 };
    static MPI_File f[FILES];
    char one[4096];
    MPI_Status s;
    for (int i = 0; i < FILES; i++) {
        snprintf(one, sizeof one, "%s.%d", name, i);
        f[i] = opened(MPI_COMM_SELF, one);
    }
    for (int i = 0; i < FILES; i++)
        MPI_File_write_at(f[i], 0, buf, 10, MPI_BYTE, &s);
    for (int i = 0; i < FILES; i++)
        MPI_File_close(&f[i]);
}

/* Each level has two of the one below, behind one another: 2^levels bytes. */
static MPI_Datatype nested_type(int levels)
{
    MPI_Datatype t, up;
    MPI_Type_contiguous(1, MPI_BYTE, &t);
    for (int level = 0; level < levels; level++) {
        MPI_Aint lb, extent;
        MPI_Type_get_extent(t, &lb, &extent);
        const int lengths[2] = {1, 1};
        const MPI_Aint places[2] = {0, extent};
        const MPI_Datatype types[2] = {t, t};
        MPI_Type_create_struct(2, lengths, places, types, &up);
        MPI_Type_free(&t);
        t = up;
    }
    MPI_Type_commit(&t);
    return t;
}

static void nested(const char *name)
{
    MPI_File f = opened(MPI_COMM_SELF, name);
    MPI_Datatype t = nested_type(30);
    MPI_Status s;
    MPI_File_set_view(f, 0, MPI_BYTE, t, "native", MPI_INFO_NULL);
    MPI_File_write(f, buf, 64, MPI_BYTE, &s);
    MPI_Type_free(&t);
    MPI_File_close(&f);
}

/* One array of N requests: receives that end last, and at its first place a write that has just been
 * posted. s: [out] seconds in each of so many MPI_Waitany. */
static void waitany(const char *name, int n, int turns,
                    int (*wait)(int, MPI_Request *, int *, MPI_Status *), double *s)
{
    MPI_File f = opened(MPI_COMM_SELF, name);
    MPI_Request *list = malloc((size_t)n * sizeof *list);
    MPI_Status status;
    if (!list) {
        MPI_Abort(MPI_COMM_WORLD, 3);
        return;
    }
    for (int i = 1; i < n; i++)
        MPI_Irecv(buf, 0, MPI_BYTE, rank, i, MPI_COMM_WORLD, &list[i]);
    for (int turn = 0; turn < turns; turn++) {
        int at = -1;
        MPI_File_iwrite_at(f, 1000 * turn, buf, 1000, MPI_BYTE, &list[0]);
        const double from_s = MPI_Wtime();
        wait(n, list, &at, &status);
        s[turn] = MPI_Wtime() - from_s;
        wrong |= at != 0;
    }
    for (int i = 1; i < n; i++)
        MPI_Send(buf, 0, MPI_BYTE, rank, i, MPI_COMM_WORLD);
    for (int left = n - 1, at; left > 0; left--)
        wait(n, list, &at, &status);
    free(list);
    MPI_File_close(&f);
}

static void waits_for_any(const char *name)
{
    double s[50];
    waitany(name, 2000, 50, MPI_Waitany, s);
}

/* Files are opened and closed by one thread at a time: with more, OMPIO 4.1 waits for ever. */
static void *in_thread(void *file)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    char one[4096];
    MPI_Status s;
    for (int i = 0; i < 10; i++) {
        snprintf(one, sizeof one, "%s.%d", (const char *)file, i);
        pthread_mutex_lock(&one_at_a_time);
        MPI_File f = opened(MPI_COMM_SELF, one);
        pthread_mutex_unlock(&one_at_a_time);
        for (int k = 0; k < 10; k++)
            MPI_File_write_at(f, 10 * k, buf, 10, MPI_BYTE, &s);
        pthread_mutex_lock(&one_at_a_time);
        MPI_File_close(&f);
        pthread_mutex_unlock(&one_at_a_time);
    }
    return NULL;
}

static void in_threads(const char *name)
{
    enum { THREADS = 4 };
    pthread_t t[THREADS];
    char file[THREADS][4000];
    int provided;
    MPI_Query_thread(&provided);
    wrong = provided < MPI_THREAD_MULTIPLE ? 77 : 0;
    for (int i = 0; !wrong && i < THREADS; i++) {
        snprintf(file[i], sizeof file[i], "%.3900s.%d", name, i);
        pthread_create(&t[i], NULL, in_thread, file[i]);
    }
    for (int i = 0; !wrong && i < THREADS; i++)
        pthread_join(t[i], NULL);
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

/* Records of 1000 bytes at places apart, each written or read by one rank. */
enum { RECORD = 1000, SEGMENTS = 4 };

static void record(MPI_File f, MPI_Offset at, bool reads)
{
    MPI_Status s;
    if (reads)
        MPI_File_read_at(f, RECORD * at, buf, RECORD, MPI_BYTE, &s);
    else
        MPI_File_write_at(f, RECORD * at, buf, RECORD, MPI_BYTE, &s);
}

/* A block of three of each rank in each segment. */
static void segments(const char *name)
{
    MPI_File f = opened(MPI_COMM_WORLD, name);
    for (int s = 0; s < SEGMENTS; s++)
        for (int i = 0; i < 3; i++)
            record(f, 3 * (s * size + rank) + i, false);
    MPI_File_close(&f);
}

/* The same, the last rank in front. */
static void mirrored(const char *name)
{
    MPI_File f = opened(MPI_COMM_WORLD, name);
    for (int s = 0; s < SEGMENTS; s++)
        for (int i = 0; i < 3; i++)
            record(f, 3 * (s * size + size - 1 - rank) + i, false);
    MPI_File_close(&f);
}

/* A region of each rank, in which every fourth record is left out. */
static void regions(const char *name)
{
    MPI_File f = opened(MPI_COMM_WORLD, name);
    for (int i = 0; i < 15; i++)
        if (i % 4 != 3) record(f, 15 * rank + i, false);
    MPI_File_close(&f);
}

/* Columns of two ranks side by side, rows of two below them. */
static void grid(const char *name)
{
    MPI_File f = opened(MPI_COMM_WORLD, name);
    for (int row = 0; row < SEGMENTS; row++)
        record(f, 2 * (rank / 2 * SEGMENTS + row) + rank % 2, false);
    MPI_File_close(&f);
}

/* Opened again for each step, behind what is there. */
static void reopened(const char *name)
{
    for (int s = 0; s < SEGMENTS; s++) {
        MPI_File f = opened(MPI_COMM_WORLD, name);
        for (int i = 0; i < 2; i++)
            record(f, 2 * (s * size + rank) + i, false);
        MPI_File_close(&f);
    }
}

/* Each record is read and written back, in turns. */
static void in_place(const char *name)
{
    MPI_File f = opened(MPI_COMM_WORLD, name);
    for (int s = 0; s < SEGMENTS; s++) {
        record(f, s * size + rank, true);
        record(f, s * size + rank, false);
    }
    MPI_File_close(&f);
}

/* A few records of each rank, far from those of the others. */
static void slices(const char *name)
{
    MPI_File f = opened(MPI_COMM_WORLD, name);
    for (int i = 0; i < 3; i++)
        record(f, 1000000 * rank + i, false);
    MPI_File_close(&f);
}

/* A header that all read, then a region of each. */
static void restart(const char *name)
{
    MPI_File f = opened(MPI_COMM_WORLD, name);
    for (int i = 0; rank == 0 && i < 1 + 5 * size; i++)
        record(f, i, false);
    MPI_File_sync(f);
    MPI_Barrier(MPI_COMM_WORLD);
    record(f, 0, true);
    for (int i = 0; i < 5; i++)
        record(f, 1 + 5 * rank + i, true);
    MPI_File_close(&f);
}

/* Collective calls of no bytes: ROMIO of Open MPI does not set their status. */
static void of_no_bytes(const char *name)
{
    MPI_File f = opened(MPI_COMM_WORLD, name);
    MPI_Status s;
    MPI_File_write_at(f, 10 * rank, buf, 10, MPI_BYTE, &s);
    memset(&s, 0x55, sizeof s);
    MPI_File_write_at_all(f, 0, buf, 0, MPI_BYTE, &s);
    MPI_File_read_all(f, buf, 0, MPI_BYTE, &s);
    MPI_File_write_ordered(f, buf, 0, MPI_BYTE, &s);
    MPI_File_close(&f);
}

/* Tells by a file of its own that this rank has written. */
static void waits(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s.%d", name, rank);
    FILE *f = fopen(path, "w");
    if (!f || fclose(f) != 0) MPI_Abort(MPI_COMM_WORLD, 8);
}

static void header(const char *name)
{
    MPI_File f = opened(MPI_COMM_WORLD, name);
    MPI_Status s;
    for (int i = 0; rank == 0 && i < 3; i++)
        MPI_File_write_at(f, 1000 * i, buf, 10, MPI_BYTE, &s);
    MPI_File_close(&f);
}

/* A file of POSIX calls and MPI-IO, and one of the same name in another folder, both by relative names. */
static void by_relative(const char *name)
{
    MPI_Status s;
    const int fd = rank == 0 ? open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;
    if (rank == 0 && (write(fd, buf, 512) != 512 || close(fd) < 0 || mkdir("other", 0755) < 0))
        wrong = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++) {
        MPI_File f = opened(MPI_COMM_WORLD, name);
        MPI_File_write_at_all(f, 512 + 1000 * rank, buf, 1000, MPI_BYTE, &s);
        MPI_File_close(&f);
        if (i == 0 && chdir("other") < 0) wrong = 1;
    }
}

/* One file that each rank opens by itself. */
static void by_each(const char *name)
{
    MPI_Status s;
    MPI_File f = opened(MPI_COMM_SELF, name);
    for (int i = 0; i < 3; i++)
        MPI_File_write_at(f, 1000 * (size * i + rank), buf, 1000, MPI_BYTE, &s);
    MPI_File_close(&f);
}

/* Two files, each of every second rank. */
static void halves_of(const char *name)
{
    char mine[4096];
    MPI_Comm half;
    MPI_Status s;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    snprintf(mine, sizeof mine, "%s.%d", name, rank % 2);
    MPI_File f = opened(half, mine);
    MPI_File_write_at_all(f, 1000 * (rank / 2), buf, 1000, MPI_BYTE, &s);
    MPI_File_close(&f);
    MPI_Comm_free(&half);
}

/* A file that all ranks have open together, and each by itself, as PnetCDF has it for independent calls. */
static void both_ways(const char *name)
{
    MPI_Status s;
    MPI_File all = opened(MPI_COMM_WORLD, name), own = opened(MPI_COMM_SELF, name);
    MPI_File_write_at_all(all, 1000 * rank, buf, 1000, MPI_BYTE, &s);
    MPI_File_write_at(own, 500 * rank, buf, 500, MPI_BYTE, &s);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at_all(all, 1000 * rank, buf, 1000, MPI_BYTE, &s);
    MPI_File_close(&own);
    MPI_File_close(&all);
}

/* What the first process writes and then all read, before they write, too. */
static void mesh(const char *name)
{
    MPI_Status s;
    MPI_File f;
    if (rank == 0) {
        f = opened(MPI_COMM_SELF, name);
        MPI_File_write_at(f, 0, buf, 1000, MPI_BYTE, &s);
        MPI_File_close(&f);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    f = opened(MPI_COMM_SELF, name);
    MPI_File_read_at(f, 0, buf, 1000, MPI_BYTE, &s);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_write_at(f, 1000 * (rank + 1), buf, 1000, MPI_BYTE, &s);
    MPI_File_close(&f);
}

/* All open a file that the first process gives a header; then all open it again, and the first process comes late to a collective
 * call, in which the others wait. */
static void late(const char *name)
{
    MPI_Status s;
    for (int step = 0; step < 2; step++) {
        MPI_File f = opened(MPI_COMM_WORLD, name);
        if (rank == 0) MPI_File_write_at(f, 10000 * step, buf, 500, MPI_BYTE, &s);
        MPI_File_close(&f);
        f = opened(MPI_COMM_WORLD, name);
        if (rank == 0) usleep(20000);
        MPI_File_write_at_all(f, 10000 * step + 500 + 1000 * rank, buf, 1000, MPI_BYTE, &s);
        MPI_File_close(&f);
    }
}

/* A file that the first process removes again. */
static void deleted(const char *name)
{
    MPI_Status s;
    MPI_File f = opened(MPI_COMM_WORLD, name);
    MPI_File_write_at_all(f, 1000 * rank, buf, 1000, MPI_BYTE, &s);
    MPI_File_close(&f);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_File_delete(name, MPI_INFO_NULL);
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
    MPI_Request request;
    MPI_File_write_at_all(f, 1000 * rank, buf, 500, MPI_BYTE, &s);
    MPI_File_iwrite_at(f, 1000 * rank + 500, buf, 500, MPI_BYTE, &request);
    MPI_Wait(&request, &s);
    MPI_File_sync(f);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at_all(f, 1000 * rank, buf, 1000, MPI_BYTE, &s);
    wrong |= buf[999] != 'a' + rank;
    MPI_File_close(&f);
}

static void sizes(const char *name)
{
    if (rank > 0) return;
    MPI_File f = opened(MPI_COMM_SELF, name);
    MPI_Status s;
    MPI_Offset at = -1, end = -1;
    for (int i = 0; i < 10 && !wrong; i++) {
        MPI_File_get_size(f, &at);
        MPI_File_seek(f, 0, MPI_SEEK_END);
        MPI_File_get_position(f, &end);
        wrong |= at != 1000 * i || end != at;
        MPI_File_write(f, buf, 1000, MPI_BYTE, &s);
    }
    MPI_File_close(&f);
    /* 8 and 16 bytes of 48, through a view, end within its second piece: byte 2 x 48 + 20 + 4. */
    char other[4096];
    const int blocks[] = {8, 16}, places[] = {0, 20};
    MPI_Datatype pieces, view;
    snprintf(other, sizeof other, "%s.gaps", name);
    f = opened(MPI_COMM_SELF, other);
    MPI_Type_indexed(2, blocks, places, MPI_BYTE, &pieces);
    MPI_Type_create_resized(pieces, 0, 48, &view);
    MPI_Type_commit(&view);
    MPI_File_set_view(f, 0, MPI_BYTE, view, "native", MPI_INFO_NULL);
    MPI_File_write(f, buf, 2 * 24 + 8 + 4, MPI_BYTE, &s);
    MPI_File_get_size(f, &at);
    wrong |= at != 2 * 48 + 24;
    MPI_Type_free(&pieces);
    MPI_Type_free(&view);
    MPI_File_close(&f);
}

/* What a call did; what is wrong is told with its line, since the outcome is that of the program alone. */
static void expect(bool right, int line)
{
    if (!right) fprintf(stderr, "mkcalls: rank %d: line %d: not as it should be\n", rank, line);
    wrong |= !right;
}

static void fresh(const char *name)
{
    char other[4096];
    MPI_File f;
    MPI_Status s;
    MPI_Offset bytes = 0;
    const int new = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY;
    snprintf(other, sizeof other, "%s.other", name);
    expect(MPI_File_open(MPI_COMM_WORLD, name, new, MPI_INFO_NULL, &f) == MPI_SUCCESS, __LINE__);
    if (wrong) return;
    MPI_File_preallocate(f, 5000);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_size(f, &bytes);
    expect(bytes == 5000, __LINE__);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_set_size(f, 3000);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_size(f, &bytes);
    expect(bytes == 3000, __LINE__);
    MPI_Barrier(MPI_COMM_WORLD);
    memset(buf, 'a' + rank, 1000);
    MPI_File_write_at_all(f, 1000 * rank, buf, 1000, MPI_BYTE, &s);
    MPI_File_close(&f);
    /* It is there now; the other one comes and goes. */
    expect(MPI_File_open(MPI_COMM_WORLD, name, new, MPI_INFO_NULL, &f) != MPI_SUCCESS, __LINE__);
    expect(MPI_File_open(MPI_COMM_WORLD, other, new, MPI_INFO_NULL, &f) == MPI_SUCCESS, __LINE__);
    MPI_File_write_at_all(f, 1000 * rank, buf, 1000, MPI_BYTE, &s);
    MPI_File_close(&f);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) expect(MPI_File_delete(other, MPI_INFO_NULL) == MPI_SUCCESS, __LINE__);
    if (rank == 0) expect(MPI_File_delete(other, MPI_INFO_NULL) != MPI_SUCCESS, __LINE__);
}

static void pointer(const char *name)
{
    MPI_File f = opened(MPI_COMM_WORLD, name);
    MPI_Status s;
    memset(buf, 'a' + rank, 1000);
    for (int i = 0; i < 10; i++)
        MPI_File_write_shared(f, buf, 1000, MPI_BYTE, &s);
    MPI_File_write_ordered(f, buf, 1000, MPI_BYTE, &s);
    MPI_File_close(&f);
}

static bool dropped(void)
{
    const char *drop = getenv("NHT1_PROFILE_DROP");
    return drop && strcmp(drop, "1") == 0;
}

static void differs(const char *name)
{
    MPI_File f = opened(MPI_COMM_WORLD, name);
    MPI_Status s;
    for (int i = 0; i < (dropped() && rank == size - 1 ? 2 : 402); i++)
        MPI_File_write_at(f, 10 * i, buf, 10, MPI_BYTE, &s);
    MPI_File_close(&f);
}

static void disorder(const char *name)
{
    MPI_File f = opened(MPI_COMM_SELF, name);
    MPI_Status s;
    for (int i = 0; i < 10; i++)
        MPI_File_write_at(f, 10 * (dropped() ? 9 - i : i), buf, 10, MPI_BYTE, &s);
    MPI_File_close(&f);
}

/* Whichever rank comes first. */
static void folder(const char *name)
{
    char path[4096];
    if (rank == (dropped() ? size - 1 : 0)) mkdir(name, 0755);
    MPI_Barrier(MPI_COMM_WORLD);
    mkdir(name, 0755);
    snprintf(path, sizeof path, "%s/%d", name, rank);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (write(fd, buf, 10) != 10) wrong = 1;
    close(fd);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum { TURNS = 2001 };

/* The MPI library's own function, not the one before it. */
static void *past(const char *function)
{
    Dl_info library = {0};
    dladdr(dlsym(RTLD_DEFAULT, "MPI_Comm_rank"), &library);
    void *mpi = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    void *at = mpi ? dlsym(mpi, function) : NULL;
    if (!at) MPI_Abort(MPI_COMM_WORLD, 3);
    return at;
}

static void told(const char *what, double *past_s, double *more_s, int n)
{
    qsort(past_s, (size_t)n, sizeof(double), by_value);
    qsort(more_s, (size_t)n, sizeof(double), by_value);
    printf("%-26s %9.2f us %9.3f us %8.2f %%\n", what, 1e6 * past_s[n / 2], 1e6 * more_s[n / 2],
           100 * more_s[n / 2] / past_s[n / 2]);
}

static void cost_waitany(const char *name, int n)
{
    enum { WAITS = 501 };
    static double s[2][WAITS], more[WAITS];
    char what[64];
    int (*wait)(int, MPI_Request *, int *, MPI_Status *);
    *(void **)&wait = past("MPI_Waitany");
    waitany(name, n, WAITS, wait, s[0]);
    waitany(name, n, WAITS, MPI_Waitany, s[1]);
    for (int i = 0; i < WAITS; i++)
        more[i] = s[1][i] - s[0][i];
    snprintf(what, sizeof what, "MPI_Waitany of %d", n);
    told(what, s[0], more, WAITS);
}

static void cost_view(const char *name, int levels)
{
    enum { VIEWS = 101 };
    static double s[2][VIEWS], more[VIEWS];
    char what[64];
    int (*view[2])(MPI_File, MPI_Offset, MPI_Datatype, MPI_Datatype, const char *, MPI_Info);
    *(void **)&view[0] = past("MPI_File_set_view");
    view[1] = MPI_File_set_view;
    MPI_File f = opened(MPI_COMM_SELF, name);
    MPI_Datatype t = nested_type(levels);
    for (int i = 0; i < VIEWS; i++) {
        for (int k = 0; k < 2; k++) {
            const int which = (i + k) % 2;
            const double from_s = MPI_Wtime();
            view[which](f, 0, MPI_BYTE, t, "native", MPI_INFO_NULL);
            s[which][i] = MPI_Wtime() - from_s;
        }
        more[i] = s[1][i] - s[0][i];
    }
    snprintf(what, sizeof what, "set_view of %d levels", levels);
    told(what, s[0], more, VIEWS);
    MPI_Type_free(&t);
    MPI_File_close(&f);
}

/* The function as the program calls it, and the MPI library's own, in turns of n calls: what else
 * the machine does meets both. */
static void cost(const char *name, const char *label, int n, int bytes)
{
    typedef int (*write_at)(MPI_File, MPI_Offset, const void *, int, MPI_Datatype, MPI_Status *);
    static double s[2][TURNS], more[TURNS];
    char what[64];
    write_at call_of[2] = {NULL, MPI_File_write_at};
    *(void **)&call_of[0] = past("MPI_File_write_at");
    MPI_File f = opened(MPI_COMM_SELF, name);
    MPI_Status status;
    for (int turn = 0; turn < TURNS; turn++) {
        for (int k = 0; k < 2; k++) {
            const int which = (turn + k) % 2;
            const double from_s = MPI_Wtime();
            for (int i = 0; i < n; i++)
                call_of[which](f, 0, buf, bytes, MPI_BYTE, &status);
            s[which][turn] = (MPI_Wtime() - from_s) / n;
        }
        more[turn] = s[1][turn] - s[0][turn];
    }
    snprintf(what, sizeof what, "write_at of %d B%s", bytes, label);
    told(what, s[0], more, TURNS);
    MPI_File_close(&f);
}

/* As cost, of pwrite: past the library is the function of the C library. */
static void cost_posix(const char *name, int n, int bytes)
{
    static double s[2][TURNS], more[TURNS];
    ssize_t (*call_of[2])(int, const void *, size_t, off_t) = {NULL, pwrite};
    char what[64];
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    *(void **)&call_of[0] = libc ? dlsym(libc, "pwrite") : NULL;
    const int fd = open(name, O_CREAT | O_WRONLY, 0644);
    if (!call_of[0] || fd < 0) {
        MPI_Abort(MPI_COMM_WORLD, 3);
        return;
    }
    for (int turn = 0; turn < TURNS; turn++) {
        for (int k = 0; k < 2; k++) {
            const int which = (turn + k) % 2;
            const double from_s = MPI_Wtime();
            for (int i = 0; i < n; i++)
                wrong |= call_of[which](fd, buf, (size_t)bytes, 0) != bytes;
            s[which][turn] = (MPI_Wtime() - from_s) / n;
        }
        more[turn] = s[1][turn] - s[0][turn];
    }
    snprintf(what, sizeof what, "pwrite of %d B", bytes);
    told(what, s[0], more, TURNS);
    wrong |= close(fd) != 0;
}

static void cost_open(const char *name, int n)
{
    char one[4096], label[64];
    MPI_File *f = malloc((size_t)n * sizeof *f);
    if (!f) {
        MPI_Abort(MPI_COMM_WORLD, 3);
        return;
    }
    for (int i = 0; i < n; i++) {
        snprintf(one, sizeof one, "%s.%d", name, i);
        f[i] = opened(MPI_COMM_SELF, one);
    }
    snprintf(label, sizeof label, ", %d files open", n);
    cost(name, label, 100, 8);
    for (int i = 0; i < n; i++)
        MPI_File_close(&f[i]);
    free(f);
}

/* All ranks write; then the last one aborts or dies, or all wait. */
static void ends(const char *what, const char *name)
{
    MPI_File f = opened(MPI_COMM_WORLD, name);
    MPI_Status s;
    for (int i = 0; i < 10; i++)
        MPI_File_write_at(f, 1000 * (10 * rank + i), buf, 1000, MPI_BYTE, &s);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1 && *what == 'a') MPI_Abort(MPI_COMM_WORLD, 7);
    if (rank == size - 1 && *what == 'k') kill(getpid(), SIGKILL);
    if (rank == size - 1 && *what == 's') kill(getpid(), SIGSEGV);
    if (*what == 'w') waits(name);
    sleep(1800); /* for its end, which comes from outside */
}

static void writes_slowly(const char *name)
{
    MPI_File f = opened(MPI_COMM_WORLD, name);
    MPI_Status s;
    for (int i = 0; i < 10; i++) {
        for (int b = 0; b < 8; b++)
            MPI_File_write_at(f, ((MPI_Offset)rank * 80 + 8 * i + b) << 20, buf, 1 << 20, MPI_BYTE,
                              &s);
        usleep(50000);
    }
    MPI_File_close(&f);
}

/* By POSIX calls. */
static void write_outside(const char *name, const char *suffix, ssize_t bytes)
{
    char one[4096];
    snprintf(one, sizeof one, "%s.%s", name, suffix);
    const int fd = open(one, O_CREAT | O_WRONLY, 0644);
    wrong |= fd < 0 || write(fd, buf, (size_t)bytes) != bytes || close(fd) != 0;
}

static void children(const char *name)
{
    char command[5000];
    int status = 1;
    if (rank > 0) return;
    write_outside(name, "rank", 5);
    snprintf(command, sizeof command,
             "dd if=/dev/zero of=%s.program bs=1000 count=7 conv=fsync status=none", name);
    wrong |= system(command) != 0;
    const pid_t child = fork();
    if (child == 0) {
        write_outside(name, "child", 300);
        _exit(wrong);
    }
    wrong |= waitpid(child, &status, 0) != child || status != 0;
}

int main(int argc, char **argv)
{
    int provided;
    if (argc > 2 && strcmp(argv[1], "before") == 0) write_outside(argv[2], "before", 10);
    if (argc > 1 && strcmp(argv[1], "threads") == 0)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 1);
    const char *what = argv[1], *name = argv[2];
    if (strcmp(what, "all") == 0) all_functions(name, call);
    if (strcmp(what, "large") == 0 && LARGE) all_functions(name, call_c);
    if (strcmp(what, "views-large") == 0 && LARGE) views_c(name);
    if (strstr(what, "large") && !LARGE) wrong = 77;
    static const struct {
        const char *name;
        void (*run)(const char *file);
    } list[] = {
        {"views", views},
        {"seeks", seeks},
        {"halves", halves},
        {"many", many},
        {"consecutive", consecutive},
        {"slow", slow},
        {"past", past_mpi_io},
        {"before", past_mpi_io},
        {"children", children},
        {"sizes", sizes},
        {"fresh", fresh},
        {"pointer", pointer},
        {"differs", differs},
        {"disorder", disorder},
        {"nested", nested},
        {"waitany", waits_for_any},
        {"threads", in_threads},
        {"permuted", permuted},
        {"holes", holes},
        {"uneven", uneven},
        {"segments", segments},
        {"mirrored", mirrored},
        {"regions", regions},
        {"grid", grid},
        {"reopened", reopened},
        {"in-place", in_place},
        {"restart", restart},
        {"slices", slices},
        {"of-no-bytes", of_no_bytes},
        {"header", header},
        {"relative", by_relative},
        {"each", by_each},
        {"deleted", deleted},
        {"both-ways", both_ways},
        {"mesh", mesh},
        {"late", late},
        {"halves-of", halves_of},
        {"separate", separate},
        {"sync", flushed},
        {"sync-late", flushed_late},
        {"own-many", own_many},
        {"self", self},
        {"read-back", read_back},
        {"folder", folder},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        if (strcmp(what, list[i].name) == 0) list[i].run(name);
    if (strcmp(what, "cost") == 0 && argc == 5) cost(name, "", atoi(argv[3]), atoi(argv[4]));
    if (strcmp(what, "cost-posix") == 0 && argc == 5)
        cost_posix(name, atoi(argv[3]), atoi(argv[4]));
    if (strcmp(what, "cost-waitany") == 0 && argc == 4) cost_waitany(name, atoi(argv[3]));
    if (strcmp(what, "cost-view") == 0 && argc == 4) cost_view(name, atoi(argv[3]));
    if (strcmp(what, "cost-open") == 0 && argc == 4) cost_open(name, atoi(argv[3]));
    if (strstr("abort kill segv wait", what)) ends(what, name);
    if (strcmp(what, "sleep") == 0) writes_slowly(name);
    MPI_Finalize();
    if (argc > 2 && strcmp(argv[1], "before") == 0) write_outside(argv[2], "after", 600);
    return wrong;
}
