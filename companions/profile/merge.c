/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/profile/merge.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/columns.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/plain.h"
#include "base/units.h"
#include "companions/profile/before.h"
#include "companions/profile/timeline.h"

/* Less than this between two calls is not thinking: a sleep cannot be that short. */
#define THINK_S 1e-4

#define COUNT_MAX   (UINT64_C(1) << 48) /* of calls and pieces: what nobody has counted */
#define ALIGNED_MAX 4000000             /* distances that are kept */
#define MUCH_MORE   8                   /* times */
#define CLOCK_MAX   1e12                /* seconds since 1970 */
enum { POINTS_SHOWN = 40 };

static const char *const other_name[PROFILE_OTHERS] = {
    "open", "set_view", "sync", "set_size", "seek", "wait", "close", "rename", "remove"};

/* What a function is called: its name in MPI-IO, or that of the POSIX call. */
static const char *function_name(int interface, int kind)
{
    if (interface == PROFILE_POSIX) switch (kind) {
        case WORKLOAD_KIND(EXPLICIT, 0, BLOCKING, 0):
            return "pread";
        case WORKLOAD_KIND(EXPLICIT, 0, BLOCKING, 1):
            return "pwrite";
        case WORKLOAD_KIND(INDIVIDUAL, 0, BLOCKING, 0):
            return "read";
        case WORKLOAD_KIND(INDIVIDUAL, 0, BLOCKING, 1):
            return "write";
        default:
            break;
        }
    return workload_kind_name(kind);
}

/* The phases that are one working point: by process, NULL where a process has none. */
struct point {
    int processes;
    const struct profile_phase **of; /* [processes] */
    const char *name;                /* of the file; of rank 0's where each process has its own */
    int file;                        /* index in the workload */
    int interface;                   /* enum profile_interface */
    bool each;                       /* all ranks have opened the file, each by itself */
    int opening;                     /* by MPI-IO, which all processes of it do together */
    int direction;                   /* 1: of reading, 2: of writing; 0: not told apart */
    double begin_s, end_s;
};

struct points {
    int n;
    bool separate; /* every rank has files of its own */
    struct point *point;
    int files_n;
    const char *file[WORKLOAD_FILES_MAX];
};

/* Inside I/O, of a rank from MPI_Init to MPI_Finalize. */
static double inside_s(const struct profile_map *m)
{
    uint64_t ns = 0;
    for (int p = 0; p < m->phases_n; p++)
        for (int k = 0; k < WORKLOAD_KINDS; k++)
            ns += m->phase[p].kind[k].ns;
    for (int o = 0; o < PROFILE_OTHERS; o++)
        ns += m->other[o].ns;
    return 1e-9 * ((double)ns - (double)m->outside_ns);
}

/* Whether a program can have counted so far: if not, it has written over its counters. */
static bool counts_sound(const struct profile_phase *p)
{
    bool ok = p->pieces <= COUNT_MAX && p->unknown <= COUNT_MAX && p->sequential <= COUNT_MAX &&
              p->think_ns <= INT64_MAX;
    for (int k = 0; k < WORKLOAD_KINDS; k++)
        ok = ok && p->kind[k].n <= COUNT_MAX && p->kind[k].bytes <= WORKLOAD_BYTES_MAX;
    for (int k = 0; k < PROFILE_PLACED; k++)
        ok = ok && p->places[k].n <= COUNT_MAX && p->places[k].skips <= COUNT_MAX &&
             p->places[k].lead <= COUNT_MAX && p->places[k].begin > -WORKLOAD_BYTES_MAX &&
             p->places[k].end >= 0;
    return ok;
}

/* Whether what a rank has left can be read: the program that wrote it may have written over it. */
static bool is_sound(const struct profile_map *m)
{
    const bool is_rank = m->size > 0 && m->rank >= 0 && m->rank < m->size;
    bool ok =
        (is_rank || (m->rank == -1 && m->size == 0)) && m->unplaced.n <= COUNT_MAX &&
        m->unplaced.bytes <= INT64_MAX && m->lost.n <= COUNT_MAX && m->lost.bytes <= INT64_MAX &&
        m->bin_s > 1e-9 && m->bin_s < CLOCK_MAX && fabs(m->init_s) < CLOCK_MAX &&
        fabs(m->last_s) < CLOCK_MAX && fabs(m->bins_s) < CLOCK_MAX && fabs(m->user_s) < CLOCK_MAX &&
        fabs(m->system_s) < CLOCK_MAX && m->ran_s >= 0 && m->ran_s < CLOCK_MAX &&
        m->waited_s >= 0 && m->waited_s < CLOCK_MAX && m->size <= WORKLOAD_PROCESSES_MAX &&
        m->dropped_bytes <= INT64_MAX && m->kept_bytes <= INT64_MAX && m->notes_n <= COUNT_MAX &&
        m->files_lost >= 0 && m->phases_lost >= 0 && m->host[sizeof m->host - 1] == '\0' &&
        m->library[sizeof m->library - 1] == '\0' && m->program[sizeof m->program - 1] == '\0';
    for (int b = 0; ok && b < PROFILE_BINS; b++)
        ok = m->bin_bytes[0][b] <= INT64_MAX && m->bin_bytes[1][b] <= INT64_MAX;
    for (int f = 0; ok && f < m->files_n; f++)
        ok = m->file[f].name[PROFILE_NAME_MAX - 1] == '\0' &&
             m->file[f].interface >= PROFILE_MPI_IO && m->file[f].interface <= PROFILE_FOLDER;
    for (int p = 0; ok && p < m->phases_n; p++) {
        const struct profile_phase *one = &m->phase[p];
        ok = one->file >= 0 && one->file < m->files_n && one->comm_size > 0 &&
             one->comm_size <= WORKLOAD_PROCESSES_MAX && one->comm_rank >= 0 &&
             one->comm_rank < one->comm_size && counts_sound(one);
    }
    return ok;
}

/* Room for one more process. */
static int add_process(struct profile_run *run, const struct profile_map *m)
{
    const struct profile_map **more =
        realloc(run->rank, ((size_t)run->size + 1) * sizeof(const struct profile_map *));
    if (!more) return mem_error("%d processes", run->size + 1);
    run->rank = more;
    more[run->size++] = m;
    return 0;
}

static int add_rank(struct profile_run *run, const struct profile_map *m, const char *path)
{
    if (run->mpi_n == 0) {
        for (int r = 0; r < m->size; r++)
            TRY(add_process(run, NULL));
        run->mpi_n = m->size;
    }
    if (m->size != run->mpi_n || run->rank[m->rank])
        return err_set(ERR_IO,
                       "%s: ranks of more than one MPI program: profile each by a command of its "
                       "own",
                       path);
    run->rank[m->rank] = m;
    return 0;
}

static bool read_part(int fd, struct profile_map *m, size_t from, size_t bytes)
{
    return pread(fd, (char *)m + from, bytes, (off_t)from) == (ssize_t)bytes;
}

/* A copy of what a process has counted, of the parts that it has begun; MAP_FAILED where that cannot be read. Not the file
 * itself: on NFS and FUSE one that is mapped keeps its folder from being removed. */
static struct profile_map *copy_of(int fd)
{
    struct profile_map *m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m == MAP_FAILED) return m;
    if (read_part(fd, m, 0, offsetof(struct profile_map, burst)) && m->bursts_n >= 0 &&
        m->bursts_n <= PROFILE_BURSTS_MAX && m->together_n >= 0 &&
        m->together_n <= PROFILE_TOGETHER_MAX && m->files_n >= 0 &&
        m->files_n <= PROFILE_FILES_MAX && m->phases_n >= 0 && m->phases_n <= PROFILE_PHASE_MAX &&
        m->runs_n >= 0 && m->runs_n <= PROFILE_RUNS_MAX &&
        read_part(fd, m, offsetof(struct profile_map, burst),
                  (size_t)m->bursts_n * sizeof m->burst[0]) &&
        read_part(fd, m, offsetof(struct profile_map, together),
                  (size_t)m->together_n * sizeof m->together[0]) &&
        read_part(fd, m, offsetof(struct profile_map, file),
                  (size_t)m->files_n * sizeof m->file[0]) &&
        read_part(fd, m, offsetof(struct profile_map, phase),
                  (size_t)m->phases_n * sizeof m->phase[0]) &&
        read_part(fd, m, offsetof(struct profile_map, run), (size_t)m->runs_n * sizeof m->run[0]))
        return m;
    munmap(m, sizeof *m);
    return MAP_FAILED;
}

static int load_process(const char *dir, const char *name, struct profile_run *run)
{
    char path[4096];
    struct stat st;
    uint64_t magic = 0;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return err_set_errno(ERR_IO, errno, "%s", path);
    struct profile_map *m = MAP_FAILED;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == (off_t)sizeof *m &&
        pread(fd, &magic, sizeof magic, offsetof(struct profile_map, magic)) == sizeof magic &&
        magic == PROFILE_MAGIC)
        m = copy_of(fd);
    close(fd);
    if (m == MAP_FAILED || !is_sound(m)) {
        /* It died before it had entered its number and had counted nothing, or it has written
         * over its counters: it is missing in the result. */
        if (m != MAP_FAILED) munmap(m, sizeof *m);
        return 0;
    }
    const int rc = m->rank >= 0 ? add_rank(run, m, path) : add_process(run, m);
    if (rc < 0) {
        munmap(m, sizeof *m);
        return rc;
    }
    run->ranks_n++;
    return 0;
}

static int earlier_process(const void *a, const void *b)
{
    const struct profile_map *p = *(const struct profile_map *const *)a,
                             *q = *(const struct profile_map *const *)b;
    return p->init_s != q->init_s ? (p->init_s > q->init_s) - (p->init_s < q->init_s)
                                  : (p->pid > q->pid) - (p->pid < q->pid);
}

/* Processes that are no ranks come after these, numbered by time. */
static void number_processes(struct profile_run *run)
{
    const int others_n = run->size - run->mpi_n;
    if (others_n > 0)
        qsort(run->rank + run->mpi_n, (size_t)others_n, sizeof *run->rank, earlier_process);
    for (int r = run->mpi_n; r < run->size; r++)
        ((struct profile_map *)(uintptr_t)run->rank[r])->rank = r;
}

/* Whether two files of ranks are one: by the name, which may be that of a file of each node. */
static bool are_one(const struct profile_map *a, const struct profile_file *x,
                    const struct profile_map *b, const struct profile_file *y)
{
    const bool apart = x->local > 0 && y->local > 0 && strcmp(a->host, b->host) != 0;
    return !apart && strcmp(x->name, y->name) == 0;
}

/* Whether a rank has opened by itself, by the same calls, a file that another one has. */
static bool has_opened(const struct profile_map *m, const struct profile_map *other,
                       const struct profile_file *file)
{
    for (int f = 0; m && f < m->files_n; f++)
        if (m->file[f].interface == file->interface && m->file[f].comm_size == 1 &&
            are_one(m, &m->file[f], other, file))
            return true;
    return false;
}

/* A file that every rank has opened by itself is that of all of them. */
static int find_common(struct profile_run *run)
{
    const struct profile_map *first = run->mpi_n > 1 ? run->rank[0] : NULL;
    const int files_n = first ? first->files_n : 0;
    const struct profile_file **common = mem_new(files_n + 1, sizeof *common, "%d files", files_n);
    int n = 0;
    if (!common) return ERR_NOMEM;
    for (int f = 0; f < files_n; f++) {
        bool all = first->file[f].comm_size == 1 && first->file[f].interface != PROFILE_FOLDER;
        for (int r = 1; r < run->mpi_n && all; r++)
            all = has_opened(run->rank[r], first, &first->file[f]);
        if (all) common[n++] = &first->file[f];
    }
    for (int r = 0; r < run->mpi_n; r++) {
        struct profile_map *m = (struct profile_map *)(uintptr_t)run->rank[r];
        for (int f = 0; m && f < m->files_n; f++) {
            bool all = false;
            for (int c = 0; c < n && !all && m->file[f].comm_size == 1; c++)
                all = m->file[f].interface == common[c]->interface &&
                      are_one(m, &m->file[f], first, common[c]);
            if (!all) continue;
            m->file[f].each = true;
            m->file[f].comm_size = run->mpi_n;
            m->file[f].comm_rank = r;
            for (int p = 0; p < m->phases_n; p++)
                if (m->phase[p].file == f) {
                    m->phase[p].comm_size = run->mpi_n;
                    m->phase[p].comm_rank = r;
                }
        }
    }
    free(common);
    return 0;
}

/* A file that a rank has opened. */
struct opened {
    const struct profile_file *file;
    const struct profile_map *by;
};

static int by_opened_name(const void *a, const void *b)
{
    const struct opened *x = a, *y = b;
    int order = strcmp(x->file->name, y->file->name);
    if (order == 0 && x->file->local > 0 && y->file->local > 0)
        order = strcmp(x->by->host, y->by->host);
    return order != 0 ? order : (x->by->rank > y->by->rank) - (x->by->rank < y->by->rank);
}

/* Whether several ranks, but not all, have opened the same file, each by itself. run->shared */
static int find_shared(struct profile_run *run)
{
    int64_t most = 1;
    int n = 0;
    for (int r = 0; r < run->mpi_n; r++)
        most += run->rank[r] ? run->rank[r]->files_n : 0;
    struct opened *o = mem_new(most, sizeof *o, "%" PRId64 " files", most);
    if (!o) return ERR_NOMEM;
    for (int r = 0; r < run->mpi_n; r++)
        for (int f = 0; run->rank[r] && f < run->rank[r]->files_n; f++)
            if (run->rank[r]->file[f].comm_size == 1)
                o[n++] = (struct opened){&run->rank[r]->file[f], run->rank[r]};
    qsort(o, (size_t)n, sizeof *o, by_opened_name);
    for (int i = 1; i < n; i++)
        run->shared = run->shared || (o[i].by != o[i - 1].by &&
                                      are_one(o[i].by, o[i].file, o[i - 1].by, o[i - 1].file));
    free(o);
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, *(char *const *)b);
}

/* How much of a name is the same in each run: without the file and the folders that were made and are gone, whose
 * names may be others. 0: all of it. */
static int32_t lasting(const char *whole, char *const *name, int n)
{
    char part[PROFILE_NAME_MAX];
    size_t length = strlen(whole);
    snprintf(part, sizeof part, "%s", whole);
    while (bsearch(part, name, (size_t)n, sizeof *name, by_name)) {
        char *const slash = strrchr(part, '/');
        *slash = '\0';
        length = (size_t)(slash - part);
    }
    return length == strlen(whole) ? 0 : length > 0 ? (int32_t)length : 1;
}

/* Marks the files that were made and are gone. */
static int find_temporary(const char *dir, struct profile_run *run)
{
    char **name;
    int n;
    const int rc = before_temporary(dir, &name, &n);
    for (int r = 0; r < run->size && n > 0; r++) {
        struct profile_map *m = (struct profile_map *)(uintptr_t)run->rank[r];
        for (int f = 0; m && f < m->files_n; f++)
            m->file[f].temporary = lasting(m->file[f].name, name, n);
    }
    for (int i = 0; i < n; i++)
        free(name[i]);
    free(name);
    return rc;
}

/* Takes a line from the front of a text: what a terminal could obey is for those who print it. */
static void take_line(const char **text, char *out, size_t size)
{
    const size_t length = strcspn(*text, "\n");
    snprintf(out, size, "%.*s", (int)length, *text);
    *text += length + ((*text)[length] == '\n');
}

/* A process that had no descriptor left for a file has made a link that leads nowhere instead. */
static ssize_t read_not_seen(const char *path, char *text, size_t size)
{
    ssize_t n = readlink(path, text, size);
    if (n >= 0) return n;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return -1;
    n = read(fd, text, size);
    close(fd);
    return n;
}

/* What many processes have in common is kept once; where there is no room, the first kinds are. */
static void add_not_seen(struct profile_run *run, const struct profile_not_seen *n)
{
    int last = 0;
    for (int i = 0; i < run->not_seen_n; i++) {
        const struct profile_not_seen *is = &run->not_seen[i];
        if (is->what == n->what && strcmp(is->program, n->program) == 0 &&
            strcmp(is->name, n->name) == 0)
            return;
        if (is->what > run->not_seen[last].what) last = i;
    }
    if (run->not_seen_n < PROFILE_NOT_SEEN_MAX)
        last = run->not_seen_n++;
    else if (run->not_seen[last].what <= n->what)
        return;
    run->not_seen[last] = *n;
}

static void load_not_seen(const char *dir, const char *name, struct profile_run *run)
{
    char path[4096], text[4096 + 300], word[32];
    int pid;
    if (sscanf(name, "unseen-%31[a-z]-%d", word, &pid) != 2) return;
    for (int w = 0; w < PROFILE_UNSEENS; w++) {
        if (strcmp(word, profile_unseen_word(w)) != 0) continue;
        struct profile_not_seen n = {.what = (enum profile_unseen)w};
        snprintf(path, sizeof path, "%s/%s", dir, name);
        const ssize_t bytes = read_not_seen(path, text, sizeof text - 1);
        if (bytes < 0) return;
        text[bytes] = '\0';
        const char *at = text;
        take_line(&at, n.program, sizeof n.program);
        take_line(&at, n.name, sizeof n.name);
        add_not_seen(run, &n);
    }
}

/* Lack of memory comes first: what else was not seen may come of it. */
static int by_what(const void *a, const void *b)
{
    const struct profile_not_seen *x = a, *y = b;
    return x->what != y->what ? (int)x->what - (int)y->what : strcmp(x->name, y->name);
}

void profile_not_seen_text(const struct profile_not_seen *n, char out[ERR_MESSAGE_MAX])
{
    static const char *const sentence[PROFILE_UNSEENS] = {
        [PROFILE_UNSEEN_STATIC] =
            "%.200s runs %.300s, into which no library can be loaded: it is statically linked, or "
            "its LD_PRELOAD was changed",
        [PROFILE_UNSEEN_DIRECT] =
            "%.200s has written %.300s bytes by system calls of its own, which no library sees",
        [PROFILE_UNSEEN_URING] = "%.200s uses io_uring (%.300s), whose writes no library sees",
        [PROFILE_UNSEEN_AIO] = "%.200s uses asynchronous I/O (%.300s), which is not followed",
        [PROFILE_UNSEEN_MAPPED] =
            "%.200s has mapped %.300s, which it writes, into memory: what it writes or reads there "
            "is not seen",
        [PROFILE_UNSEEN_LINKED] =
            "%.200s has made, renamed or removed a link, renamed a folder, renamed or removed a "
            "special file (FIFO, device, socket) or put one in the place of a file: %.300s, which "
            "is not followed",
        [PROFILE_UNSEEN_SHAPED] =
            "%.200s has changed or copied %.300s by a call that is not followed (fallocate of "
            "holes, FICLONE, splice, or copying out of a file that it writes)",
        [PROFILE_UNSEEN_STDIO] = "in %.200s the functions behind %.300s could not be found",
        [PROFILE_UNSEEN_OPENED] = "%.200s has opened or changed %.300s by a call that is not seen",
        [PROFILE_UNSEEN_JUMP] =
            "%.200s has left a call that was being counted, by the handler of a "
            "signal that does not return (%.300s)",
        [PROFILE_UNSEEN_CALLBACK] =
            "%.200s has functions that MPI-IO calls back (%.300s): what they "
            "write is not followed",
        [PROFILE_UNSEEN_TOOL] =
            "%.200s runs with a library that intercepts MPI, too, and is not called (%.300s): "
            "leave it out",
        [PROFILE_UNSEEN_MANY] = "%.200s has %.300s open under a number above 65535",
        [PROFILE_UNSEEN_EARLIER] = "%.200s has read %.300s before it wrote or removed it: what it "
                                   "read then is there no more",
        [PROFILE_UNSEEN_NAMELESS] =
            "%.200s writes a file that never had a name (%.300s; O_TMPFILE, tmpfile), which is not "
            "followed",
        [PROFILE_UNSEEN_LISTED] =
            "%.200s has listed %.300s by fts, nftw or getdents64, past what it has made there",
        [PROFILE_UNSEEN_OUTSIDE] =
            "%.200s writes %.300s, which is not below the folder of --files, or "
            "lies in /dev/shm, and is not followed",
        [PROFILE_UNSEEN_AWAY] = "%.200s has changed its root folder or its user (%.300s): what it "
                                "opens from then on is not followed",
        [PROFILE_UNSEEN_BEHIND] =
            "%.200s, which the program has started, still ran when the command "
            "had ended (process %.300s): what it writes is not followed",
        [PROFILE_UNSEEN_MEMORY] = "%.200s had no memory or disk space to follow %.300s",
        [PROFILE_UNSEEN_DESCRIPTORS] =
            "%.200s had no file descriptor left to follow %.300s: the profiler needs some beside "
            "the program's; raise the limit (ulimit -n)",
        [PROFILE_UNSEEN_LIMIT] =
            "%.200s has a limit on file sizes that leaves no room to follow %.300s: the profiler's "
            "own files need some beside the program's; raise the limit (ulimit -f)",
        [PROFILE_UNSEEN_SECOND] = "%.200s is another MPI program of the same command, and %.300s "
                                  "are not followed: profile "
                                  "each by a command of its own",
        [PROFILE_UNSEEN_LONG] = "%.200s works on %.300s, whose path is too long to be followed: "
                                "above 4095 bytes from the root folder on"};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(out, ERR_MESSAGE_MAX, sentence[n->what], n->program, n->name);
#pragma GCC diagnostic pop
}

double profile_rate(const struct profile_run *run, int write, double seconds)
{
    return (double)(run->bytes[write] - run->outside_bytes[write]) / seconds;
}

const char *profile_process_word(const struct profile_run *run, int index)
{
    return index < run->mpi_n ? "rank" : "process";
}

/* Whether what a process did is part of the run: of ranks, and of processes that began and ended while they ran, such as those that they
 * start and wait for; without MPI of all. */
static bool is_within(const struct profile_run *run, int r)
{
    const struct profile_map *m = run->rank[r];
    return m && (run->mpi_n == 0 || r < run->mpi_n ||
                 (m->init_s >= run->begin_s && m->last_s <= run->end_s));
}

static int by_begin(const void *a, const void *b)
{
    const struct profile_burst *p = a, *q = b;
    return (p->begin_ns > q->begin_ns) - (p->begin_ns < q->begin_ns);
}

/* Times inside I/O of several processes. */
struct bursts {
    struct profile_burst *of;
    int64_t n;
};

/* Those in which a process is inside all the time. */
static void add_burst(struct bursts *all, uint64_t begin_ns, uint64_t end_ns)
{
    all->of[all->n++] = (struct profile_burst){
        .begin_ns = begin_ns, .end_ns = end_ns, .inside_ns = end_ns - begin_ns};
}

/* Those of a process, and its calls together from together_n on. Where one ends before it begins the process was killed while it
 * entered that. */
static void add_bursts(const struct profile_map *m, int together_n, struct bursts *all)
{
    for (int b = 0; b < m->bursts_n; b++)
        if (m->burst[b].begin_ns <= m->burst[b].end_ns &&
            m->burst[b].inside_ns <= m->burst[b].end_ns - m->burst[b].begin_ns)
            all->of[all->n++] = m->burst[b];
    for (int k = together_n; k < m->together_n; k++)
        if (m->together[k].begin_ns <= m->together[k].end_ns)
            add_burst(all, m->together[k].begin_ns, m->together[k].end_ns);
}

/* The k-th call that all n ranks make together: what lies behind the beginning of the last rank, and until then the mean of the ranks.
 * A rank that had ended it by then has not waited for the last one: all of its call is inside I/O. */
static void add_together(struct profile_run *run, const struct profile_map *const *rank, int n,
                         int k, struct bursts *all)
{
    uint64_t begin = 0, end = 0;
    for (int r = 0; r < n; r++) {
        const struct profile_together *one = &rank[r]->together[k];
        if (one->begin_ns > one->end_ns) return; /* as of bursts */
        if (one->begin_ns > begin) begin = one->begin_ns;
        if (one->end_ns > end) end = one->end_ns;
    }
    add_burst(all, begin, end);
    for (int r = 0; r < n; r++) {
        const struct profile_together *one = &rank[r]->together[k];
        if (one->end_ns < begin)
            add_burst(all, one->begin_ns, one->end_ns);
        else
            run->io_wait_s += 1e-9 * (double)(begin - one->begin_ns) / n;
    }
}

/* Of the ranks that left any counters, as many calls as all of them have kept. [out] together_n */
static int add_up_together(struct profile_run *run, int *together_n, struct bursts *all)
{
    const struct profile_map **rank = mem_new(run->mpi_n + 1, sizeof *rank, "%d ranks", run->mpi_n);
    int n = 0;
    *together_n = 0;
    if (!rank) return ERR_NOMEM;
    for (int r = 0; r < run->mpi_n; r++)
        if (run->rank[r]) rank[n++] = run->rank[r];
    if (n > 0) *together_n = PROFILE_TOGETHER_MAX;
    for (int r = 0; r < n; r++)
        *together_n = (int)num_min(*together_n, rank[r]->together_n);
    for (int k = 0; k < *together_n; k++)
        add_together(run, rank, n, k, all);
    free(rank);
    return 0;
}

/* The time in which any process was inside I/O. What bursts that overlap have of it adds up, up to their whole length. */
static double any_inside_s(const struct bursts *all)
{
    double inside_s = 0;
    struct profile_burst now = {.end_ns = 0};
    qsort(all->of, (size_t)all->n, sizeof *all->of, by_begin);
    for (int64_t b = 0; b < all->n; b++) {
        if (all->of[b].begin_ns < now.end_ns) {
            now = profile_burst_joined(&now, &all->of[b]);
        } else {
            inside_s += 1e-9 * (double)now.inside_ns;
            now = all->of[b];
        }
    }
    return inside_s + 1e-9 * (double)now.inside_ns;
}

/* The time in which at least one process of the run was inside I/O. */
static int add_up_inside(struct profile_run *run)
{
    int64_t most = 1;
    int together_n;
    for (int r = 0; r < run->size; r++) /* and a call together has one more */
        if (is_within(run, r))
            most += run->rank[r]->bursts_n + 2 * (int64_t)run->rank[r]->together_n;
    struct bursts all = {mem_new(most, sizeof *all.of, "%" PRId64 " times inside I/O", most), 0};
    int rc = all.of ? add_up_together(run, &together_n, &all) : ERR_NOMEM;
    for (int r = 0; rc == 0 && r < run->size; r++)
        if (is_within(run, r)) add_bursts(run->rank[r], together_n, &all);
    if (rc == 0) run->io_any_s = any_inside_s(&all);
    free(all.of);
    return rc;
}

/* When a process read or wrote. */
struct span {
    int64_t parent;
    double begin_s, end_s;
};

static int by_parent(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return x->parent != y->parent ? (x->parent > y->parent) - (x->parent < y->parent)
                                  : (x->begin_s > y->begin_s) - (x->begin_s < y->begin_s);
}

/* Whether two processes that are no ranks, and have one parent, read or wrote at the same time: none of them waits for the
 * other. */
static int find_siblings_at_once(struct profile_run *run)
{
    int n = 0;
    struct span *span = mem_new(run->size + 1, sizeof *span, "%d processes", run->size);
    if (!span) return ERR_NOMEM;
    for (int r = run->mpi_n; r < run->size; r++) {
        const struct profile_map *m = run->rank[r];
        if (!m || m->phases_n == 0) continue;
        struct span *s = &span[n++];
        *s = (struct span){m->parent, INFINITY, -INFINITY};
        for (int p = 0; p < m->phases_n; p++) {
            s->begin_s = fmin(s->begin_s, m->phase[p].begin_s);
            s->end_s = fmax(s->end_s, m->phase[p].end_s);
        }
    }
    qsort(span, (size_t)n, sizeof *span, by_parent);
    double last_s = -INFINITY;
    for (int i = 0; i < n; i++) {
        if (i > 0 && span[i].parent != span[i - 1].parent) last_s = -INFINITY;
        run->at_once = run->at_once || span[i].begin_s < last_s;
        last_s = fmax(last_s, span[i].end_s);
    }
    free(span);
    return 0;
}

/* Whether processes, one of which is no rank at least, were inside I/O at once for more than a twentieth of the time in which any
 * was. */
static int find_at_once(struct profile_run *run)
{
    int64_t most = 1;
    for (int r = 0; r < run->size; r++)
        if (run->rank[r]) most += run->rank[r]->bursts_n + (int64_t)run->rank[r]->together_n;
    struct bursts one = {mem_new(most, sizeof *one.of, "%" PRId64 " times inside I/O", most), 0},
                  all = {mem_new(most, sizeof *all.of, "%" PRId64 " times inside I/O", most), 0};
    const int rc = one.of && all.of ? 0 : ERR_NOMEM;
    double each_s = 0;
    for (int r = 0; rc == 0 && r < run->size; r++) {
        const struct profile_map *m = run->rank[r];
        if (r >= run->mpi_n) one.n = 0; /* the ranks count as one */
        if (m && m->phases_n > 0)
            add_bursts(m, 0, &one); /* one that only flushes has no working point */
        if (m && m->phases_n > 0) add_bursts(m, 0, &all);
        if (r >= run->mpi_n - 1) each_s += any_inside_s(&one);
    }
    if (rc == 0) {
        const double any_s = any_inside_s(&all);
        run->at_once = each_s - any_s > any_s / 20;
    }
    free(one.of);
    free(all.of);
    return rc;
}

/* The time in which at least one thread of the slowest process was inside I/O. */
static int add_up_threads(struct profile_run *run)
{
    const struct profile_map *m = run->size > 0 ? run->rank[run->io_max_rank] : NULL;
    if (!m) return 0;
    const int64_t most = (int64_t)m->bursts_n + m->together_n + 1;
    struct bursts all = {mem_new(most, sizeof *all.of, "%" PRId64 " times inside I/O", most), 0};
    if (!all.of) return ERR_NOMEM;
    add_bursts(m, 0, &all);
    run->io_max_any_s = any_inside_s(&all);
    free(all.of);
    return 0;
}

/* When the ranks were in MPI, all together and the slowest. */
static void find_run_time(struct profile_run *run, double command_s)
{
    run->begin_s = INFINITY;
    run->end_s = -INFINITY;
    if (run->mpi_n == 0) run->wall_s = command_s;
    for (int r = 0; r < run->mpi_n; r++) {
        const struct profile_map *m = run->rank[r];
        if (!m) continue;
        run->begin_s = fmin(run->begin_s, m->init_s);
        run->end_s = fmax(run->end_s, m->last_s);
        run->wall_s = fmax(run->wall_s, m->last_s - m->init_s);
    }
}

/* What a process has read and written, within: as part of the run. */
static void add_up_bytes(struct profile_run *run, const struct profile_map *m, bool within)
{
    for (int d = 0; within && d < 2; d++)
        run->outside_bytes[d] = num_sum(run->outside_bytes[d], (int64_t)m->outside_bytes[d]);
    for (int p = 0; p < m->phases_n; p++)
        for (int k = 0; k < WORKLOAD_KINDS; k++) {
            const int write = workload_kind_of(k).write;
            const int64_t bytes = (int64_t)m->phase[p].kind[k].bytes,
                          n = (int64_t)m->phase[p].kind[k].n;
            run->bytes[write] = num_sum(run->bytes[write], bytes);
            if (!within) run->outside_bytes[write] = num_sum(run->outside_bytes[write], bytes);
            run->calls[write] = num_sum(run->calls[write], n);
            if (m->file[m->phase[p].file].interface != PROFILE_POSIX) continue;
            run->posix_bytes[write] = num_sum(run->posix_bytes[write], bytes);
            run->posix_calls[write] = num_sum(run->posix_calls[write], n);
        }
}

static void add_up_notes(struct profile_run *run, const struct profile_map *m)
{
    run->notes_n = num_sum(run->notes_n, (int64_t)m->notes_n);
    run->notes_s += 1e-9 * (double)m->notes_ns;
    run->notes_max_s = fmax(run->notes_max_s, 1e-9 * (double)m->notes_ns);
    run->notes_inside |= m->notes_inside != 0;
}

static void add_up_run(struct profile_run *run)
{
    int counted_n = 0;
    for (int r = 0; r < run->size; r++) {
        const struct profile_map *m = run->rank[r];
        if (!m) continue;
        const double io_s = inside_s(m);
        const bool counts = run->mpi_n == 0 || r < run->mpi_n;
        if (counts) run->io_s += (io_s - run->io_s) / ++counted_n;
        if (counts && io_s >= run->io_max_s) {
            run->io_max_s = io_s;
            run->io_max_rank = r;
        }
        run->beside_n += !counts && is_within(run, r);
        add_up_bytes(run, m, is_within(run, r));
        if (is_within(run, r)) add_up_notes(run, m);
        run->dropped_bytes = num_sum(run->dropped_bytes, (int64_t)m->dropped_bytes);
        run->kept_bytes = num_sum(run->kept_bytes, (int64_t)m->kept_bytes);
        run->lost_n =
            (int)num_min(num_sum(run->lost_n, (int64_t)m->files_lost + m->phases_lost), INT32_MAX);
        if (m->state > (int)run->state) run->state = (enum profile_state)m->state;
    }
}

int profile_load(const char *dir, double command_s, struct profile_run *run)
{
    *run = (struct profile_run){0};
    DIR *d = opendir(dir);
    if (!d) return err_set_errno(ERR_IO, errno, "%s", dir);
    int rc = 0;
    for (struct dirent *e; rc == 0 && (e = readdir(d));)
        if (strncmp(e->d_name, "rank-", 5) == 0) rc = load_process(dir, e->d_name, run);
    rewinddir(d);
    for (struct dirent *e; rc == 0 && (e = readdir(d));) {
        if (strncmp(e->d_name, "process-", 8) == 0) rc = load_process(dir, e->d_name, run);
        load_not_seen(dir, e->d_name, run);
    }
    closedir(d);
    qsort(run->not_seen, (size_t)run->not_seen_n, sizeof run->not_seen[0], by_what);
    number_processes(run);
    if (rc == 0) rc = find_temporary(dir, run);
    if (rc == 0) rc = find_common(run);
    if (rc == 0) rc = find_shared(run);
    find_run_time(run, command_s);
    add_up_run(run);
    if (rc == 0) rc = add_up_inside(run);
    if (rc == 0) rc = find_at_once(run);
    if (rc == 0) rc = find_siblings_at_once(run);
    if (rc == 0) rc = add_up_threads(run);
    return rc;
}

void profile_free(struct profile_run *run)
{
    for (int r = 0; r < run->size; r++)
        if (run->rank[r]) munmap((void *)(uintptr_t)run->rank[r], sizeof **run->rank);
    free(run->rank);
    *run = (struct profile_run){0};
}

/* Whether every rank has opened files by itself that no other has, and as many as the others: a file per process. */
static bool have_own_files(const struct profile_run *run)
{
    int files_n = -1;
    for (int r = 0; r < run->mpi_n; r++) {
        const struct profile_map *m = run->rank[r];
        if (!m || m->files_n == 0 || (files_n >= 0 && m->files_n != files_n)) return false;
        files_n = m->files_n;
        for (int f = 0; f < files_n; f++)
            if (m->file[f].comm_size != 1) return false;
    }
    return run->mpi_n > 1 && !run->shared;
}

/* Whether processes that are no ranks have read or written, not only flushed or changed names. */
static bool have_others_moved(const struct profile_run *run)
{
    for (int r = run->mpi_n; r < run->size; r++)
        if (run->rank[r]->phases_n > 0) return true;
    return false;
}

/* Ranks that have read or written a file of their own, or were the first of some that have one in common. */
static int own_movers(const struct profile_run *run)
{
    int n = 0;
    for (int r = 0; r < run->mpi_n; r++) {
        const struct profile_map *m = run->rank[r];
        bool own = false;
        for (int p = 0; m && p < m->phases_n; p++) {
            const struct profile_file *file = &m->file[m->phase[p].file];
            own = own || (file->comm_size < run->mpi_n && file->comm_rank == 0);
        }
        n += own;
    }
    return n;
}

/* A workload of a file per process has no working points of others. */
static bool is_separate(const struct profile_run *run)
{
    return have_own_files(run) && !have_others_moved(run);
}

/* Index of a file in the workload by its name; the last one stands for all that find no place. */
static int file_index(struct points *all, const char *name)
{
    int f = 0;
    while (f < all->files_n && strcmp(all->file[f], name) != 0)
        f++;
    if (f == WORKLOAD_FILES_MAX) return f - 1;
    if (f == all->files_n) all->file[all->files_n++] = name;
    return f;
}

/* Index of a rank's file in the workload where each has its own: they have the same number on every rank, if
 * not the same name. The last one stands for all beyond. */
static int own_file_index(struct points *all, const struct profile_map *m, int number)
{
    const int f = (int)num_min(number, WORKLOAD_FILES_MAX - 1);
    if (!all->file[f]) all->file[f] = m->file[number].name;
    if (f >= all->files_n) all->files_n = f + 1;
    return f;
}

/* Whether a phase reads (1), writes (2), or both (3). */
static int direction_of(const struct profile_phase *p)
{
    int direction = 0;
    for (int k = 0; k < WORKLOAD_KINDS; k++)
        if (p->kind[k].n > 0) direction |= workload_kind_of(k).write ? 2 : 1;
    return direction;
}

/* A phase of a process, and what the working point that it is part of is like. */
struct part {
    struct point like;
    int who; /* of the processes */
    int order;
    const struct profile_phase *phase;
    double begin_s,
        end_s; /* after all processes of its node were in MPI: nodes have clocks of their own */
};

static int by_likeness(const struct point *a, const struct point *b)
{
    if (a->file != b->file) return a->file - b->file;
    if (a->interface != b->interface) return a->interface - b->interface;
    if (a->each != b->each) return a->each - b->each;
    if (a->processes != b->processes) return a->processes - b->processes;
    if (a->opening != b->opening) return a->opening - b->opening;
    return a->direction - b->direction;
}

static int by_part(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    const int order = by_likeness(&x->like, &y->like);
    if (order != 0) return order;
    return x->who != y->who ? x->who - y->who : x->order - y->order;
}

static double bytes_of(const struct profile_phase *p)
{
    double bytes = 0;
    for (int k = 0; k < WORKLOAD_KINDS; k++)
        bytes += (double)p->kind[k].bytes;
    return bytes;
}

/* How long both phases went on at once, below 0; or the time between them. One that moves much more than the other is far away: a
 * header is no data, however soon they follow each other. */
static double distance_s(const struct part *a, const struct part *b)
{
    const double x = bytes_of(a->phase), y = bytes_of(b->phase),
                 apart = fmax(x, y) > MUCH_MORE * fmin(x, y) ? 1 : 0;
    return apart + fmax(a->begin_s, b->begin_s) - fmin(a->end_s, b->end_s);
}

/* Numbers the phases of a process by those of one that has more, in their order: so that they are least far from each other, all
 * together; where that takes too much memory, one after the other. [out] number */
static int number_by_time(const struct part *many, int many_n, const struct part *few, int few_n,
                          int *number)
{
    const int64_t width =
        many_n - few_n + 1; /* the k-th can be the k-th of the other, or so many later */
    if (width * few_n > ALIGNED_MAX) {
        for (int k = 0, next = 0; k < few_n; next = number[k++] + 1) {
            number[k] = next;
            for (int m = next + 1; m < k + width && many[m].begin_s <= few[k].end_s + 1; m++)
                if (distance_s(&few[k], &many[m]) < distance_s(&few[k], &many[number[k]]))
                    number[k] = m;
        }
        return 0;
    }
    double *least = mem_new(width * few_n, sizeof *least, "%d phases of a file", many_n);
    if (!least) return ERR_NOMEM;
    for (int k = 0; k < few_n; k++)
        for (int64_t d = 0; d < width; d++) {
            const double before = k > 0 ? least[(k - 1) * width + d] : 0;
            const double here = before + distance_s(&few[k], &many[k + d]);
            least[k * width + d] = d > 0 ? fmin(least[k * width + d - 1], here) : here;
        }
    int64_t d = width - 1;
    for (int k = few_n - 1; k >= 0; k--) {
        while (d > 0 && least[k * width + d - 1] <= least[k * width + d])
            d--;
        number[k] = k + (int)d;
    }
    free(least);
    return 0;
}

/* Adds the working points of phases that are alike but for their process: the k-th of one process and that of another are of one
 * point; where processes have not as many, by the time of those of the process that has most. */
static int add_points(struct points *all, const struct part *part, int n)
{
    int many_n = 0, many = 0, rc = 0;
    const int first = all->n, processes = part[0].like.processes;
    for (int i = 0, m; i < n; i += m) {
        for (m = 1; i + m < n && part[i + m].who == part[i].who; m++)
            continue;
        if (m > many_n) many = i;
        if (m > many_n) many_n = m;
    }
    int *number = mem_new(n, sizeof *number, "%d phases of a file", n);
    if (!number) return ERR_NOMEM;
    for (int i = 0, m; rc == 0 && i < n; i += m) {
        for (m = 1; i + m < n && part[i + m].who == part[i].who; m++)
            continue;
        for (int k = 0; k < m; k++)
            number[i + k] = processes == 1 ? i + k : k;
        if (processes > 1 && m < many_n)
            rc = number_by_time(&part[many], many_n, &part[i], m, &number[i]);
    }
    for (int i = 0; rc == 0 && i < n; i++) {
        while (rc == 0 && first + number[i] >= all->n) {
            struct point *grown = realloc(all->point, (size_t)(all->n + 1) * sizeof *grown);
            if (grown) {
                all->point = grown;
                grown[all->n] = part[i].like;
                grown[all->n].of = calloc((size_t)processes, sizeof(const struct profile_phase *));
            }
            if (!grown || !grown[all->n].of)
                rc = mem_error("%d working points", all->n + 1);
            else
                all->n++;
        }
        if (rc < 0) break;
        struct point *at = &all->point[first + number[i]];
        at->of[part[i].who] = part[i].phase;
        at->begin_s = fmin(at->begin_s, part[i].phase->begin_s);
        at->end_s = fmax(at->end_s, part[i].phase->end_s);
    }
    free(number);
    return rc;
}

static int earlier(const void *a, const void *b)
{
    const struct point *p = a, *q = b;
    return (p->begin_s > q->begin_s) - (p->begin_s < q->begin_s);
}

/* The only process that has a part in a working point of several; -1: it is not one alone. */
static int single_of(const struct point *p)
{
    int found = -1;
    for (int k = 0; k < p->processes && p->processes > 1; k++) {
        if (!p->of[k]) continue;
        if (found >= 0) return -1;
        found = k;
    }
    return found;
}

/* Whether ranks read or wrote at once in files that all of them have opened, each in another: in a workload these points come one
 * after the other. By time. */
static bool have_single_at_once(const struct points *all)
{
    double last_s = -INFINITY;
    int last = -1;
    for (int i = 0; i < all->n; i++) {
        const struct point *p = &all->point[i];
        const int single = single_of(p);
        if (single < 0) continue;
        if (last >= 0 && single != last && p->begin_s < last_s) return true;
        if (p->end_s > last_s) {
            last_s = p->end_s;
            last = single;
        }
    }
    return false;
}

static void points_free(struct points *all)
{
    for (int i = 0; i < all->n; i++)
        free(all->point[i].of);
    free(all->point);
}

/* When the last rank of a rank's node was in MPI. */
static double node_init_s(const struct profile_run *run, const struct profile_map *m)
{
    double init_s = m->init_s;
    for (int r = 0; r < run->mpi_n; r++)
        if (run->rank[r] && strcmp(run->rank[r]->host, m->host) == 0)
            init_s = fmax(init_s, run->rank[r]->init_s);
    return init_s;
}

static int points_make(const struct profile_run *run, struct points *all)
{
    int64_t most = 1;
    int n = 0, rc = 0;
    *all = (struct points){.separate = is_separate(run)};
    for (int r = 0; r < run->size; r++)
        most += run->rank[r] ? run->rank[r]->phases_n : 0;
    struct part *part = mem_new(most, sizeof *part, "%" PRId64 " phases", most);
    if (!part) return ERR_NOMEM;
    for (int r = 0; r < run->size; r++) {
        const struct profile_map *m = run->rank[r];
        const double init_s = m && r < run->mpi_n ? node_init_s(run, m) : 0;
        for (int p = 0; m && p < m->phases_n; p++) {
            const struct profile_phase *phase = &m->phase[p];
            const struct profile_file *file = &m->file[phase->file];
            struct part *one = &part[n];
            *one = (struct part){
                .like = {.processes = all->separate ? run->mpi_n : phase->comm_size,
                         .file = all->separate ? own_file_index(all, m, phase->file)
                                               : file_index(all, file->name),
                         .interface = file->interface,
                         .each = file->each,
                         .opening = file->each || file->comm_size == 1 ? 0 : phase->opening,
                         .direction = m->by_direction ? direction_of(phase) : 0,
                         .begin_s = INFINITY},
                .who = all->separate           ? r
                       : phase->comm_size == 1 ? 0
                                               : phase->comm_rank,
                .order = n++,
                .phase = phase,
                .begin_s = phase->begin_s - init_s,
                .end_s = phase->end_s - init_s};
            one->like.name = all->file[one->like.file];
        }
    }
    qsort(part, (size_t)n, sizeof *part, by_part);
    for (int i = 0, m; rc == 0 && i < n; i += m) {
        for (m = 1; i + m < n && by_likeness(&part[i].like, &part[i + m].like) == 0; m++)
            continue;
        rc = add_points(all, &part[i], m);
    }
    free(part);
    if (all->n > 0) qsort(all->point, (size_t)all->n, sizeof *all->point, earlier);
    return rc;
}

/* The calls of one process of one function; NULL: it has none. Calls that follow each other in the
 * file need no span, and where some went through a view with holes it is not known. */
static struct workload_calls calls_of(const struct profile_phase *p, int kind)
{
    struct workload_calls c = {.kind = kind};
    if (!p) return c;
    c.n = (int64_t)p->kind[kind].n;
    c.bytes = (int64_t)p->kind[kind].bytes;
    if (kind >= PROFILE_PLACED) return c;
    const struct profile_places *l = &p->places[kind];
    if (l->n == p->kind[kind].n && l->skips > 0 && l->skips < l->n && l->begin >= 0 &&
        l->end <= WORKLOAD_BYTES_MAX && l->end - l->begin >= num_quotient_up(c.bytes, c.n)) {
        c.span = l->end - l->begin;
        c.skips = (int64_t)l->skips;
        /* Where skips are spread evenly, the first piece is as long as the others. */
        const bool even = (int64_t)l->lead == num_quotient_up(c.n, c.skips + 1);
        if (!even && (int64_t)l->lead <= c.n - c.skips) c.lead = (int64_t)l->lead;
    }
    return c;
}

/* Whether calls of one process do not follow each other in a file. */
static bool leave_gaps(const struct profile_run *run)
{
    for (int r = 0; r < run->size; r++)
        for (int p = 0; run->rank[r] && p < run->rank[r]->phases_n; p++)
            for (int k = 0; k < PROFILE_PLACED; k++)
                if (calls_of(&run->rank[r]->phase[p], k).skips > 0) return true;
    return false;
}

static bool same_calls(const struct profile_phase *a, const struct profile_phase *b)
{
    for (int k = 0; k < WORKLOAD_KINDS; k++) {
        const struct workload_calls x = calls_of(a, k), y = calls_of(b, k);
        if (x.n != y.n || x.bytes != y.bytes || x.span != y.span || x.skips != y.skips ||
            x.lead != y.lead)
            return false;
    }
    return true;
}

/* The process whose calls most others have made as well: what the point says without a <rank>. */
static int most_common_rank(const struct point *at)
{
    int best = 0, best_n = 0;
    for (int i = 0; i < at->processes && best_n <= at->processes / 2; i++) {
        int n = 0;
        for (int k = 0; k < at->processes; k++)
            n += same_calls(at->of[i], at->of[k]);
        if (n > best_n) {
            best = i;
            best_n = n;
        }
    }
    return best;
}

/* Where the calls of a process of one function begin in the file; -1: not known. */
static int64_t begin_of(const struct profile_phase *p, int kind)
{
    if (!p || kind >= PROFILE_PLACED) return -1;
    const struct profile_places *l = &p->places[kind];
    return l->n == p->kind[kind].n && l->end > 0 && l->end <= WORKLOAD_BYTES_MAX ? l->begin : -1;
}

/* Whether a later working point of a file has calls whose places are not known. */
static bool have_no_places(const struct profile_run *run)
{
    for (int r = 0; r < run->size; r++)
        for (int p = 0; run->rank[r] && p < run->rank[r]->phases_n; p++) {
            const struct profile_phase *one = &run->rank[r]->phase[p];
            for (int k = 0; one->ordinal > 0 && k < WORKLOAD_KINDS; k++)
                if (one->kind[k].bytes > 0 && begin_of(one, k) < 0) return true;
        }
    return false;
}

/* What the calls of a file cover: where the first begins and the last ends, and the bytes of all, also those covered
 * more than once, with the gaps of a process's own. */
struct extent {
    int64_t first, end, bytes;
};

/* Far apart in a file are processes and points that leave it so many times as long as what they cover: a replay needs room
 * for all between. */
#define FAR_APART 8

static bool far_apart(struct extent e)
{
    return e.end > 0 && e.end - e.first > num_product(FAR_APART, e.bytes);
}

/* Where in the file the calls of each function begin: of process r at begin + r * shift. first: where the
 * first calls of all points of the file do, from which these are counted. packed: far apart, and not to lie so. */
struct places {
    bool packed;
    int64_t first, begin[PROFILE_PLACED], shift[PROFILE_PLACED];
    bool known[PROFILE_PLACED];
};

/* By the usual process and the next one that has made the same calls. separate: each in a file of its own. */
static struct places places_find(const struct point *at, int usual, bool separate, struct extent e)
{
    struct places found = {.first = e.first, .packed = far_apart(e)};
    int next = usual + 1;
    while (next < at->processes && !(at->of[next] && same_calls(at->of[next], at->of[usual])))
        next++;
    for (int k = 0; k < PROFILE_PLACED; k++) {
        const int64_t begin = begin_of(at->of[usual], k);
        found.known[k] = begin >= 0;
        if (begin < 0) continue;
        if (!separate && next < at->processes)
            found.shift[k] = (begin_of(at->of[next], k) - begin) / (next - usual);
        if (llabs(found.shift[k]) > WORKLOAD_BYTES_MAX / at->processes) found.shift[k] = 0;
        found.begin[k] = begin - e.first - usual * found.shift[k];
    }
    return found;
}

/* Whether a process that has made the same calls has made them at these places. */
static bool placed_so(const struct profile_phase *p, int rank, const struct places *places)
{
    for (int k = 0; k < PROFILE_PLACED; k++) {
        const int64_t begin = begin_of(p, k);
        if (places->known[k] != (begin >= 0)) return false;
        if (begin >= 0 && begin - places->first != places->begin[k] + rank * places->shift[k])
            return false;
    }
    return true;
}

/* The calls of one process by function. places: NULL: not known. own_of: process whose own list it is, -1: that of
 * all usual ones. mean: the shift that needs not be said; 0: in a file of each process's own none is. */
static int list_make(const struct profile_phase *p, const struct places *places, int own_of,
                     double mean, struct workload_calls **list, int *n)
{
    *n = 0;
    *list = mem_new(WORKLOAD_KINDS, sizeof **list, "a list of calls");
    if (!*list) return ERR_NOMEM;
    for (int k = 0; k < WORKLOAD_KINDS; k++) {
        struct workload_calls c = calls_of(p, k);
        if (c.n == 0) continue;
        const int64_t begin = begin_of(p, k);
        if (!places) c.span = c.skips = c.lead = 0;
        if (places && begin >= 0 && !places->packed) {
            const bool own = own_of >= 0;
            c.placed = true;
            c.begin = own ? begin - places->first : places->begin[k];
            c.shift = own ? 0 : places->shift[k];
            c.shifted = mean > 0 && own_of != 0 && (double)c.shift != mean;
        }
        (*list)[(*n)++] = c;
    }
    return 0;
}

/* Mean length of what one process had in one piece in the file, 0: it moved nothing. */
static double cont_mean(const struct profile_phase *p)
{
    uint64_t bytes = 0;
    for (int k = 0; p && k < WORKLOAD_KINDS; k++)
        bytes += p->kind[k].bytes;
    return bytes > 0 && p->pieces > 0 ? (double)bytes / (double)p->pieces : 0;
}

/* What all processes of a point have done together. */
struct totals {
    int64_t calls, bytes, pieces, unknown, sequential, think_ns;
    int64_t read_bytes, coll, blocking, shared;
    bool request; /* collective calls with a request */
};

static void totals_add(struct totals *t, const struct profile_phase *p)
{
    t->pieces = num_sum(t->pieces, (int64_t)p->pieces);
    t->unknown = num_sum(t->unknown, (int64_t)p->unknown);
    t->sequential = num_sum(t->sequential, (int64_t)p->sequential);
    t->think_ns = num_sum(t->think_ns, (int64_t)p->think_ns);
    for (int k = 0; k < WORKLOAD_KINDS; k++) {
        const struct workload_kind kind = workload_kind_of(k);
        const int64_t n = (int64_t)p->kind[k].n, b = (int64_t)p->kind[k].bytes;
        t->calls = num_sum(t->calls, n);
        t->bytes = num_sum(t->bytes, b);
        t->read_bytes = num_sum(t->read_bytes, kind.write ? 0 : b);
        t->coll = num_sum(t->coll, kind.collective ? n : 0);
        t->blocking = num_sum(t->blocking, kind.sync == WORKLOAD_BLOCKING ? n : 0);
        t->shared = num_sum(t->shared, kind.position == WORKLOAD_SHARED ? n : 0);
        if (kind.sync == WORKLOAD_REQUEST && kind.collective && n > 0) t->request = true;
    }
}

/* The processes whose calls, places or pieces are not those of the usual one, each with its own list. */
static int ranks_make(const struct point *at, int usual, const struct places *places, double mean,
                      struct workload_point *out)
{
    out->rank = mem_new(at->processes, sizeof *out->rank, "%d ranks", at->processes);
    if (!out->rank) return ERR_NOMEM;
    for (int i = 0; i < at->processes; i++) {
        const double cont = out->cont_mean < out->size_mean ? cont_mean(at->of[i]) : 0;
        const bool own_cont = cont > 0 && llround(cont) != llround(out->cont_mean);
        if (same_calls(at->of[i], at->of[usual]) && !own_cont &&
            (!places || places->packed || placed_so(at->of[i], i, places)))
            continue;
        struct workload_rank *rank = &out->rank[out->ranks_n++];
        rank->of = i;
        rank->cont_mean = own_cont ? cont : 0;
        TRY(list_make(at->of[i], places, i, mean, &rank->list, &rank->list_n));
        for (int c = 0; c < rank->list_n; c++) {
            rank->calls = num_sum(rank->calls, rank->list[c].n);
            rank->bytes = num_sum(rank->bytes, rank->list[c].bytes);
        }
    }
    return 0;
}

/* e: of the file. */
static int point_make(const struct point *at, bool separate, struct extent e,
                      struct workload_point *out)
{
    struct totals t = {0};
    for (int i = 0; i < at->processes; i++)
        if (at->of[i]) totals_add(&t, at->of[i]);
    out->process_num = at->processes;
    out->file = at->file;
    out->request = t.request;
    out->unique_bytes = t.bytes;
    if (t.calls == 0 || t.bytes == 0) return 0;
    const double calls = (double)t.calls, bytes = (double)t.bytes;
    /* Of calls that mostly transfer nothing the mean is below a byte, which no description can say. */
    out->size_mean = fmax(1, bytes / calls);
    out->read_frac = (double)t.read_bytes / bytes;
    out->coll_frac = (double)t.coll / calls;
    out->sync_frac = (double)t.blocking / calls;
    out->seq_frac = fmin(1, (double)t.sequential / calls);
    out->shared_frac = (double)t.shared / calls;
    const bool holes = t.pieces > t.calls && t.unknown == 0 && t.shared == 0;
    out->cont_mean = holes ? fmax(1, bytes / (double)t.pieces) : out->size_mean;
    const double think_s = 1e-9 * (double)t.think_ns / calls;
    if (think_s >= THINK_S) out->think_s = think_s;
    /* Positions in views with holes are not recorded. */
    const bool placed = out->cont_mean >= out->size_mean;
    const int usual = most_common_rank(at);
    const struct places found = places_find(at, usual, separate, e),
                        *places = placed ? &found : NULL;
    const double mean = separate || at->processes == 1 ? 0 : out->size_mean;
    TRY(list_make(at->of[usual], places, -1, mean, &out->list, &out->list_n));
    TRY(ranks_make(at, usual, places, mean, out));
    /* One part after the other from the beginning, as without a word. */
    struct workload_calls *only = out->list_n == 1 && out->ranks_n == 0 ? out->list : NULL;
    if (only && only->skips == 0 && only->begin == 0 && (mean == 0 || only->shift == only->bytes))
        only->placed = only->shifted = false;
    return 0;
}

/* What all points of a file have covered of it; where is as far as places are known. */
static struct extent extent_of(const struct points *all, int file)
{
    struct extent e = {.first = INT64_MAX};
    for (int i = 0; i < all->n; i++)
        for (int r = 0; all->point[i].file == file && r < all->point[i].processes; r++)
            for (int k = 0; k < WORKLOAD_KINDS; k++) {
                const struct profile_phase *p = all->point[i].of[r];
                const struct workload_calls c = calls_of(p, k);
                const int64_t begin = begin_of(p, k);
                e.bytes = num_sum(e.bytes, workload_calls_extent(&c));
                if (begin < 0) continue;
                e.first = num_min(e.first, begin);
                e.end = num_max(e.end, p->places[k].end);
            }
    return e;
}

int profile_workload(const struct profile_run *run, struct workload *w, int *left_out,
                     char why[ERR_MESSAGE_MAX])
{
    struct points all;
    char where[64];
    struct extent extent[WORKLOAD_FILES_MAX];
    for (int f = 0; f < WORKLOAD_FILES_MAX; f++)
        extent[f].first = -1;
    *left_out = 0;
    *w = (struct workload){.seed = 1};
    int rc = points_make(run, &all);
    w->separate = all.separate;
    for (int f = 0; rc == 0 && f < all.files_n; f++)
        if (all.file[f] && !(w->file_name[f] = strdup(all.file[f])))
            rc = mem_error("the names of files");
    for (int i = 0; rc == 0 && i < all.n; i++) {
        struct workload_point p = {0};
        const int file = all.point[i].file;
        if (extent[file].first < 0) extent[file] = extent_of(&all, file);
        rc = point_make(&all.point[i], all.separate, extent[file], &p);
        const bool empty = p.size_mean == 0;
        bool sound = true;
        snprintf(where, sizeof where, "working point %d: ", i + 1);
        if (rc == 0 && !empty && workload_point_check(&p, w->separate, where) < 0) {
            sound = false;
            if ((*left_out)++ == 0) snprintf(why, ERR_MESSAGE_MAX, "%s", err_message());
            err_clear();
        }
        if (rc == 0 && !empty && sound)
            rc = workload_add(w, &p);
        else
            workload_point_free(&p);
    }
    points_free(&all);
    return rc;
}

static json_t *calls_json(const struct profile_calls *c)
{
    return json_pack("{s:I s:I s:o s:o}", "n", (json_int_t)c->n, "bytes", (json_int_t)c->bytes,
                     "total_s", js_real(1e-9 * (double)c->ns), "max_s",
                     js_real(1e-9 * (double)c->ns_max));
}

static void add_calls(struct profile_calls *to, const struct profile_calls *c)
{
    to->n += c->n;
    to->bytes += c->bytes;
    to->ns += c->ns;
    if (c->ns_max > to->ns_max) to->ns_max = c->ns_max;
}

static const char *interface_name(int interface)
{
    return interface == PROFILE_POSIX ? "posix" : "mpi-io";
}

static json_t *point_json(const struct point *at, double zero_s)
{
    struct profile_calls kind[WORKLOAD_KINDS] = {{0}};
    uint64_t sizes[2][PROFILE_SIZES] = {{0}};
    double slowest_s = 0, total_s = 0;
    int slowest = 0;
    for (int i = 0; i < at->processes; i++) {
        double mine_s = 0;
        for (int k = 0; at->of[i] && k < WORKLOAD_KINDS; k++) {
            add_calls(&kind[k], &at->of[i]->kind[k]);
            mine_s += 1e-9 * (double)at->of[i]->kind[k].ns;
        }
        for (int s = 0; at->of[i] && s < PROFILE_SIZES; s++)
            for (int d = 0; d < 2; d++)
                sizes[d][s] += at->of[i]->sizes[d][s];
        total_s += mine_s;
        if (mine_s >= slowest_s) {
            slowest_s = mine_s;
            slowest = i;
        }
    }
    json_t *functions = json_object(), *histogram = json_array();
    for (int k = 0; k < WORKLOAD_KINDS; k++)
        if (kind[k].n > 0)
            json_object_set_new(functions, function_name(at->interface, k), calls_json(&kind[k]));
    for (int s = 0; s < PROFILE_SIZES; s++)
        if (sizes[0][s] + sizes[1][s] > 0)
            json_array_append_new(histogram, json_pack("{s:I s:I s:I}", "from_bytes",
                                                       (json_int_t)(s ? INT64_C(1) << s : 0),
                                                       "reads_n", (json_int_t)sizes[0][s],
                                                       "writes_n", (json_int_t)sizes[1][s]));
    return json_pack("{s:o s:s s:i s:i s:o s:o s:o s:o s:i s:o s:o}", "file", js_text(at->name),
                     "interface", interface_name(at->interface), "file_index", at->file,
                     "processes_n", at->processes, "begin_s", js_real(at->begin_s - zero_s),
                     "end_s", js_real(at->end_s - zero_s), "inside_mean_s",
                     js_real(total_s / at->processes), "inside_max_s", js_real(slowest_s),
                     "inside_max_process", slowest, "functions", functions, "sizes", histogram);
}

/* A slow call and whose it was. */
struct slow {
    const struct profile_slow *call;
    const struct profile_map *rank;
};

static int slower(const void *a, const void *b)
{
    const uint64_t x = ((const struct slow *)a)->call->ns, y = ((const struct slow *)b)->call->ns;
    return (x < y) - (x > y);
}

/* The slowest calls of all ranks, the slowest first. Returns how many there are. */
static int slowest_of(const struct profile_run *run, struct slow out[2 * PROFILE_SLOW])
{
    int n = 0;
    for (int r = 0; r < run->size; r++) {
        const struct profile_map *m = run->rank[r];
        for (int s = 0; m && s < PROFILE_SLOW; s++) {
            const struct profile_slow *c = &m->slow[s];
            if (c->ns == 0 || c->file < 0 || c->file >= m->files_n || c->kind < 0 ||
                c->kind >= WORKLOAD_KINDS || !function_name(m->file[c->file].interface, c->kind))
                continue;
            out[n++] = (struct slow){c, m};
            if (n < 2 * PROFILE_SLOW) continue;
            qsort(out, (size_t)n, sizeof *out, slower);
            n = PROFILE_SLOW;
        }
    }
    if (n > 0) qsort(out, (size_t)n, sizeof *out, slower);
    return n < PROFILE_SLOW ? n : PROFILE_SLOW;
}

static json_t *slowest_json(const struct profile_run *run, double zero_s)
{
    struct slow slow[2 * PROFILE_SLOW];
    const int n = slowest_of(run, slow);
    json_t *list = json_array();
    for (int i = 0; i < n; i++) {
        const struct profile_slow *c = slow[i].call;
        json_array_append_new(
            list, json_pack("{s:o s:s s:s s:i s:o s:o s:o s:o s:I}", "file",
                            js_text(slow[i].rank->file[c->file].name), "interface",
                            interface_name(slow[i].rank->file[c->file].interface), "function",
                            function_name(slow[i].rank->file[c->file].interface, c->kind), "rank",
                            slow[i].rank->rank, "host", js_text(slow[i].rank->host), "begin_s",
                            js_real(c->begin_s - zero_s), "inside_s", js_real(1e-9 * (double)c->ns),
                            "offset_bytes", c->at >= 0 ? json_integer(c->at) : json_null(), "bytes",
                            (json_int_t)c->bytes));
    }
    return list;
}

static void print_slow_calls(const struct profile_run *run, FILE *to)
{
    struct slow slow[2 * PROFILE_SLOW];
    const int n = slowest_of(run, slow);
    char inside[UNITS_TEXT_MAX], bytes[UNITS_TEXT_MAX], at[32];
    fprintf(to, "\nSlowest calls\n");
    for (int i = 0; i < n; i++) {
        const struct profile_slow *c = slow[i].call;
        snprintf(at, sizeof at, "%" PRId64, c->at);
        plain_line(to, "%10s  %-18s %10s at %s of %s, %s %d on %s",
                   units_duration(1e-9 * (double)c->ns, inside),
                   function_name(slow[i].rank->file[c->file].interface, c->kind),
                   units_bytes((double)c->bytes, bytes), c->at >= 0 ? at : "?",
                   slow[i].rank->file[c->file].name, profile_process_word(run, slow[i].rank->rank),
                   slow[i].rank->rank, slow[i].rank->host);
    }
}

static const char *state_name(int state)
{
    switch (state) {
    case PROFILE_FINALIZED:
        return "finished";
    case PROFILE_ABORTED:
        return "aborted";
    default:
        return "died";
    }
}

json_t *profile_json(const struct profile_run *run)
{
    struct points all;
    double zero_s = INFINITY;
    json_t *points = json_array(), *ranks = json_array(), *others = json_object();
    for (int r = 0; r < run->size; r++)
        if (run->rank[r]) zero_s = fmin(zero_s, run->rank[r]->init_s);
    if (points_make(run, &all) == 0)
        for (int i = 0; i < all.n; i++)
            json_array_append_new(points, point_json(&all.point[i], zero_s));
    points_free(&all);
    const struct profile_map *first = NULL;
    struct profile_calls other[PROFILE_OTHERS] = {{0}};
    for (int r = 0; r < run->size; r++) {
        const struct profile_map *m = run->rank[r];
        if (!m) continue;
        if (!first) first = m;
        for (int o = 0; o < PROFILE_OTHERS; o++)
            add_calls(&other[o], &m->other[o]);
        json_array_append_new(
            ranks,
            json_pack("{s:i s:b s:o s:o s:s s:o s:o}", "rank", r, "mpi", r < run->mpi_n, "program",
                      js_text(m->program), "host", js_text(m->host), "state", state_name(m->state),
                      "wall_s", js_real(m->last_s - m->init_s), "inside_s", js_real(inside_s(m))));
    }
    for (int o = 0; o < PROFILE_OTHERS; o++)
        if (other[o].n > 0) json_object_set_new(others, other_name[o], calls_json(&other[o]));
    json_t *not_seen = json_array();
    for (int i = 0; i < run->not_seen_n; i++) {
        char text[ERR_MESSAGE_MAX];
        profile_not_seen_text(&run->not_seen[i], text);
        json_array_append_new(not_seen,
                              json_pack("{s:s s:o s:o s:o}", "what",
                                        profile_unseen_word((int)run->not_seen[i].what), "program",
                                        js_text(run->not_seen[i].program), "name",
                                        js_text(run->not_seen[i].name), "sentence", js_text(text)));
    }
    return json_pack(
        "{s:i s:i s:i s:s s:o s:o s:o s:o s:o s:o s:o s:I s:o s:b s:i s:I s:I s:I s:I s:I s:I s:I "
        "s:I s:I s:I "
        "s:o "
        "s:o s:o s:o s:o s:o s:i}",
        "ranks_n", run->size, "mpi_ranks_n", run->mpi_n, "ranks_seen_n", run->ranks_n, "state",
        state_name((int)run->state), "mpi_library",
        js_text(first && first->library[0] ? first->library : NULL), "wall_s", js_real(run->wall_s),
        "inside_mean_s", js_real(run->io_s), "inside_any_s", js_real(run->io_any_s),
        "waiting_mean_s", js_real(run->io_wait_s), "inside_max_s", js_real(run->io_max_s),
        "inside_max_any_s", js_real(run->io_max_any_s), "notes_n", (json_int_t)run->notes_n,
        "notes_s", js_real(run->notes_s), "notes_inside", run->notes_inside, "inside_max_rank",
        run->io_max_rank, "read_bytes", (json_int_t)run->bytes[0], "written_bytes",
        (json_int_t)run->bytes[1], "outside_read_bytes", (json_int_t)run->outside_bytes[0],
        "outside_written_bytes", (json_int_t)run->outside_bytes[1], "reads_n",
        (json_int_t)run->calls[0], "writes_n", (json_int_t)run->calls[1], "posix_reads_n",
        (json_int_t)run->posix_calls[0], "posix_read_bytes", (json_int_t)run->posix_bytes[0],
        "posix_writes_n", (json_int_t)run->posix_calls[1], "posix_written_bytes",
        (json_int_t)run->posix_bytes[1], "not_seen", not_seen, "points", points, "other", others,
        "timeline",
        timeline_json(run->rank, run->size, run->mpi_n > 0 ? run->mpi_n : run->size, zero_s),
        "slowest", slowest_json(run, zero_s), "ranks", ranks, "lost_n", run->lost_n);
}

/* What the time inside is about. */
static const char *interface_words(const struct profile_run *run)
{
    if (run->posix_calls[0] + run->posix_calls[1] == 0 && run->mpi_n > 0) return "MPI-IO";
    return run->mpi_n > 0 ? "I/O" : "POSIX I/O";
}

static void print_direction(const struct profile_run *run, int write, FILE *to)
{
    char bytes[UNITS_TEXT_MAX], mean[UNITS_TEXT_MAX], rate[UNITS_TEXT_MAX];
    if (run->calls[write] == 0) return;
    fprintf(to, "%-9s %s in %" PRId64 " call%s of %s on average, %s over the whole run\n",
            write ? "Written" : "Read", units_bytes((double)run->bytes[write], bytes),
            run->calls[write], units_plural(run->calls[write]),
            units_bytes((double)run->bytes[write] / (double)run->calls[write], mean),
            units_rate(profile_rate(run, write, run->wall_s), rate));
}

/* Calls by size in powers of two, all working points. */
static void print_sizes(const struct profile_run *run, FILE *to)
{
    uint64_t n[2][PROFILE_SIZES] = {{0}}, most = 1;
    char size[UNITS_TEXT_MAX];
    for (int r = 0; r < run->size; r++)
        for (int p = 0; run->rank[r] && p < run->rank[r]->phases_n; p++)
            for (int s = 0; s < PROFILE_SIZES; s++)
                for (int d = 0; d < 2; d++)
                    n[d][s] += run->rank[r]->phase[p].sizes[d][s];
    for (int s = 0; s < PROFILE_SIZES; s++)
        if (n[0][s] + n[1][s] > most) most = n[0][s] + n[1][s];
    struct columns table;
    columns_begin(&table, "10  9 9  -0");
    columns_row(&table, "from size", "reads", "writes", NULL);
    for (int s = 0; s < PROFILE_SIZES; s++)
        if (n[0][s] + n[1][s] > 0) {
            columns_cell(&table, "%s", units_bytes_iec(s ? ldexp(1, s) : 0, size));
            columns_cell(&table, "%" PRIu64, n[0][s]);
            columns_cell(&table, "%" PRIu64, n[1][s]);
            columns_cell(&table, "%.*s",
                         1 + (int)(29.0 * (double)(n[0][s] + n[1][s]) / (double)most),
                         "##############################");
        }
    fputc('\n', to);
    columns_print(&table, to);
}

/* The ranks that were longest inside MPI-IO. */
static void print_slowest(const struct profile_run *run, FILE *to)
{
    char inside[UNITS_TEXT_MAX];
    int at[3] = {-1, -1, -1};
    char host[PROFILE_NAME_MAX];
    fprintf(to, "\nLongest inside %s:", interface_words(run));
    for (int i = 0; i < 3 && i < run->ranks_n; i++) {
        double most = -1;
        for (int r = 0; r < run->size; r++)
            if (run->rank[r] && r != at[0] && r != at[1] && inside_s(run->rank[r]) > most) {
                most = inside_s(run->rank[r]);
                at[i] = r;
            }
        if (at[i] < 0) break;
        fprintf(to, "%s %s %d on %s %s", i ? "," : "", profile_process_word(run, at[i]), at[i],
                plain_copy(host, sizeof host, run->rank[at[i]]->host),
                units_duration(most, inside));
    }
    fprintf(to, "\n");
}

/* The calls of each working point by function, the first POINTS_SHOWN rows. */
static void print_points(const struct points *all, FILE *to)
{
    char bytes[UNITS_TEXT_MAX], mean[UNITS_TEXT_MAX], time[UNITS_TEXT_MAX];
    struct columns table;
    int rows = 0;
    columns_begin(&table, "5  -22 9 10 10 9  -0");
    columns_row(&table, "point", "function", "calls", "bytes", "mean", "time", "file", NULL);
    for (int i = 0; i < all->n && rows < POINTS_SHOWN; i++) {
        const struct point *p = &all->point[i];
        for (int k = 0; k < WORKLOAD_KINDS && rows < POINTS_SHOWN; k++) {
            struct profile_calls calls = {0};
            for (int r = 0; r < p->processes; r++)
                if (p->of[r]) add_calls(&calls, &p->of[r]->kind[k]);
            if (calls.n == 0) continue;
            columns_cell(&table, "%d", i);
            columns_cell(&table, "%s", function_name(p->interface, k));
            columns_cell(&table, "%" PRIu64, calls.n);
            columns_row(&table, units_bytes((double)calls.bytes, bytes),
                        units_bytes((double)calls.bytes / (double)calls.n, mean),
                        units_duration(1e-9 * (double)calls.ns / p->processes, time), p->name,
                        NULL);
            rows++;
        }
    }
    fputc('\n', to);
    columns_print(&table, to);
    if (rows == POINTS_SHOWN)
        fprintf(to, "       ... all %d working points are in the files\n", all->n);
}

/* What a replay of working points does not do, mean over ranks or processes as the time inside I/O. */
static void print_flushes(const struct profile_run *run, FILE *to)
{
    char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX], others[UNITS_TEXT_MAX + 64] = "";
    struct profile_calls flushes = {0}, beside = {0};
    uint64_t synced_n = 0;
    int n = 0;
    for (int r = 0; r < run->size; r++) {
        if (!is_within(run, r)) continue;
        const bool counts = run->mpi_n == 0 || r < run->mpi_n;
        add_calls(counts ? &flushes : &beside, &run->rank[r]->other[PROFILE_SYNC]);
        synced_n += run->rank[r]->synced_n;
        n += counts;
    }
    if (beside.n > 0)
        snprintf(others, sizeof others, " and %s in all processes beside them together",
                 units_duration(1e-9 * (double)beside.ns, b));
    if (flushes.n + beside.n > 0)
        fprintf(to,
                "          %s per %s on average%s in flushing, %" PRIu64
                " call%s in all, which working points have not; --accesses has those of files\n",
                units_duration(1e-9 * (double)flushes.ns / n, a), profile_process_word(run, 0),
                others, flushes.n + beside.n, units_plural((int64_t)(flushes.n + beside.n)));
    if (synced_n > 0)
        fprintf(to,
                "          %" PRIu64
                " opening%s with O_SYNC or O_DSYNC: each write flushes, which working points "
                "do not; --accesses has it\n",
                synced_n, units_plural((int64_t)synced_n));
}

/* The time inside I/O, and what is to be known of it. */
static void print_inside(const struct profile_run *run, double wall_s, FILE *to)
{
    char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX];
    const struct profile_map *slowest = run->rank[run->io_max_rank];
    plain_line(to,
               "%-9s %s per %s on average, %s on the slowest, %s %d on %s (%.1f %% and %.1f "
               "%%)",
               interface_words(run), units_duration(run->io_s, a), profile_process_word(run, 0),
               units_duration(run->io_max_s, b), profile_process_word(run, run->io_max_rank),
               run->io_max_rank, slowest ? slowest->host : "?", 100 * run->io_s / wall_s,
               100 * run->io_max_s / wall_s);
    if (run->ranks_n > 1)
        fprintf(to, "          %s with at least one %s%s inside (%.1f %%)\n",
                units_duration(run->io_any_s, a), profile_process_word(run, 0),
                run->beside_n > 0 ? " or process beside them" : "", 100 * run->io_any_s / wall_s);
    if (run->io_wait_s > 0.01 * run->io_s)
        fprintf(
            to,
            "          without %s per rank in collective calls that the last rank had not begun: "
            "waiting or, in OMPIO, perhaps writing\n",
            units_duration(run->io_wait_s, a));
    if (run->io_max_s > 1.01 * run->io_max_any_s)
        fprintf(to,
                "          of all threads of a process together; %s with at least one thread of "
                "the slowest %s inside (%.1f %%)\n",
                units_duration(run->io_max_any_s, a), profile_process_word(run, run->io_max_rank),
                100 * run->io_max_any_s / wall_s);
    if (run->notes_max_s > 0.01 * wall_s)
        fprintf(to,
                "          %s of %s this profiler's own notes on the slowest process, of %" PRId64
                " name%s in all; --out in memory makes them short\n",
                units_duration(run->notes_max_s, a),
                run->notes_inside ? "that are" : "the run, and none of that, are", run->notes_n,
                units_plural(run->notes_n));
    print_flushes(run, to);
}

/* Where a replay of the working points does not lie in the file as the program's calls did. */
static void print_places(const struct profile_run *run, const struct points *all, FILE *to)
{
    bool far = false;
    for (int f = 0; f < all->files_n; f++)
        far = far || far_apart(extent_of(all, f));
    if (far)
        fprintf(
            to,
            "Places    processes or working points that are far apart, in a file of more than %d "
            "times what they cover, are replayed close together\n",
            FAR_APART);
    if (leave_gaps(run))
        fprintf(
            to,
            "Places    calls that leave gaps in a file are replayed in pieces of equal length at "
            "even distances; --accesses keeps their places\n");
    if (have_no_places(run))
        fprintf(
            to,
            "Places    calls through views with gaps, or with the shared pointer, are replayed "
            "from the front of the file in each working point; --accesses keeps their places\n");
}

/* A name under which a file was renamed, or to which. */
struct renamed {
    const char *name;
    int writes_n; /* phases that write, of the rank that has most, and of all processes beside */
    int own_n;    /* of the process that is looked at */
    bool used;
};

static int by_renamed(const void *a, const void *b)
{
    return strcmp(((const struct renamed *)a)->name, ((const struct renamed *)b)->name);
}

/* A workload knows files by their names: a temporary one that is written again after it was renamed is the same, and what is read
 * under the new name another. */
static void print_renamed(const struct profile_run *run, FILE *to)
{
    int64_t most = 1;
    int n = 0, kept = 0, used = 0;
    uint64_t renames = 0;
    for (int r = 0; r < run->size; r++)
        most += run->rank[r] ? run->rank[r]->files_n : 0;
    struct renamed *list = mem_new(most, sizeof *list, "%" PRId64 " files", most);
    for (int r = 0; list && r < run->size; r++)
        for (int f = 0; run->rank[r] && f < run->rank[r]->files_n; f++)
            if (run->rank[r]->file[f].trace.of[WORKLOAD_KINDS + PROFILE_RENAME].n > 0)
                list[n++].name = run->rank[r]->file[f].name;
    if (n > 0) qsort(list, (size_t)n, sizeof *list, by_renamed);
    for (int i = 0; i < n; i++)
        if (i == 0 || strcmp(list[i].name, list[kept - 1].name) != 0) list[kept++] = list[i];
    for (int r = 0; kept > 0 && r < run->size; r++) {
        const struct profile_map *m = run->rank[r];
        if (m) renames += m->other[PROFILE_RENAME].n;
        for (int i = 0; m && i < kept; i++)
            list[i].own_n = 0;
        for (int p = 0; m && p < m->phases_n; p++) {
            const struct renamed key = {.name = m->file[m->phase[p].file].name};
            struct renamed *at = bsearch(&key, list, (size_t)kept, sizeof *list, by_renamed);
            if (at) at->used = true;
            if (at && (direction_of(&m->phase[p]) & 2)) at->own_n++;
        }
        for (int i = 0; m && i < kept; i++)
            list[i].writes_n = r < run->mpi_n ? (int)num_max(list[i].writes_n, list[i].own_n)
                                              : list[i].writes_n + list[i].own_n;
    }
    bool again = false;
    for (int i = 0; i < kept; i++) {
        used += list[i].used;
        again = again || list[i].writes_n > 1;
    }
    if (again || (uint64_t)used > renames)
        fprintf(to, "Renamed   replays know a file by its name: what is written again under one "
                    "that was renamed lies over it, what is read "
                    "under its new name is another file\n");
    free(list);
}

void profile_print(const struct profile_run *run, FILE *to)
{
    char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX];
    struct points all;
    const double wall_s = fmax(run->wall_s, 1e-9); /* 0 where it failed at once */
    const int others_n = run->size - run->mpi_n;
    char others[64];
    snprintf(others, sizeof others, " and %d other process%s", others_n, others_n > 1 ? "es" : "");
    if (run->mpi_n > 0)
        fprintf(to, "Program   %d rank%s%s, %s from MPI_Init to MPI_Finalize%s\n", run->mpi_n,
                units_plural(run->mpi_n), others_n > 0 ? others : "",
                units_duration(run->wall_s, a),
                run->state == PROFILE_FINALIZED ? "" : ", which it did not reach");
    else
        fprintf(to, "Program   %d process%s with I/O, %s from the command's start to its end%s\n",
                others_n, others_n > 1 ? "es" : "", units_duration(run->wall_s, a),
                run->state == PROFILE_FINALIZED ? "" : ", not all of which ended by themselves");
    if (run->lost_n > 0)
        fprintf(to,
                "Together  %d file%s or working point%s exceeded the table and were counted with "
                "others\n",
                run->lost_n, units_plural(run->lost_n), units_plural(run->lost_n));
    const bool made = points_make(run, &all) == 0;
    if (!is_separate(run) && own_movers(run) > 1)
        fprintf(to, "Apart     %s one after the other, as %s; --accesses replays them at once\n",
                have_own_files(run) ? "the ranks' own files are replayed"
                                    : "files that not all ranks have opened are replayed",
                have_own_files(run) ? "other processes read or wrote, too"
                                    : "not every rank has as many of its own, and no others");
    else if (run->at_once || (made && have_single_at_once(&all)))
        fprintf(to, "Apart     processes that read or wrote at once are replayed one after the "
                    "other; --accesses "
                    "replays them at once\n");
    print_places(run, &all, to);
    if (made) print_renamed(run, to);
    if (run->calls[0] + run->calls[1] == 0)
        fprintf(to, "Nothing   read or written through MPI-IO or in files that it opens for "
                    "writing: the workload is empty and cannot be replayed\n");
    print_direction(run, 0, to);
    print_direction(run, 1, to);
    if (run->outside_bytes[0] + run->outside_bytes[1] > 0)
        fprintf(
            to,
            "Outside   %s of it read and %s written before MPI_Init or after MPI_Finalize, or by "
            "processes that began or ended there: not in these rates, times and shares\n",
            units_bytes((double)run->outside_bytes[0], a),
            units_bytes((double)run->outside_bytes[1], b));
    if (run->posix_calls[1] > 0 && run->posix_calls[1] < run->calls[1])
        fprintf(to, "          %s of it in %" PRId64 " call%s past MPI-IO\n",
                units_bytes((double)run->posix_bytes[1], a), run->posix_calls[1],
                units_plural(run->posix_calls[1]));
    for (int i = 0; i < run->not_seen_n; i++) {
        char text[ERR_MESSAGE_MAX];
        profile_not_seen_text(&run->not_seen[i], text);
        plain_line(to, "Not seen  %s", text);
    }
    print_inside(run, wall_s, to);
    if (made && all.n > 0) {
        print_points(&all, to);
        print_sizes(run, to);
        print_slowest(run, to);
        print_slow_calls(run, to);
    }
    points_free(&all);
}
