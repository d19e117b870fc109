/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libnht1-profile.so, preloaded into an MPI program by nht1-profile: stands before the MPI library's
 * functions for files and counts their calls into a mapped file (companions/profile/record.h). The program's
 * results, messages and exit status stay its own. With NHT1_PROFILE_DROP=1 writes are answered
 * with success and transfer nothing.
 *
 * Both names of a function are taken, MPI_File_write and PMPI_File_write: C, C++ and Python call the
 * one, and Open MPI's Fortran bindings (mpif.h, mpi and mpi_f08) the other. A call that the MPI
 * library makes inside of another one is not counted: `inside` is above 0 then. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "companions/profile/preload/pieces.h"
#include "companions/profile/preload/posix.h"
#include "companions/profile/preload/requests.h"
#include "companions/profile/preload/table.h"
#include "companions/profile/preload/virtual.h"
#include "companions/profile/record.h"

#define PHASES_STEP 64
#define FILES_STEP  64

enum split { SPLIT_RUN, SPLIT_OPEN, SPLIT_DIRECTION, SPLIT_CALLS };

/* A file that the program has open. */
struct open {
    MPI_File fh;
    MPI_Comm comm; /* a duplicate, while writes are dropped; else MPI_COMM_NULL */
    int file, comm_size, comm_rank;
    int phase; /* index, -1: the next call begins one */
    bool last_write;
    uint64_t calls; /* in the phase */
    int64_t etype_bytes, view_begin;
    MPI_Offset pointer; /* the individual one */
    struct pieces view;
    uint64_t view_number;       /* of all views of this process */
    uint64_t end_ns, end_io_ns; /* of the last call, and io_ns then */
    /* While writes are dropped: */
    struct profile_before *state; /* shared by all processes; else NULL */
    int mode;                     /* that the program asked for */
    bool instead;                 /* the file is a stand-in */
    /* a split collective call under way */
    bool split_drop;
    int64_t split_bytes;
    MPI_Offset split_at;
    uint64_t split_ns;
};

/* A call that is being counted. */
struct call {
    struct open *open;
    int kind;
    bool write, drop, as_read;
    MPI_Offset at; /* an explicit offset, in elements of the view */
    int64_t bytes;
    uint64_t start_ns;
};

static struct profile_map *map;
static const char *dir;
static char own_path[4096];         /* of the mapped file */
static int files_room, phases_room; /* that have their space on the disk */
static enum split split = SPLIT_DIRECTION;
static uint64_t split_calls;
static bool dropping;
static struct table opens;                /* by handle; what is in it does not move */
static struct table files;                /* struct profile_file, by name and number of processes */
static int file_phase[PROFILE_FILES_MAX]; /* for SPLIT_RUN */

/* Where this process's last call on a file ended: in the view that it went through, and in the file. */
static struct stand {
    uint64_t view;    /* number of the view, 0: no call yet */
    int64_t end;      /* in it, bytes */
    int64_t file_end; /* -1: not known */
    bool shared_moved;
} stands[PROFILE_FILES_MAX];
static uint64_t views_n;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int inside;
static uint64_t io_ns;    /* inside MPI-IO, all of it until now */
static uint64_t epoch_ns; /* when CLOCK_MONOTONIC was 0 */

static uint64_t clock_ns(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The time of day of the program's start, and what has passed since, even if the clock is set. */
static uint64_t now_ns(void)
{
    return epoch_ns + clock_ns(CLOCK_MONOTONIC);
}

/* A name for messages: what a terminal could obey becomes '?' (base/ is not part of this library). */
static const char *printable(const char *name, char out[1024])
{
    size_t n = 0;
    for (; name[n] && n < 1023; n++)
        out[n] = (char)(name[n] >= ' ' && name[n] < 127 ? name[n] : '?');
    out[n] = '\0';
    return out;
}

static void *find(const char *name)
{
    void *at = dlsym(RTLD_NEXT, name);
    if (at) return at;
    fprintf(stderr, "nht1-profile: the MPI library has no function %s\n", name);
    abort();
}

/* The real function behind one of ours; threads may meet here. */
#define REAL(name, ...)                                                                            \
    static void *found;                                                                            \
    int (*real)(__VA_ARGS__);                                                                      \
    *(void **)&real = __atomic_load_n(&found, __ATOMIC_RELAXED);                                   \
    if (!real) {                                                                                   \
        *(void **)&real = find(#name);                                                             \
        __atomic_store_n(&found, *(void **)&real, __ATOMIC_RELAXED);                               \
    }

/* A function under both of its names. */
#define BOTH(name, ...)                                                                            \
    int P##name(__VA_ARGS__) __attribute__((alias(#name)));                                        \
    int name(__VA_ARGS__)

/* Space on the disk for that part of the counters: a write to mapped memory that finds none ends the
 * program. Returns an error number. */
static int reserve(size_t from, size_t bytes)
{
    const int fd = open(own_path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return errno;
    const int why = posix_fallocate(fd, (off_t)from, (off_t)bytes);
    close(fd);
    return why;
}

static int reserve_files(int n)
{
    const int why =
        reserve(offsetof(struct profile_map, file), (size_t)n * sizeof(struct profile_file));
    if (why == 0) files_room = n;
    return why;
}

static int reserve_phases(int n)
{
    const int why =
        reserve(offsetof(struct profile_map, phase), (size_t)n * sizeof(struct profile_phase));
    if (why == 0) phases_room = n;
    return why;
}

/* Makes and maps this rank's file. Returns NULL with errno. */
static struct profile_map *map_own(void)
{
    struct rlimit limit;
    void *at = MAP_FAILED;
    int why = 0;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < sizeof *map) {
        errno = EFBIG; /* and no signal */
        return NULL;
    }
    const int fd = open(own_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0) return NULL;
    if (ftruncate(fd, sizeof *map) < 0 ||
        (why = reserve(0, offsetof(struct profile_map, file))) != 0 ||
        (why = reserve_files(FILES_STEP)) != 0 || (why = reserve_phases(PHASES_STEP)) != 0 ||
        (at = mmap(NULL, sizeof *map, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) == MAP_FAILED)
        why = why ? why : errno;
    close(fd);
    errno = why;
    return why ? NULL : at;
}

static bool outside_mpi_io(void)
{
    return inside == 0;
}

/* What was written past MPI-IO: the name of the first file is looked up once. */
static void add_past(int fd, int64_t bytes)
{
    static char looked_up;
    char link[64];
    if (!__atomic_test_and_set(&looked_up, __ATOMIC_RELAXED)) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        const ssize_t n = readlink(link, map->past_name, sizeof map->past_name - 1);
        map->past_name[n > 0 ? n : 0] = '\0';
    }
    __atomic_fetch_add(&map->past_n, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&map->past_bytes, (uint64_t)bytes, __ATOMIC_RELAXED);
}

/* The thread that called MPI_Init, and what it had had of its processor by then. */
static struct {
    char path[64];
    bool known;
    double ran_s, waited_s;
} first_thread;

static bool read_schedstat(double *ran_s, double *waited_s)
{
    char text[128];
    unsigned long long ran_ns, waited_ns;
    const int fd = open(first_thread.path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    text[n > 0 ? n : 0] = '\0';
    if (sscanf(text, "%llu %llu", &ran_ns, &waited_ns) != 2) return false;
    *ran_s = 1e-9 * (double)ran_ns;
    *waited_s = 1e-9 * (double)waited_ns;
    return true;
}

static void begin_processors(void)
{
    snprintf(first_thread.path, sizeof first_thread.path, "/proc/self/task/%ld/schedstat",
             syscall(SYS_gettid));
    first_thread.known = read_schedstat(&first_thread.ran_s, &first_thread.waited_s);
}

static void end_processors(struct profile_map *m)
{
    struct rusage used;
    double ran_s, waited_s;
    if (first_thread.known && read_schedstat(&ran_s, &waited_s)) {
        m->ran_s = ran_s - first_thread.ran_s;
        m->waited_s = waited_s - first_thread.waited_s;
    }
    if (getrusage(RUSAGE_SELF, &used) < 0) return;
    m->user_s = (double)used.ru_utime.tv_sec + 1e-6 * (double)used.ru_utime.tv_usec;
    m->system_s = (double)used.ru_stime.tv_sec + 1e-6 * (double)used.ru_stime.tv_usec;
}

/* Begins to count. A program that cannot be profiled runs all the same, but not without its writes:
 * all ranks have to drop them, or none. */
static void start(void)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    const char *how = getenv(PROFILE_ENV_SPLIT), *drop = getenv(PROFILE_ENV_DROP),
               *past = getenv(PROFILE_ENV_PAST);
    int rank, size, length;
    dir = getenv(PROFILE_ENV_DIR);
    if (!dir || map) return;
    inside++;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    PMPI_Get_library_version(library, &length);
    inside--;
    snprintf(own_path, sizeof own_path, "%s/rank-%d", dir, rank);
    struct profile_map *m = map_own();
    if (!m) {
        char plain[1024];
        fprintf(stderr, "nht1-profile: rank %d is not profiled: %s: %s\n", rank,
                printable(own_path, plain), strerror(errno));
        if (drop && strcmp(drop, "1") == 0) PMPI_Abort(MPI_COMM_WORLD, 4);
        return;
    }
    if (how && strcmp(how, "run") == 0) split = SPLIT_RUN;
    if (how && strcmp(how, "open") == 0) split = SPLIT_OPEN;
    if (how && strtoull(how, NULL, 10) > 0) {
        split = SPLIT_CALLS;
        split_calls = strtoull(how, NULL, 10);
    }
    dropping = drop && strcmp(drop, "1") == 0;
    for (int f = 0; f < PROFILE_FILES_MAX; f++)
        file_phase[f] = -1;
    epoch_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
    m->rank = rank;
    m->size = size;
    m->pid = getpid();
    m->state = PROFILE_RUNNING;
    m->dropping = dropping;
    m->bin_s = 1.0 / 64;
    gethostname(m->host, sizeof m->host - 1);
    snprintf(m->library, sizeof m->library, "%.*s", (int)strcspn(library, "\n"), library);
    begin_processors();
    m->init_s = m->last_s = 1e-9 * (double)now_ns();
    m->magic = PROFILE_MAGIC;
    map = m;
    if (!past || strcmp(past, "0") != 0) posix_begin(outside_mpi_io, add_past);
}

BOTH(MPI_Init, int *argc, char ***argv)
{
    REAL(PMPI_Init, int *, char ***);
    const int rc = real(argc, argv);
    if (rc == MPI_SUCCESS) start();
    return rc;
}

BOTH(MPI_Init_thread, int *argc, char ***argv, int required, int *provided)
{
    REAL(PMPI_Init_thread, int *, char ***, int, int *);
    const int rc = real(argc, argv, required, provided);
    if (rc == MPI_SUCCESS) start();
    return rc;
}

BOTH(MPI_Finalize, void)
{
    REAL(PMPI_Finalize, void);
    if (map) {
        map->last_s = 1e-9 * (double)now_ns();
        end_processors(map);
        map->state = PROFILE_FINALIZED;
        posix_end();
        map = NULL;
    }
    return real();
}

BOTH(MPI_Abort, MPI_Comm comm, int code)
{
    REAL(PMPI_Abort, MPI_Comm, int);
    if (map && map->state == PROFILE_RUNNING) {
        map->last_s = 1e-9 * (double)now_ns();
        map->abort_code = code;
        map->state = PROFILE_ABORTED;
    }
    return real(comm, code);
}

/* The timeline: bytes and the time inside MPI-IO, spread over the bins it took. When the run
 * outgrows the bins, each two become one. */
static void timeline(int write, int64_t bytes, uint64_t from_ns, uint64_t to_ns)
{
    const double from = 1e-9 * (double)from_ns - map->init_s,
                 to = 1e-9 * (double)to_ns - map->init_s;
    while (to >= PROFILE_BINS * map->bin_s) {
        for (int b = 0; b < PROFILE_BINS; b++) {
            const bool there = 2 * b + 1 < PROFILE_BINS;
            for (int d = 0; d < 2; d++)
                map->bin_bytes[d][b] =
                    there ? map->bin_bytes[d][2 * b] + map->bin_bytes[d][2 * b + 1] : 0;
            map->bin_ns[b] = there ? map->bin_ns[2 * b] + map->bin_ns[2 * b + 1] : 0;
        }
        map->bin_s *= 2;
    }
    const int last = to > 0 ? (int)(to / map->bin_s) : 0;
    const int first = from > 0 ? (int)(from / map->bin_s) : 0;
    if (bytes > 0) map->bin_bytes[write][last] += (uint64_t)bytes;
    for (int b = first; b <= last; b++) {
        const double begin = b == first ? from : b * map->bin_s;
        const double end = b == last ? to : (b + 1) * map->bin_s;
        map->bin_ns[b] += end > begin ? (uint64_t)(1e9 * (end - begin)) : 0;
    }
}

static void count(struct profile_calls *c, uint64_t bytes, uint64_t ns)
{
    c->n++;
    c->bytes += bytes;
    c->ns += ns;
    if (ns > c->ns_max) c->ns_max = ns;
}

/* Counts a function that moves no data. */
static void count_other(enum profile_other what, uint64_t start_ns)
{
    const uint64_t end_ns = now_ns();
    pthread_mutex_lock(&lock);
    count(&map->other[what], 0, end_ns - start_ns);
    io_ns += end_ns - start_ns;
    timeline(0, 0, start_ns, end_ns);
    map->last_s = 1e-9 * (double)end_ns;
    pthread_mutex_unlock(&lock);
}

static uint64_t key_of(MPI_File fh)
{
    uint64_t key = 0;
    memcpy(&key, &fh, sizeof fh);
    return key;
}

static struct open *open_of(MPI_File fh)
{
    pthread_mutex_lock(&lock);
    struct open *o = table_find(&opens, key_of(fh));
    pthread_mutex_unlock(&lock);
    return o;
}

/* The place in the table of a file with so many processes; the last one holds all that found none. */
static int file_of(const char *name, int comm_size, int comm_rank)
{
    uint64_t key = table_hash(name) + (uint64_t)comm_size;
    struct profile_file *file;
    while ((file = table_find(&files, key)) &&
           (strncmp(file->name, name, sizeof file->name - 1) != 0 || file->comm_size != comm_size))
        key++;
    const int n = map->files_n;
    if (!file && (n == PROFILE_FILES_MAX ||
                  (n == files_room && reserve_files(files_room + FILES_STEP) != 0) ||
                  table_put(&files, key, &map->file[n]) < 0)) {
        map->files_lost++;
        return n - 1;
    }
    if (!file) {
        file = &map->file[n];
        snprintf(file->name, sizeof file->name, "%s", name);
        map->files_n++;
    }
    file->comm_size = comm_size;
    file->comm_rank = comm_rank;
    file->opens_n++;
    return (int)(file - map->file);
}

/* Enters a call into the trace of its file. The lock is held. */
static void trace(int file, int function, int64_t bytes, int64_t at)
{
    static _Thread_local int32_t thread;
    struct profile_trace *t = &map->file[file].trace;
    if (thread == 0) thread = (int32_t)syscall(SYS_gettid);
    if (t->threads == 0) t->thread = thread;
    t->threads = t->threads == 0 || (t->threads == 1 && t->thread == thread) ? 1 : 2;
    t->of[function].n++;
    t->of[function].bytes += (uint64_t)bytes;
    const uint64_t part[] = {(uint64_t)function, (uint64_t)bytes, (uint64_t)at};
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
        t->digest = (t->digest ^ part[i]) * UINT64_C(0x9e3779b97f4a7c15);
        t->digest ^= t->digest >> 29;
    }
}

/* The same for a function that moves no data, on a file that may be none of ours. */
static void trace_other(MPI_File fh, enum profile_other what, int64_t at)
{
    pthread_mutex_lock(&lock);
    const struct open *o = table_find(&opens, key_of(fh));
    if (o) trace(o->file, WORKLOAD_KINDS + (int)what, 0, at);
    pthread_mutex_unlock(&lock);
}

/* How a file is opened while writes are dropped; the first process of the communicator decides. */
struct opening {
    int mode;
    int instead;
    int64_t size; /* of the file as the program finds it */
    char path[4096];
};

/* Whether the first process could keep what it has to. */
static bool decide(struct opening *how, const char *name, int mode)
{
    struct profile_before *state = virtual_of(dir, name);
    *how = (struct opening){.mode = mode};
    if (!state) return false;
    const bool exists = state->size >= 0;
    if (exists && (mode & MPI_MODE_CREATE) && (mode & MPI_MODE_EXCL)) {
        snprintf(how->path, sizeof how->path, "%s", dir); /* there is something */
    } else if (!exists && !(mode & MPI_MODE_CREATE)) {
        snprintf(how->path, sizeof how->path, "%.4000s/none", dir);
    } else {
        const int not_now = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY | MPI_MODE_APPEND |
                            MPI_MODE_DELETE_ON_CLOSE;
        how->instead = virtual_path(dir, state, how->path);
        if (how->instead) close(open(how->path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        how->mode &= ~not_now;
        if (mode & MPI_MODE_WRONLY) how->mode |= MPI_MODE_RDWR;
        if (!exists) state->size = 0;
        if (mode & (MPI_MODE_WRONLY | MPI_MODE_RDWR)) state->written = 1;
        how->size = state->size;
    }
    return true;
}

/* Opens a file for a program whose writes are dropped. Collective over comm. */
static int open_kept(MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *fh,
                     struct opening *how)
{
    int rank, kept = 1;
    PMPI_Comm_rank(comm, &rank);
    if (rank == 0) kept = decide(how, name, mode);
    PMPI_Bcast(&kept, 1, MPI_INT, 0, comm);
    if (!kept) {
        char plain[1024];
        fprintf(stderr, "nht1-profile: the state of %s cannot be kept: %s\n",
                printable(name, plain), strerror(errno));
        PMPI_Abort(MPI_COMM_WORLD, 4);
    }
    PMPI_Bcast(how, (int)sizeof *how, MPI_BYTE, 0, comm);
    const int rc = PMPI_File_open(comm, how->path, how->mode, info, fh);
    if (rc == MPI_SUCCESS && (mode & MPI_MODE_APPEND)) {
        PMPI_File_seek(*fh, how->size, MPI_SEEK_SET);
        PMPI_File_seek_shared(*fh, how->size, MPI_SEEK_SET);
    }
    return rc;
}

/* What a file was before the program's first call on it. */
static void note_before(const char *name, int mode)
{
    struct profile_before *state = virtual_of(dir, name);
    if (state && (mode & (MPI_MODE_WRONLY | MPI_MODE_RDWR))) state->written = 1;
}

BOTH(MPI_File_open, MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *fh)
{
    REAL(PMPI_File_open, MPI_Comm, const char *, int, MPI_Info, MPI_File *);
    struct opening how = {.instead = 0};
    int first;
    if (!map || inside) return real(comm, name, mode, info, fh);
    inside++;
    PMPI_Comm_rank(comm, &first);
    if (!dropping && first == 0) note_before(name, mode);
    const uint64_t start_ns = now_ns();
    const int rc =
        dropping ? open_kept(comm, name, mode, info, fh, &how) : real(comm, name, mode, info, fh);
    count_other(PROFILE_OPEN, start_ns);
    if (rc == MPI_SUCCESS) {
        int size, rank;
        MPI_Comm own = MPI_COMM_NULL;
        PMPI_Comm_size(comm, &size);
        PMPI_Comm_rank(comm, &rank);
        if (dropping) PMPI_Comm_dup(comm, &own);
        pthread_mutex_lock(&lock);
        struct open *o = malloc(sizeof *o);
        if (o) {
            *o = (struct open){.fh = *fh,
                               .comm = own,
                               .file = file_of(name, size, rank),
                               .comm_size = size,
                               .comm_rank = rank,
                               .phase = -1,
                               .etype_bytes = 1,
                               .view = {.n = 1, .bytes = 1, .end = 1, .extent = 1, .known = true},
                               .view_number = ++views_n,
                               .state = dropping ? virtual_of(dir, name) : NULL,
                               .mode = mode,
                               .instead = how.instead};
            if (mode & MPI_MODE_APPEND) PMPI_File_get_position(*fh, &o->pointer);
            if (table_put(&opens, key_of(*fh), o) < 0) {
                free(o);
                o = NULL;
            }
        }
        if (!o) map->files_lost++;
        if (o) trace(o->file, WORKLOAD_KINDS + PROFILE_OPEN, 0, mode);
        pthread_mutex_unlock(&lock);
        if ((!o || !o->state) && dropping) {
            char plain[1024];
            fprintf(stderr, "nht1-profile: rank %d has no memory to follow %s\n", map->rank,
                    printable(name, plain));
            PMPI_Abort(MPI_COMM_WORLD, 4);
        }
    }
    inside--;
    return rc;
}

BOTH(MPI_File_close, MPI_File *fh)
{
    REAL(PMPI_File_close, MPI_File *);
    if (!map || inside) return real(fh);
    inside++;
    /* Its handle may be that of another file as soon as it is closed. */
    pthread_mutex_lock(&lock);
    struct open *o = table_remove(&opens, key_of(*fh));
    if (o) trace(o->file, WORKLOAD_KINDS + PROFILE_CLOSE, 0, 0);
    pthread_mutex_unlock(&lock);
    const uint64_t start_ns = now_ns();
    const int rc = real(fh);
    count_other(PROFILE_CLOSE, start_ns);
    if (o && o->comm != MPI_COMM_NULL) {
        if ((o->mode & MPI_MODE_DELETE_ON_CLOSE) && o->state && o->comm_rank == 0)
            o->state->size = -1;
        PMPI_Comm_free(&o->comm);
    }
    free(o);
    inside--;
    return rc;
}

BOTH(MPI_File_set_view, MPI_File fh, MPI_Offset at, MPI_Datatype etype, MPI_Datatype filetype,
     const char *rep, MPI_Info info)
{
    REAL(PMPI_File_set_view, MPI_File, MPI_Offset, MPI_Datatype, MPI_Datatype, const char *,
         MPI_Info);
    if (!map || inside) return real(fh, at, etype, filetype, rep, info);
    inside++;
    const uint64_t start_ns = now_ns();
    const int rc = real(fh, at, etype, filetype, rep, info);
    count_other(PROFILE_VIEW, start_ns);
    trace_other(fh, PROFILE_VIEW, at);
    struct open *o = open_of(fh);
    if (rc == MPI_SUCCESS && o) {
        int bytes = 1;
        PMPI_Type_size(etype, &bytes);
        const struct pieces view = pieces_of(filetype);
        pthread_mutex_lock(&lock);
        o->etype_bytes = bytes > 0 ? bytes : 1;
        o->view_begin = at;
        o->pointer = 0;
        o->view = view;
        o->view_number = ++views_n;
        pthread_mutex_unlock(&lock);
    }
    inside--;
    return rc;
}

/* Functions that only take time. */
#define TIMED(name, what, at, arguments, ...)                                                      \
    BOTH(name, __VA_ARGS__)                                                                        \
    {                                                                                              \
        REAL(P##name, __VA_ARGS__);                                                                \
        if (!map || inside) return real arguments;                                                 \
        inside++;                                                                                  \
        const uint64_t start_ns = now_ns();                                                        \
        const int rc = real arguments;                                                             \
        count_other(what, start_ns);                                                               \
        trace_other(fh, what, at);                                                                 \
        inside--;                                                                                  \
        return rc;                                                                                 \
    }
TIMED(MPI_File_sync, PROFILE_SYNC, 0, (fh), MPI_File fh)

/* A length that is kept instead of being made; all processes of the file call it. */
static int set_length(const struct open *o, MPI_Offset bytes, bool at_least)
{
    PMPI_Barrier(o->comm);
    if (o->comm_rank == 0 && at_least) virtual_grow(o->state, bytes);
    if (o->comm_rank == 0 && !at_least) o->state->size = bytes;
    return PMPI_Barrier(o->comm);
}

#define LENGTH(name, at_least)                                                                     \
    BOTH(name, MPI_File fh, MPI_Offset bytes)                                                      \
    {                                                                                              \
        REAL(P##name, MPI_File, MPI_Offset);                                                       \
        if (!map || inside) return real(fh, bytes);                                                \
        inside++;                                                                                  \
        const struct open *o = dropping ? open_of(fh) : NULL;                                      \
        const uint64_t start_ns = now_ns();                                                        \
        const int rc = o ? set_length(o, bytes, at_least) : real(fh, bytes);                       \
        count_other(PROFILE_SIZE, start_ns);                                                       \
        trace_other(fh, PROFILE_SIZE, bytes);                                                      \
        inside--;                                                                                  \
        return rc;                                                                                 \
    }
LENGTH(MPI_File_set_size, false)
LENGTH(MPI_File_preallocate, true)

/* Asking costs nothing that counts; the answers are those that the program would get. */
BOTH(MPI_File_get_size, MPI_File fh, MPI_Offset *bytes)
{
    REAL(PMPI_File_get_size, MPI_File, MPI_Offset *);
    const struct open *o = map && !inside && dropping ? open_of(fh) : NULL;
    if (!o) return real(fh, bytes);
    *bytes = __atomic_load_n(&o->state->size, __ATOMIC_RELAXED);
    return MPI_SUCCESS;
}

BOTH(MPI_File_get_amode, MPI_File fh, int *mode)
{
    REAL(PMPI_File_get_amode, MPI_File, int *);
    const struct open *o = map && !inside && dropping ? open_of(fh) : NULL;
    if (!o) return real(fh, mode);
    *mode = o->mode;
    return MPI_SUCCESS;
}

BOTH(MPI_File_delete, const char *name, MPI_Info info)
{
    REAL(PMPI_File_delete, const char *, MPI_Info);
    char none[4096];
    if (!map || inside) return real(name, info);
    inside++;
    struct profile_before *state = virtual_of(dir, name);
    int rc = MPI_SUCCESS;
    snprintf(none, sizeof none, "%.4000s/none", dir);
    if (!dropping || !state)
        rc = real(name, info);
    else if (state->size < 0)
        rc = real(none, info);
    else
        state->size = -1;
    inside--;
    return rc;
}

/* A pointer was moved: the individual one, whose position is known, or the shared one. */
static void sought(struct open *o, const char *name)
{
    pthread_mutex_lock(&lock);
    if (strcmp(name, "MPI_File_seek_shared") == 0)
        stands[o->file].shared_moved = true;
    else
        PMPI_File_get_position(o->fh, &o->pointer);
    pthread_mutex_unlock(&lock);
}

/* From the end: of the file as the program has made it, where the view tells that. */
static MPI_Offset seek_to(MPI_File fh, MPI_Offset at, int *whence)
{
    const struct open *o = dropping && *whence == MPI_SEEK_END ? open_of(fh) : NULL;
    if (!o || o->view.n != 1 || o->view.bytes != o->view.extent) return at;
    *whence = MPI_SEEK_SET;
    return (o->state->size - o->view_begin) / o->etype_bytes + at;
}

#define SEEK(name)                                                                                 \
    BOTH(name, MPI_File fh, MPI_Offset at, int whence)                                             \
    {                                                                                              \
        REAL(P##name, MPI_File, MPI_Offset, int);                                                  \
        if (!map || inside) return real(fh, at, whence);                                           \
        inside++;                                                                                  \
        const uint64_t start_ns = now_ns();                                                        \
        const MPI_Offset to = seek_to(fh, at, &whence);                                            \
        const int rc = real(fh, to, whence);                                                       \
        count_other(PROFILE_SEEK, start_ns);                                                       \
        trace_other(fh, PROFILE_SEEK, at);                                                         \
        struct open *o = open_of(fh);                                                              \
        if (o) sought(o, #name);                                                                   \
        inside--;                                                                                  \
        return rc;                                                                                 \
    }
SEEK(MPI_File_seek)
SEEK(MPI_File_seek_shared)

/* The phase that a call belongs to; begins one where --split says so. */
static struct profile_phase *phase_of(struct open *o, bool write, double now_s)
{
    int at = split == SPLIT_RUN ? file_phase[o->file] : o->phase;
    if (at >= 0 && split == SPLIT_DIRECTION && o->last_write != write) at = -1;
    if (at >= 0 && split == SPLIT_CALLS && o->calls >= split_calls) at = -1;
    if (at < 0 &&
        (map->phases_n == PROFILE_PHASE_MAX ||
         (map->phases_n == phases_room && reserve_phases(phases_room + PHASES_STEP) != 0))) {
        map->phases_lost++;
        at = map->phases_n - 1;
    } else if (at < 0) {
        at = map->phases_n;
        map->phase[at].file = o->file;
        map->phase[at].ordinal = map->file[o->file].phases_n++;
        map->phase[at].comm_size = o->comm_size;
        map->phase[at].comm_rank = o->comm_rank;
        map->phase[at].begin_s = now_s;
        map->phases_n++;
        o->calls = 0;
    }
    o->phase = file_phase[o->file] = at;
    o->last_write = write;
    o->calls++;
    return &map->phase[at];
}

/* Begins to count a call; false: it is none of ours to count. at: an explicit offset, or 0. */
static bool begin_call(struct call *c, MPI_File fh, int kind, MPI_Offset at, MPI_Count items,
                       MPI_Datatype type)
{
    const struct workload_kind k = workload_kind_of(kind);
    MPI_Count item_bytes = 0;
    if (!map || inside) return false;
    struct open *o = open_of(fh);
    if (!o) return false;
    inside++;
    if (type != MPI_DATATYPE_NULL) PMPI_Type_size_x(type, &item_bytes);
    *c = (struct call){.open = o,
                       .kind = kind,
                       .write = k.write,
                       .at = at,
                       .bytes = items > 0 && item_bytes > 0 ? (int64_t)items * item_bytes : 0};
    c->drop = dropping && k.write;
    c->as_read = c->drop && k.position == WORKLOAD_SHARED && !k.collective;
    /* What a stand-in should hold is lost, but not how long it is. */
    if (dropping && !k.write && o->instead) {
        char path[4096];
        if (virtual_path(dir, o->state, path) && truncate(path, o->state->size) < 0)
            c->drop = false;
    }
    c->start_ns = now_ns();
    return true;
}

static void set_status(MPI_Status *status, int64_t bytes)
{
    PMPI_Status_set_elements_x(status, MPI_BYTE, bytes);
    PMPI_Status_set_cancelled(status, 0);
}

/* Notes where a call lay; not used where the view has holes. */
static void note_place(struct profile_places *l, const struct open *o, const struct call *c,
                       int64_t bytes)
{
    const bool explicit = workload_kind_of(c->kind).position == WORKLOAD_EXPLICIT;
    if (o->view.n != 1 || o->view.bytes != o->view.extent) return;
    l->n++;
    if (bytes == 0) return;
    const int64_t begin = o->view_begin + (explicit ? c->at : o->pointer) * o->etype_bytes;
    l->skips += l->end > 0 && begin != l->next;
    if (l->end == 0 || begin < l->begin) l->begin = begin;
    l->next = begin + bytes;
    if (l->next > l->end) l->end = l->next;
}

/* The byte in the file of a position in a view, or behind the one before it; -1: not known. */
static int64_t byte_of(const struct open *o, int64_t at, bool end)
{
    const struct pieces *v = &o->view;
    if (v->bytes <= 0) return -1;
    if (v->n == 1 && v->bytes == v->extent) return o->view_begin + v->first + at;
    if (!v->known || at % v->bytes != 0) return -1;
    const int64_t tile = at / v->bytes;
    return o->view_begin + (end ? (tile - 1) * v->extent + v->end : tile * v->extent + v->first);
}

/* Moves the shared pointer for one process alone, which only an access does: by reading. */
static int read_shared(const struct open *o, int64_t bytes)
{
    const int64_t most = INT64_C(1) << 30;
    char *into = malloc((size_t)(bytes < most ? bytes : most) + 1);
    int rc = into ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    for (int64_t n; rc == MPI_SUCCESS && bytes > 0; bytes -= n) {
        MPI_Status status;
        n = bytes < most ? bytes : most - most % o->etype_bytes;
        rc = PMPI_File_read_shared(o->fh, into, (int)n, MPI_BYTE, &status);
    }
    free(into);
    return rc;
}

/* Moves the pointers as if the call had been made, and notes the length that the file would have. */
static int advance_pointers(const struct call *c)
{
    const struct workload_kind k = workload_kind_of(c->kind);
    struct open *o = c->open;
    int64_t bytes = c->bytes;
    int rc = MPI_SUCCESS;
    if (k.position != WORKLOAD_SHARED) {
        const int64_t at = (k.position == WORKLOAD_EXPLICIT ? c->at : o->pointer) * o->etype_bytes;
        if (bytes > 0) virtual_grow(o->state, byte_of(o, at + bytes, true));
        return k.position == WORKLOAD_EXPLICIT
                   ? rc
                   : PMPI_File_seek(o->fh, bytes / o->etype_bytes, MPI_SEEK_CUR);
    }
    if (c->as_read)
        rc = read_shared(o, bytes);
    else {
        PMPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_SUM, o->comm);
        rc = PMPI_File_seek_shared(o->fh, bytes / o->etype_bytes, MPI_SEEK_CUR);
    }
    MPI_Offset end = 0;
    if (PMPI_File_get_position_shared(o->fh, &end) == MPI_SUCCESS && bytes > 0)
        virtual_grow(o->state, byte_of(o, end * o->etype_bytes, true));
    return rc;
}

/* Whether a call begins where this process's last one on the file ended; notes where it ends. With the
 * shared pointer: whether nobody has moved that since. */
static bool continues(const struct open *o, const struct call *c, int64_t bytes)
{
    const enum workload_position position = workload_kind_of(c->kind).position;
    struct stand *s = &stands[o->file];
    if (position == WORKLOAD_SHARED) {
        const bool moved = s->shared_moved;
        s->shared_moved = false;
        return !moved;
    }
    if (bytes == 0) return true;
    const int64_t at = (position == WORKLOAD_EXPLICIT ? c->at : o->pointer) * o->etype_bytes;
    const bool same_view = s->view == o->view_number;
    const bool on =
        same_view ? at == s->end : s->file_end >= 0 && byte_of(o, at, false) == s->file_end;
    *s = (struct stand){.view = o->view_number,
                        .end = at + bytes,
                        .file_end = byte_of(o, at + bytes, true),
                        .shared_moved = s->shared_moved};
    return on;
}

/* Notes a call if it is one of the slowest of this process. */
static void note_slow(const struct open *o, const struct call *c, int64_t bytes, uint64_t ns)
{
    static int fastest; /* of them, to be replaced */
    if (ns <= map->slow[fastest].ns) return;
    const enum workload_position position = workload_kind_of(c->kind).position;
    const int64_t at = position == WORKLOAD_EXPLICIT ? c->at : o->pointer;
    map->slow[fastest] = (struct profile_slow){
        .ns = ns,
        .begin_s = 1e-9 * (double)c->start_ns,
        .at = position == WORKLOAD_SHARED ? -1 : byte_of(o, at * o->etype_bytes, false),
        .bytes = bytes,
        .file = o->file,
        .kind = c->kind};
    for (int i = 0; i < PROFILE_SLOW; i++)
        if (map->slow[i].ns < map->slow[fastest].ns) fastest = i;
}

/* Counts a call that is over. */
static void end_call(const struct call *c, int64_t bytes, uint64_t before_ns)
{
    const uint64_t end_ns = now_ns(), ns = end_ns - c->start_ns + before_ns;
    const int64_t got = bytes > 0 ? bytes : 0;
    struct open *o = c->open;
    int log2 = 0;
    while (log2 + 1 < PROFILE_SIZES && got >> (log2 + 1) > 0)
        log2++;
    pthread_mutex_lock(&lock);
    struct profile_phase *p = phase_of(o, c->write, 1e-9 * (double)c->start_ns);
    count(&p->kind[c->kind], (uint64_t)got, ns);
    p->sizes[c->write][log2]++;
    trace(o->file, c->kind, got, c->at);
    note_slow(o, c, got, ns);
    const enum workload_position position = workload_kind_of(c->kind).position;
    if (position != WORKLOAD_SHARED) note_place(&p->places[c->kind], o, c, got);
    p->sequential += continues(o, c, got) || o->calls == 1; /* the first one begins somewhere */
    if (position == WORKLOAD_INDIVIDUAL) o->pointer += got / o->etype_bytes;
    io_ns += end_ns - c->start_ns;
    if (o->calls > 1) {
        const uint64_t passed = end_ns - o->end_ns, inside_ns = io_ns - o->end_io_ns;
        p->think_ns += passed > inside_ns ? passed - inside_ns : 0;
    }
    o->end_ns = end_ns;
    o->end_io_ns = io_ns;
    p->pieces += (uint64_t)pieces_in(&o->view, got);
    p->unknown += !o->view.known;
    p->end_s = map->last_s = 1e-9 * (double)end_ns;
    if (dropping && c->write) {
        *(c->as_read ? &map->kept_n : &map->dropped_n) += 1;
        *(c->as_read ? &map->kept_bytes : &map->dropped_bytes) += (uint64_t)got;
    }
    timeline(c->write, got, c->start_ns, end_ns);
    pthread_mutex_unlock(&lock);
    inside--;
}

/* Bytes that a call has moved, as its status says. */
static int64_t bytes_moved(int rc, const MPI_Status *status)
{
    MPI_Count bytes = 0;
    if (rc != MPI_SUCCESS || PMPI_Get_elements_x(status, MPI_BYTE, &bytes) != MPI_SUCCESS) return 0;
    return bytes == MPI_UNDEFINED ? 0 : bytes;
}

/* The data access functions [MPI31, 13.4]. Where the MPI library has them, each has a second form
 * with a large count, MPI_File_..._c [MPI4, 14.4]. offset: the explicit one, or 0; parameters: a
 * macro, of the type of the count; arguments: the names of the parameters. */
#ifdef HAVE_LARGE_COUNT
#define BOTH_COUNTS(define, name, kind, offset, parameters, arguments)                             \
    define(MPI_File_##name, kind, offset, parameters(int), arguments)                              \
        define(MPI_File_##name##_c, kind, offset, parameters(MPI_Count), arguments)
#else
#define BOTH_COUNTS(define, name, kind, offset, parameters, arguments)                             \
    define(MPI_File_##name, kind, offset, parameters(int), arguments)
#endif
#define AT_READ(items) (MPI_File fh, MPI_Offset at, void *buf, items count, MPI_Datatype type)
#define AT_WRITE(items)                                                                            \
    (MPI_File fh, MPI_Offset at, const void *buf, items count, MPI_Datatype type)
#define READ(items)  (MPI_File fh, void *buf, items count, MPI_Datatype type)
#define WRITE(items) (MPI_File fh, const void *buf, items count, MPI_Datatype type)
#define AT           (fh, at, buf, count, type)
#define HERE         (fh, buf, count, type)
#define UNPACK(...)  __VA_ARGS__

#define BLOCKING_ONE(name, kind, offset, parameters, arguments)                                    \
    BOTH(name, UNPACK parameters, MPI_Status *status)                                              \
    {                                                                                              \
        REAL(P##name, UNPACK parameters, MPI_Status *);                                            \
        struct call c;                                                                             \
        MPI_Status own;                                                                            \
        if (!begin_call(&c, fh, kind, offset, count, type)) return real(UNPACK arguments, status); \
        if (status == MPI_STATUS_IGNORE) status = &own;                                            \
        int rc;                                                                                    \
        if (c.drop) {                                                                              \
            rc = advance_pointers(&c);                                                             \
            set_status(status, c.bytes);                                                           \
        } else                                                                                     \
            rc = real(UNPACK arguments, status);                                                   \
        end_call(&c, bytes_moved(rc, status), 0);                                                  \
        return rc;                                                                                 \
    }
#define BLOCKING(...) BOTH_COUNTS(BLOCKING_ONE, __VA_ARGS__)
BLOCKING(read_at, WORKLOAD_KIND(EXPLICIT, 0, BLOCKING, 0), at, AT_READ, AT)
BLOCKING(read_at_all, WORKLOAD_KIND(EXPLICIT, 1, BLOCKING, 0), at, AT_READ, AT)
BLOCKING(write_at, WORKLOAD_KIND(EXPLICIT, 0, BLOCKING, 1), at, AT_WRITE, AT)
BLOCKING(write_at_all, WORKLOAD_KIND(EXPLICIT, 1, BLOCKING, 1), at, AT_WRITE, AT)
BLOCKING(read, WORKLOAD_KIND(INDIVIDUAL, 0, BLOCKING, 0), 0, READ, HERE)
BLOCKING(read_all, WORKLOAD_KIND(INDIVIDUAL, 1, BLOCKING, 0), 0, READ, HERE)
BLOCKING(write, WORKLOAD_KIND(INDIVIDUAL, 0, BLOCKING, 1), 0, WRITE, HERE)
BLOCKING(write_all, WORKLOAD_KIND(INDIVIDUAL, 1, BLOCKING, 1), 0, WRITE, HERE)
BLOCKING(read_shared, WORKLOAD_KIND(SHARED, 0, BLOCKING, 0), 0, READ, HERE)
BLOCKING(write_shared, WORKLOAD_KIND(SHARED, 0, BLOCKING, 1), 0, WRITE, HERE)
BLOCKING(read_ordered, WORKLOAD_KIND(SHARED, 1, BLOCKING, 0), 0, READ, HERE)
BLOCKING(write_ordered, WORKLOAD_KIND(SHARED, 1, BLOCKING, 1), 0, WRITE, HERE)

/* A request that is complete from the start, for a write that was dropped. */
static int query_dropped(void *state, MPI_Status *status)
{
    set_status(status, *(int64_t *)state);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int free_request_state(void *state)
{
    free(state);
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

static int drop_request(const struct call *c, MPI_Request *request)
{
    int64_t *bytes = malloc(sizeof *bytes);
    if (!bytes) return MPI_ERR_NO_MEM;
    *bytes = c->bytes;
    const int rc = PMPI_Grequest_start(query_dropped, free_request_state, cancel, bytes, request);
    return rc == MPI_SUCCESS ? PMPI_Grequest_complete(*request) : rc;
}

/* Bytes are those asked for: what a read gets is known when it ends. */
#define REQUEST_ONE(name, kind, offset, parameters, arguments)                                     \
    BOTH(name, UNPACK parameters, MPI_Request *request)                                            \
    {                                                                                              \
        REAL(P##name, UNPACK parameters, MPI_Request *);                                           \
        struct call c;                                                                             \
        if (!begin_call(&c, fh, kind, offset, count, type))                                        \
            return real(UNPACK arguments, request);                                                \
        int rc = c.drop ? advance_pointers(&c) : real(UNPACK arguments, request);                  \
        if (c.drop && rc == MPI_SUCCESS) rc = drop_request(&c, request);                           \
        if (rc == MPI_SUCCESS && !c.drop) requests_posted(request);                                \
        end_call(&c, rc == MPI_SUCCESS ? c.bytes : 0, 0);                                          \
        return rc;                                                                                 \
    }
#define REQUEST(...) BOTH_COUNTS(REQUEST_ONE, __VA_ARGS__)
REQUEST(iread_at, WORKLOAD_KIND(EXPLICIT, 0, REQUEST, 0), at, AT_READ, AT)
REQUEST(iread_at_all, WORKLOAD_KIND(EXPLICIT, 1, REQUEST, 0), at, AT_READ, AT)
REQUEST(iwrite_at, WORKLOAD_KIND(EXPLICIT, 0, REQUEST, 1), at, AT_WRITE, AT)
REQUEST(iwrite_at_all, WORKLOAD_KIND(EXPLICIT, 1, REQUEST, 1), at, AT_WRITE, AT)
REQUEST(iread, WORKLOAD_KIND(INDIVIDUAL, 0, REQUEST, 0), 0, READ, HERE)
REQUEST(iread_all, WORKLOAD_KIND(INDIVIDUAL, 1, REQUEST, 0), 0, READ, HERE)
REQUEST(iwrite, WORKLOAD_KIND(INDIVIDUAL, 0, REQUEST, 1), 0, WRITE, HERE)
REQUEST(iwrite_all, WORKLOAD_KIND(INDIVIDUAL, 1, REQUEST, 1), 0, WRITE, HERE)
REQUEST(iread_shared, WORKLOAD_KIND(SHARED, 0, REQUEST, 0), 0, READ, HERE)
REQUEST(iwrite_shared, WORKLOAD_KIND(SHARED, 0, REQUEST, 1), 0, WRITE, HERE)

/* A split collective call is counted when it ends, with the time of both halves. */
static void split_begun(struct call *c)
{
    const uint64_t end_ns = now_ns();
    pthread_mutex_lock(&lock);
    io_ns += end_ns - c->start_ns;
    pthread_mutex_unlock(&lock);
    c->open->split_at = c->at;
    c->open->split_bytes = c->bytes;
    c->open->split_drop = c->drop;
    c->open->split_ns = end_ns - c->start_ns;
    inside--;
}

#define BEGIN_ONE(name, which, offset, parameters, arguments)                                      \
    BOTH(name, UNPACK parameters)                                                                  \
    {                                                                                              \
        REAL(P##name, UNPACK parameters);                                                          \
        struct call c;                                                                             \
        if (!begin_call(&c, fh, which, offset, count, type)) return real arguments;                \
        const int rc = c.drop ? advance_pointers(&c) : real arguments;                             \
        split_begun(&c);                                                                           \
        return rc;                                                                                 \
    }
#define SPLIT_CALL(name, which, offset, parameters, arguments, buffer)                             \
    BOTH_COUNTS(BEGIN_ONE, name##_begin, which, offset, parameters, arguments)                     \
    BOTH(MPI_File_##name##_end, MPI_File fh, buffer buf, MPI_Status *status)                       \
    {                                                                                              \
        REAL(PMPI_File_##name##_end, MPI_File, buffer, MPI_Status *);                              \
        struct call c;                                                                             \
        MPI_Status own;                                                                            \
        struct open *o = map && !inside ? open_of(fh) : NULL;                                      \
        if (!o) return real(fh, buf, status);                                                      \
        inside++;                                                                                  \
        c = (struct call){.open = o,                                                               \
                          .kind = which,                                                           \
                          .write = (which) % 2,                                                    \
                          .drop = o->split_drop,                                                   \
                          .at = o->split_at,                                                       \
                          .bytes = o->split_bytes,                                                 \
                          .start_ns = now_ns()};                                                   \
        if (status == MPI_STATUS_IGNORE) status = &own;                                            \
        int rc = MPI_SUCCESS;                                                                      \
        if (c.drop)                                                                                \
            set_status(status, c.bytes);                                                           \
        else                                                                                       \
            rc = real(fh, buf, status);                                                            \
        end_call(&c, bytes_moved(rc, status), o->split_ns);                                        \
        return rc;                                                                                 \
    }
SPLIT_CALL(read_at_all, WORKLOAD_KIND(EXPLICIT, 1, SPLIT, 0), at, AT_READ, AT, void *)
SPLIT_CALL(write_at_all, WORKLOAD_KIND(EXPLICIT, 1, SPLIT, 1), at, AT_WRITE, AT, const void *)
SPLIT_CALL(read_all, WORKLOAD_KIND(INDIVIDUAL, 1, SPLIT, 0), 0, READ, HERE, void *)
SPLIT_CALL(write_all, WORKLOAD_KIND(INDIVIDUAL, 1, SPLIT, 1), 0, WRITE, HERE, const void *)
SPLIT_CALL(read_ordered, WORKLOAD_KIND(SHARED, 1, SPLIT, 0), 0, READ, HERE, void *)
SPLIT_CALL(write_ordered, WORKLOAD_KIND(SHARED, 1, SPLIT, 1), 0, WRITE, HERE, const void *)

/* Waiting for requests of MPI-IO is time inside it. done_n, places: which of the n have ended, -1: look
 * at all. */
#define WAITING(name, n, first, done_n, places, arguments, ...)                                    \
    BOTH(name, __VA_ARGS__)                                                                        \
    {                                                                                              \
        REAL(P##name, __VA_ARGS__);                                                                \
        MPI_Request before;                                                                        \
        if (!map || inside || !requests_waited(n, first, &before)) return real arguments;          \
        inside++;                                                                                  \
        const uint64_t start_ns = now_ns();                                                        \
        const int rc = real arguments;                                                             \
        count_other(PROFILE_WAIT, start_ns);                                                       \
        inside--;                                                                                  \
        requests_ended(n, first, before, done_n, places);                                          \
        return rc;                                                                                 \
    }
WAITING(MPI_Wait, 1, request, -1, NULL, (request, status), MPI_Request *request, MPI_Status *status)
WAITING(MPI_Test, 1, request, -1, NULL, (request, flag, status), MPI_Request *request, int *flag,
        MPI_Status *status)
WAITING(MPI_Waitall, n, list, -1, NULL, (n, list, statuses), int n, MPI_Request *list,
        MPI_Status *statuses)
WAITING(MPI_Testall, n, list, *flag ? -1 : 0, NULL, (n, list, flag, statuses), int n,
        MPI_Request *list, int *flag, MPI_Status *statuses)
WAITING(MPI_Waitany, n, list, 1, index, (n, list, index, status), int n, MPI_Request *list,
        int *index, MPI_Status *status)
WAITING(MPI_Testany, n, list, *flag ? 1 : 0, index, (n, list, index, flag, status), int n,
        MPI_Request *list, int *index, int *flag, MPI_Status *status)
WAITING(MPI_Waitsome, n, list, *outcount < 0 ? 0 : *outcount, indices,
        (n, list, outcount, indices, statuses), int n, MPI_Request *list, int *outcount,
        int *indices, MPI_Status *statuses)
WAITING(MPI_Testsome, n, list, *outcount < 0 ? 0 : *outcount, indices,
        (n, list, outcount, indices, statuses), int n, MPI_Request *list, int *outcount,
        int *indices, MPI_Status *statuses)
