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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "companions/profile/preload/count.h"
#include "companions/profile/preload/follow.h"
#include "companions/profile/preload/paths.h"
#include "companions/profile/preload/pieces.h"
#include "companions/profile/preload/requests.h"
#include "companions/profile/preload/table.h"
#include "companions/profile/record.h"

/* A file that the program has open. */
struct open {
    MPI_File fh;
    MPI_Comm comm; /* a duplicate, while writes are dropped; else MPI_COMM_NULL */
    struct use use;
    int64_t etype_bytes, view_begin;
    MPI_Offset pointer; /* the individual one */
    struct pieces view;
    struct piece *piece;  /* [view.n] of a view with gaps, NULL: its pieces are not known; owned */
    uint64_t view_number; /* of all views of this process */
    /* While writes are dropped: */
    struct profile_stand_in *state; /* owned, shared by all processes; else NULL */
    int mode;                       /* that the program asked for */
    bool instead;                   /* the real run has left no such file */
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

static struct profile_map *map; /* of this rank, from MPI_Init to MPI_Finalize */
static const char *dir;
static bool dropping;
static struct table opens; /* by handle; what is in it does not move */

/* Where this process's last call on a file ended: in the view that it went through, and in the file. */
static struct stand {
    uint64_t view;    /* number of the view, 0: no call yet */
    int64_t end;      /* in it, bytes */
    int64_t file_end; /* -1: not known */
    bool shared_moved;
} stands[PROFILE_FILES_MAX];
static uint64_t views_n;
#define inside (*count_inside())

/* A name for messages: what a terminal could obey becomes '?' (base/ is not part of this library). */
static const char *printable(const char *name, char out[1024])
{
    size_t n = 0;
    for (; name[n] && n < 1023; n++)
        out[n] = (char)(name[n] >= ' ' && name[n] < 127 ? name[n] : '?');
    out[n] = '\0';
    return out;
}

/* Another library that intercepts a function of MPI would have to be called under its other name, but calls this
 * library back under the first: that it is left out is told. */
static void tell_tool(const char *name, void *at)
{
    Dl_info library, tool;
    void *next = dlsym(RTLD_NEXT, name + 1);
    if (strncmp(name, "PMPI_", 5) == 0 && next && next != at && dladdr(at, &library) &&
        dladdr(next, &tool) && library.dli_fbase != tool.dli_fbase)
        count_unseen(profile_unseen_word(PROFILE_UNSEEN_TOOL), tool.dli_fname);
}

static void *find(const char *name)
{
    void *at = dlsym(RTLD_NEXT, name);
    if (at) tell_tool(name, at);
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

/* Begins to count. A program that cannot be profiled runs all the same, but not without its writes:
 * all ranks have to drop them, or none. */
static void start(void)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int rank, size, length;
    if (map || !count_setup()) return;
    dir = count_dir();
    inside++;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    PMPI_Get_library_version(library, &length);
    inside--;
    struct profile_map *m = count_begin(rank, size);
    if (!m) {
        char plain[1024];
        const int why = errno;
        fprintf(
            stderr, "nht1-profile: rank %d is not profiled: %s: %s\n", rank, printable(dir, plain),
            why == EEXIST ? "ranks of more than one MPI program: profile each by a command of its "
                            "own"
                          : strerror(why));
        if (why == EEXIST)
            count_unseen(profile_unseen_word(PROFILE_UNSEEN_SECOND), "its ranks");
        else
            count_unseen_why(why, "the calls of a rank");
        if (count_dropping()) PMPI_Abort(MPI_COMM_WORLD, 4);
        follow_stop(); /* what the MPI library does is not told from what the program does */
        return;
    }
    dropping = count_dropping();
    snprintf(m->library, sizeof m->library, "%.*s", (int)strcspn(library, "\n"), library);
    map = m;
}

BOTH(MPI_Init, int *argc, char ***argv)
{
    REAL(PMPI_Init, int *, char ***);
    inside++;
    const int rc = real(argc, argv);
    inside--;
    if (rc == MPI_SUCCESS) start();
    return rc;
}

BOTH(MPI_Init_thread, int *argc, char ***argv, int required, int *provided)
{
    REAL(PMPI_Init_thread, int *, char ***, int, int *);
    inside++;
    const int rc = real(argc, argv, required, provided);
    inside--;
    if (rc == MPI_SUCCESS) start();
    return rc;
}

BOTH(MPI_Finalize, void)
{
    REAL(PMPI_Finalize, void);
    if (map) count_end();
    map = NULL;
    inside++;
    const int rc = real();
    inside--;
    return rc;
}

BOTH(MPI_Abort, MPI_Comm comm, int code)
{
    REAL(PMPI_Abort, MPI_Comm, int);
    if (map && map->state == PROFILE_RUNNING) {
        map->last_s = 1e-9 * (double)count_now_ns();
        map->abort_code = code;
        map->state = PROFILE_ABORTED;
    }
    return real(comm, code);
}

/* Functions that MPI-IO calls while the library is at work: what they do passes by. name: of the function that takes them;
 * ROMIO has requests of its own. */
static void tell_callback(const void *caller, const char *name)
{
    if (map && !inside && !follow_is_mpi(caller))
        count_unseen(profile_unseen_word(PROFILE_UNSEEN_CALLBACK), name);
}

#define CALLED_BACK(name, arguments, ...)                                                          \
    BOTH(name, __VA_ARGS__)                                                                        \
    {                                                                                              \
        REAL(P##name, __VA_ARGS__);                                                                \
        tell_callback(__builtin_return_address(0), #name);                                         \
        return real arguments;                                                                     \
    }
CALLED_BACK(MPI_File_create_errhandler, (function, handler), MPI_File_errhandler_function *function,
            MPI_Errhandler *handler)
CALLED_BACK(MPI_Register_datarep, (name, reading, writing, extent, state), const char *name,
            MPI_Datarep_conversion_function *reading, MPI_Datarep_conversion_function *writing,
            MPI_Datarep_extent_function *extent, void *state)
CALLED_BACK(MPI_Grequest_start, (query, release, cancel, state, request),
            MPI_Grequest_query_function *query, MPI_Grequest_free_function *release,
            MPI_Grequest_cancel_function *cancel, void *state, MPI_Request *request)

/* Error handlers in Fortran; Open MPI takes them under the second name from all of its interfaces. */
#define CALLED_BACK_FORTRAN(name)                                                                  \
    void name(void *function, void *handler, void *error);                                         \
    void name(void *function, void *handler, void *error)                                          \
    {                                                                                              \
        static void *found;                                                                        \
        void (*real)(void *, void *, void *);                                                      \
        if (!found) found = find(#name);                                                           \
        *(void **)&real = found;                                                                   \
        tell_callback(NULL, #name);                                                                \
        real(function, handler, error);                                                            \
    }
CALLED_BACK_FORTRAN(mpi_file_create_errhandler_)
CALLED_BACK_FORTRAN(ompi_file_create_errhandler_f)

static uint64_t key_of(MPI_File fh)
{
    uint64_t key = 0;
    memcpy(&key, &fh, sizeof fh);
    return key;
}

static struct open *open_of(MPI_File fh)
{
    count_lock();
    struct open *o = table_find(&opens, key_of(fh));
    count_unlock();
    return o;
}

/* How the file of a call was open, as runs have it. */
static int run_flags(int mode)
{
    return mode & MPI_MODE_RDONLY   ? WORKLOAD_RUN_RDONLY
           : mode & MPI_MODE_WRONLY ? WORKLOAD_RUN_WRONLY
                                    : WORKLOAD_RUN_RDWR;
}

/* The same for a function that moves no data, on a file that may be none of ours. */
static void trace_other(MPI_File fh, enum profile_other what, int64_t at)
{
    count_lock();
    const struct open *o = table_find(&opens, key_of(fh));
    if (o) count_trace(o->use.file, WORKLOAD_KINDS + (int)what, 0, at);
    if (o && what == PROFILE_SYNC)
        count_run(o->use.file, WORKLOAD_RUN_FSYNC, run_flags(o->mode), 0, 0);
    count_unlock();
}

/* How a file is opened while writes are dropped; the first process of the communicator decides. */
struct opening {
    int mode;
    int instead;
    int64_t size; /* of the file as the program finds it */
    char path[4096];
};

/* The file that is read in place of one that the real run has not left: zeros. */
static void instead_of(const char *whole, char path[PROFILE_PATH_MAX])
{
    snprintf(path, PROFILE_PATH_MAX, "%.4000s/instead-%016llx", dir,
             (unsigned long long)table_hash(whole));
}

#ifdef OPEN_MPI
/* Whether priorities in the environment, of those that Open MPI has by itself, put ROMIO, whose name has its version, before OMPIO. */
static bool prefers_romio(void)
{
    int ompio = 30, romio = 10, priority;
    char name[32];
    for (char **e = environ; *e; e++)
        if (sscanf(*e, "OMPI_MCA_io_%31[a-z0-9]_priority=%d", name, &priority) == 2) {
            if (strcmp(name, "ompio") == 0) ompio = priority;
            if (strncmp(name, "romio", 5) == 0) romio = priority;
        }
    return romio > ompio;
}
#endif

/* Whether files are opened by ROMIO, which MPICH and its kin have alone and Open MPI where it is told so. A file cannot be asked:
 * Open MPI 4.1 ends a program that asks a file opened without hints for them, and of others it shows the program's own alone. */
static bool uses_romio(void)
{
#ifdef OPEN_MPI
    const char *io = getenv("OMPI_MCA_io");
    const bool except = io && io[0] == '^', ompio = io && strstr(io, "ompio"),
               romio = io && strstr(io, "romio");
    return ompio != romio ? ompio == except : prefers_romio();
#else
    return true;
#endif
}

/* paths_whole for a name that is handed to MPI. ROMIO takes off a prefix such as "ufs:", OMPIO nothing: a file may be called run:1.dat. */
static int whole_of(const char *name, bool follow, char out[PROFILE_PATH_MAX])
{
    const char *colon = uses_romio() ? strchr(name, ':') : NULL, *slash = strchr(name, '/');
    const bool prefix = colon && colon > name + 1 && (!slash || colon < slash);
    return paths_whole(AT_FDCWD, prefix ? colon + 1 : name, follow, out);
}

/* What stands for a file, mapped. */
static struct profile_stand_in *state_of(const char *name)
{
    char whole[PROFILE_PATH_MAX], stand_in[PROFILE_PATH_MAX];
    if (whole_of(name, true, whole) < 0) return NULL;
    paths_stand_in(whole, stand_in);
    return paths_map(stand_in);
}

/* Whether the first process could keep what it has to. */
static bool decide(struct opening *how, const char *name, int mode)
{
    char whole[PROFILE_PATH_MAX], stand_in[PROFILE_PATH_MAX];
    *how = (struct opening){.mode = mode};
    if (whole_of(name, true, whole) < 0 || !paths_note(whole)) return false;
    paths_stand_in(whole, stand_in);
    const bool create = (mode & MPI_MODE_CREATE) && access(stand_in, F_OK) < 0;
    const bool made = create && paths_make(whole, 0644, 0) == 0;
    struct profile_stand_in *state = paths_map(stand_in);
    if (state && !made && (mode & MPI_MODE_CREATE) && (mode & MPI_MODE_EXCL)) {
        snprintf(how->path, sizeof how->path, "%s", dir); /* there is something */
    } else if (!state && create) {
        return false;
    } else if (!state) {
        snprintf(how->path, sizeof how->path, "%.4000s/none", dir);
    } else {
        const int not_now = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY | MPI_MODE_APPEND |
                            MPI_MODE_DELETE_ON_CLOSE;
        how->instead = paths_content(state, how->path) < 0;
        if (how->instead) {
            instead_of(whole, how->path);
            close(open(how->path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        }
        how->mode &= ~not_now;
        if (mode & MPI_MODE_WRONLY) how->mode |= MPI_MODE_RDWR;
        if (mode & (MPI_MODE_WRONLY | MPI_MODE_RDWR)) state->written = 1;
        how->size = state->size;
    }
    paths_unmap(state);
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

/* Enters a file that is handed to MPI under its whole path, that of POSIX calls for it; one that has none as it was given. */
static int count_named(const char *name, int comm_size, int comm_rank)
{
    char whole[PROFILE_PATH_MAX];
    return whole_of(name, true, whole) == 0
               ? paths_count(whole, comm_size, comm_rank, PROFILE_MPI_IO)
               : count_file(name, comm_size, comm_rank, PROFILE_MPI_IO);
}

/* What a file was before the program's first call on it. */
static void note_before(const char *name, int mode)
{
    char whole[PROFILE_PATH_MAX];
    if (!(mode & (MPI_MODE_WRONLY | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE))) return;
    struct profile_before *note = whole_of(name, true, whole) == 0 ? paths_note(whole) : NULL;
    if (note) note->written = 1;
}

BOTH(MPI_File_open, MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *fh)
{
    REAL(PMPI_File_open, MPI_Comm, const char *, int, MPI_Info, MPI_File *);
    struct opening how = {.instead = 0};
    int first, all = 1;
    if (!map || inside) return real(comm, name, mode, info, fh);
    inside++;
    PMPI_Comm_rank(comm, &first);
    PMPI_Comm_size(comm, &all);
    uint64_t start_ns = count_now_ns();
    if (!dropping && first == 0) note_before(name, mode);
    start_ns = count_begun(start_ns);
    const int rc =
        dropping ? open_kept(comm, name, mode, info, fh, &how) : real(comm, name, mode, info, fh);
    count_other(PROFILE_OPEN, all, start_ns);
    if (rc == MPI_SUCCESS) {
        int size, rank;
        MPI_Comm own = MPI_COMM_NULL;
        PMPI_Comm_size(comm, &size);
        PMPI_Comm_rank(comm, &rank);
        if (dropping) PMPI_Comm_dup(comm, &own);
        count_lock();
        struct open *o = malloc(sizeof *o);
        if (o) {
            *o = (struct open){.fh = *fh,
                               .comm = own,
                               .use = {.file = count_named(name, size, rank),
                                       .comm_size = size,
                                       .comm_rank = rank,
                                       .phase = -1},
                               .etype_bytes = 1,
                               .view = {.n = 1, .bytes = 1, .end = 1, .extent = 1, .known = true},
                               .view_number = ++views_n,
                               .state = dropping ? state_of(name) : NULL,
                               .mode = mode,
                               .instead = how.instead};
            o->use.opening = map->file[o->use.file].opens_n;
            if (mode & MPI_MODE_APPEND) PMPI_File_get_position(*fh, &o->pointer);
            if (table_put(&opens, key_of(*fh), o) < 0) {
                free(o);
                o = NULL;
            }
        }
        if (!o) map->files_lost++;
        if (o) count_trace(o->use.file, WORKLOAD_KINDS + PROFILE_OPEN, 0, mode);
        count_unlock();
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
    count_lock();
    struct open *o = table_remove(&opens, key_of(*fh));
    if (o) count_trace(o->use.file, WORKLOAD_KINDS + PROFILE_CLOSE, 0, 0);
    count_unlock();
    const uint64_t start_ns = count_now_ns();
    const int rc = real(fh);
    count_other(PROFILE_CLOSE, o ? o->use.comm_size : 1, start_ns);
    if (o && o->comm != MPI_COMM_NULL) {
        char path[PROFILE_PATH_MAX];
        if ((o->mode & MPI_MODE_DELETE_ON_CLOSE) && o->state && o->use.comm_rank == 0) {
            paths_stand_in(o->state->name, path);
            unlink(path);
        }
        PMPI_Comm_free(&o->comm);
        paths_unmap(o->state);
    }
    if (o) free(o->piece);
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
    const uint64_t start_ns = count_now_ns();
    const int rc = real(fh, at, etype, filetype, rep, info);
    struct open *o = open_of(fh);
    count_other(PROFILE_VIEW, o ? o->use.comm_size : 1, start_ns);
    trace_other(fh, PROFILE_VIEW, at);
    if (rc == MPI_SUCCESS && o) {
        int bytes = 1;
        PMPI_Type_size(etype, &bytes);
        const struct pieces view = pieces_of(filetype);
        const bool whole = view.n == 1 && view.bytes == view.extent;
        const bool wanted = !whole && (count_runs_wanted() || dropping);
        struct piece *piece = wanted ? pieces_list(filetype, &view) : NULL;
        count_lock();
        free(o->piece);
        o->piece = piece;
        o->etype_bytes = bytes > 0 ? bytes : 1;
        o->view_begin = at;
        o->pointer = 0;
        o->view = view;
        o->view_number = ++views_n;
        count_unlock();
    }
    inside--;
    return rc;
}

/* While writes are dropped the file is that of the real run, whose pages may still be on their way to the
 * device: flushing it would be that run's time. What is left is that all processes meet, where they do. */
BOTH(MPI_File_sync, MPI_File fh)
{
    REAL(PMPI_File_sync, MPI_File);
    if (!map || inside) return real(fh);
    inside++;
    const struct open *o = open_of(fh);
    const bool waits = !uses_romio();
    const int together = o && waits ? o->use.comm_size : 1;
    const uint64_t start_ns = count_now_ns();
    const int rc = !dropping || !o || (o->mode & MPI_MODE_RDONLY) ? real(fh)
                   : waits                                        ? PMPI_Barrier(o->comm)
                                                                  : MPI_SUCCESS;
    count_other(PROFILE_SYNC, together, start_ns);
    trace_other(fh, PROFILE_SYNC, 0);
    inside--;
    return rc;
}

/* A length that is kept instead of being made; all processes of the file call it. */
static int set_length(const struct open *o, MPI_Offset bytes, bool at_least)
{
    PMPI_Barrier(o->comm);
    if (o->use.comm_rank == 0 && at_least) paths_grow(o->state, bytes);
    if (o->use.comm_rank == 0 && !at_least) o->state->size = bytes;
    return PMPI_Barrier(o->comm);
}

#define LENGTH(name, at_least)                                                                     \
    BOTH(name, MPI_File fh, MPI_Offset bytes)                                                      \
    {                                                                                              \
        REAL(P##name, MPI_File, MPI_Offset);                                                       \
        if (!map || inside) return real(fh, bytes);                                                \
        inside++;                                                                                  \
        const struct open *o = open_of(fh);                                                        \
        const uint64_t start_ns = count_now_ns();                                                  \
        const int rc = o && dropping ? set_length(o, bytes, at_least) : real(fh, bytes);           \
        count_other(PROFILE_SIZE, o ? o->use.comm_size : 1, start_ns);                             \
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
    char whole[PROFILE_PATH_MAX], path[PROFILE_PATH_MAX];
    struct stat st;
    if (!map || inside) return real(name, info);
    inside++;
    uint64_t start_ns = count_now_ns();
    int rc = MPI_SUCCESS;
    const bool known = whole_of(name, false, whole) == 0,
               link = known && lstat(whole, &st) == 0 && S_ISLNK(st.st_mode);
    if (link) count_unseen(profile_unseen_word(PROFILE_UNSEEN_LINKED), whole);
    struct profile_before *note = known && !link ? paths_note(whole) : NULL;
    start_ns = count_begun(start_ns);
    if (note) note->written = note->gone = 1;
    if (dropping && note) paths_stand_in(whole, path);
    if (!dropping || (!note && !link))
        rc = real(name, info);
    else if (link || unlink(path) < 0) { /* a link is left as it is */
        snprintf(path, sizeof path, "%.4000s/none", dir);
        rc = real(path, info);
    }
    count_other(PROFILE_REMOVE, 1, start_ns);
    count_lock();
    count_trace(count_named(name, 1, 0), WORKLOAD_KINDS + PROFILE_REMOVE, 0, 0);
    count_unlock();
    inside--;
    return rc;
}

/* A pointer was moved: the individual one, whose position is known, or the shared one. */
static void sought(struct open *o, const char *name)
{
    count_lock();
    if (strcmp(name, "MPI_File_seek_shared") == 0)
        stands[o->use.file].shared_moved = true;
    else
        PMPI_File_get_position(o->fh, &o->pointer);
    count_unlock();
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
        const uint64_t start_ns = count_now_ns();                                                  \
        const MPI_Offset to = seek_to(fh, at, &whence);                                            \
        const int rc = real(fh, to, whence);                                                       \
        count_other(PROFILE_SEEK, 1, start_ns);                                                    \
        trace_other(fh, PROFILE_SEEK, at);                                                         \
        struct open *o = open_of(fh);                                                              \
        if (o) sought(o, #name);                                                                   \
        inside--;                                                                                  \
        return rc;                                                                                 \
    }
SEEK(MPI_File_seek)
SEEK(MPI_File_seek_shared)

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
        instead_of(o->state->name, path);
        if (truncate(path, o->state->size) < 0) c->drop = false;
    }
    c->start_ns = count_now_ns();
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
    if (o->view.n == 1 && o->view.bytes == o->view.extent)
        profile_place(l, o->view_begin + (explicit ? c->at : o->pointer) * o->etype_bytes, bytes);
}

/* The piece of a view in which a byte of its data lies. */
static int64_t piece_with(const struct open *o, int64_t byte)
{
    int64_t low = 0, high = o->view.n;
    while (high - low > 1) {
        const int64_t half = low + (high - low) / 2;
        *(o->piece[half].before <= byte ? &low : &high) = half;
    }
    return low;
}

/* The byte in the file of a position in a view, or behind the one before it; -1: not known. */
static int64_t byte_of(const struct open *o, int64_t at, bool end)
{
    const struct pieces *v = &o->view;
    if (v->bytes <= 0) return -1;
    if (v->n == 1 && v->bytes == v->extent) return o->view_begin + v->first + at;
    const int64_t tile = at / v->bytes, in = at % v->bytes;
    if (!v->known || (in > 0 && !o->piece)) return -1;
    if (in > 0) {
        const struct piece *p = &o->piece[piece_with(o, end ? in - 1 : in)];
        return o->view_begin + tile * v->extent + p->at + in - p->before;
    }
    return o->view_begin + (end ? (tile - 1) * v->extent + v->end : tile * v->extent + v->first);
}

/* How long the file is at least behind a position in a view: without a list of its pieces up to the last whole
 * instance. */
static void grow(const struct open *o, int64_t at)
{
    const struct pieces *v = &o->view;
    int64_t end = byte_of(o, at, true);
    if (end < 0 && v->known && at >= v->bytes) end = byte_of(o, at - at % v->bytes, true);
    paths_grow(o->state, end);
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
        if (bytes > 0) grow(o, at + bytes);
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
        grow(o, end * o->etype_bytes);
    return rc;
}

/* Whether a call begins where this process's last one on the file ended; notes where it ends. With the
 * shared pointer: whether nobody has moved that since. */
static bool continues(const struct open *o, const struct call *c, int64_t bytes)
{
    const enum workload_position position = workload_kind_of(c->kind).position;
    struct stand *s = &stands[o->use.file];
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
    struct profile_slow *const slow = count_slow(ns);
    if (!slow) return;
    const enum workload_position position = workload_kind_of(c->kind).position;
    const int64_t at = position == WORKLOAD_EXPLICIT ? c->at : o->pointer;
    *slow = (struct profile_slow){
        .ns = ns,
        .begin_s = 1e-9 * (double)c->start_ns,
        .at = position == WORKLOAD_SHARED ? -1 : byte_of(o, at * o->etype_bytes, false),
        .bytes = bytes,
        .file = o->use.file,
        .kind = c->kind};
}

/* Enters a call through a view with gaps into the runs, each piece of the file by itself. at: its first byte
 * among the data of the view. */
static void note_pieces(const struct open *o, int call, int64_t at, int64_t bytes)
{
    int64_t begin = -1, end = -1; /* the piece that is not entered yet */
    int64_t tile = at / o->view.bytes, in = at % o->view.bytes;
    for (int64_t i = piece_with(o, in); bytes > 0; in = o->piece[i].before) {
        const struct piece *p = &o->piece[i];
        const int64_t skip = in - p->before;
        const int64_t n = p->bytes - skip < bytes ? p->bytes - skip : bytes;
        const int64_t to = o->view_begin + tile * o->view.extent + p->at + skip;
        if (begin >= 0 && to != end)
            count_run(o->use.file, call, run_flags(o->mode), begin, end - begin);
        if (to != end) begin = to;
        end = to + n;
        bytes -= n;
        i = i + 1 < o->view.n ? i + 1 : 0;
        tile += i == 0;
    }
    count_run(o->use.file, call, run_flags(o->mode), begin, end - begin);
}

/* Enters a call into the runs. */
static void note_run(const struct open *o, const struct call *c, int64_t bytes)
{
    const enum workload_position position = workload_kind_of(c->kind).position;
    const int64_t at = position == WORKLOAD_EXPLICIT ? c->at : o->pointer;
    const bool whole = o->view.n == 1 && o->view.bytes == o->view.extent;
    const int call = c->write ? WORKLOAD_RUN_PWRITE : WORKLOAD_RUN_PREAD;
    if (position != WORKLOAD_SHARED && !whole && o->piece)
        note_pieces(o, call, at * o->etype_bytes, bytes);
    else
        count_run(o->use.file, call, run_flags(o->mode),
                  position == WORKLOAD_SHARED || !whole ? -1
                                                        : byte_of(o, at * o->etype_bytes, false),
                  bytes);
}

/* Counts a call that is over. */
static void end_call(const struct call *c, int64_t bytes, uint64_t before_ns)
{
    const uint64_t end_ns = count_now_ns();
    const int64_t got = bytes > 0 ? bytes : 0;
    struct open *o = c->open;
    count_lock();
    struct profile_phase *p = count_phase(&o->use, c->write, c->start_ns);
    count_access(&o->use, p, c->kind, got, c->start_ns, end_ns, before_ns);
    count_trace(o->use.file, c->kind, got, c->at);
    note_slow(o, c, got, end_ns - c->start_ns + before_ns);
    if (got > 0) note_run(o, c, got);
    const enum workload_position position = workload_kind_of(c->kind).position;
    if (position != WORKLOAD_SHARED) note_place(&p->places[c->kind], o, c, got);
    p->sequential += continues(o, c, got) || o->use.calls == 1; /* the first one begins somewhere */
    if (position == WORKLOAD_INDIVIDUAL) o->pointer += got / o->etype_bytes;
    p->pieces += (uint64_t)pieces_in(&o->view, got);
    p->unknown += !o->view.known;
    if (dropping && c->write) {
        *(c->as_read ? &map->kept_n : &map->dropped_n) += 1;
        *(c->as_read ? &map->kept_bytes : &map->dropped_bytes) += (uint64_t)got;
    }
    count_unlock();
    inside--;
}

/* Bytes that a call has moved, as its status says; that of a call of no bytes may not be set. */
static int64_t bytes_moved(const struct call *c, int rc, const MPI_Status *status)
{
    MPI_Count bytes = 0;
    if (rc != MPI_SUCCESS || c->bytes == 0) return 0;
    if (PMPI_Get_elements_x(status, MPI_BYTE, &bytes) != MPI_SUCCESS) return 0;
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
        end_call(&c, bytes_moved(&c, rc, status), 0);                                              \
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
    const uint64_t end_ns = count_now_ns();
    count_lock();
    count_half(end_ns - c->start_ns);
    count_unlock();
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
                          .start_ns = count_now_ns()};                                             \
        if (status == MPI_STATUS_IGNORE) status = &own;                                            \
        int rc = MPI_SUCCESS;                                                                      \
        if (c.drop)                                                                                \
            set_status(status, c.bytes);                                                           \
        else                                                                                       \
            rc = real(fh, buf, status);                                                            \
        end_call(&c, bytes_moved(&c, rc, status), o->split_ns);                                    \
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
        const uint64_t start_ns = count_now_ns();                                                  \
        const int rc = real arguments;                                                             \
        count_other(PROFILE_WAIT, 1, start_ns);                                                    \
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
