/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/profile/preload/count.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "companions/profile/preload/table.h"
#include "companions/profile/preload/timeline.h"

/* Room for so many at first, as most processes need no more; then twice as much, and later by steps. */
#define PHASES_FIRST 4
#define FILES_FIRST  4
#define BURSTS_FIRST 64
#define STEP         64
#define RUNS_STEP    1024
#define HELD_MAX     8 /* mutexes that a thread holds at a time, more than there are */

enum split { SPLIT_RUN, SPLIT_OPEN, SPLIT_DIRECTION, SPLIT_CALLS };

static struct profile_map *map;
static const char *dir;
static bool dropping, digests, runs_wanted;
static bool ended;                      /* what is counted now stdio has kept until the end */
static uint64_t loaded_ns;              /* when this library was */
static char own_path[PROFILE_PATH_MAX]; /* of the mapped file */
/* A part of the counters that grows: where it lies, how long an element is, how many there can be, how many have their space on the
 * disk; whether there was none for more. */
struct part {
    size_t from, each;
    int most, room;
    bool full;
};
#define PART(member, most)                                                                         \
    {                                                                                              \
        offsetof(struct profile_map, member), sizeof(((struct profile_map *)0)->member[0]), most,  \
            0, false                                                                               \
    }
static struct part file_part = PART(file, PROFILE_FILES_MAX),
                   phase_part = PART(phase, PROFILE_PHASE_MAX),
                   run_part = PART(run, PROFILE_RUNS_MAX),
                   burst_part = PART(burst, PROFILE_BURSTS_MAX),
                   together_part = PART(together, PROFILE_TOGETHER_MAX);
static enum split split = SPLIT_DIRECTION;
static uint64_t split_calls;
static struct table files;                /* struct profile_file, by name and number of processes */
static int file_phase[PROFILE_FILES_MAX]; /* for SPLIT_RUN */
static int file_run[PROFILE_FILES_MAX][WORKLOAD_RUN_CALLS]; /* 1 + the last run, 0: none */
static bool file_crowded[PROFILE_FILES_MAX]; /* it stands for others, that found no room */
static int64_t run_calls;                    /* that were entered into runs, or missed */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t beginning = PTHREAD_MUTEX_INITIALIZER; /* one thread makes the counters */
static _Thread_local int inside, back; /* back: of these, by count_called_back */
static _Thread_local struct {
    pthread_mutex_t *mutex;
    int cancel; /* state before */
} held[HELD_MAX];
static _Thread_local int held_n;
static uint64_t noted_n, noted_ns; /* notes of names until now (count_noted) */
static uint64_t io_ns;             /* inside I/O, all of it until now */
static uint64_t epoch_ns;          /* when CLOCK_MONOTONIC was 0 */

const char *count_dir(void)
{
    return dir;
}

bool count_dropping(void)
{
    return dropping;
}

bool count_digests(void)
{
    return digests;
}

bool count_runs_wanted(void)
{
    return runs_wanted;
}

int *count_inside(void)
{
    return &inside;
}

struct count_back count_called_back(void)
{
    return (struct count_back){inside++, back++};
}

void count_returned(struct count_back was)
{
    inside = was.inside;
    back = was.deep;
}

/* The calls that hold them may yet go on, and find that they do not any more. */
static void give_up_locks(void)
{
    bool any = false;
    for (int i = held_n - 1; i >= 0; i--) {
        if (!held[i].mutex) continue;
        pthread_mutex_unlock(held[i].mutex);
        held[i].mutex = NULL;
        any = true;
    }
    if (any)
        count_unseen(profile_unseen_word(PROFILE_UNSEEN_JUMP), "longjmp, exit, pthread_exit, exec");
}

void count_left(void)
{
    if (back == 0) return;
    give_up_locks();
    inside = back = 0;
}

void count_left_for(struct count_back to)
{
    if (to.deep == 0) {
        give_up_locks();
        if (held_n > 0) pthread_setcancelstate(held[0].cancel, NULL);
        held_n = 0;
    }
    count_returned(to);
}

bool count_is_back(void)
{
    return back > 0;
}

struct profile_map *count_map(void)
{
    return __atomic_load_n(&map, __ATOMIC_ACQUIRE);
}

void count_hold(pthread_mutex_t *mutex)
{
    int cancel;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    pthread_mutex_lock(mutex);
    held[held_n].mutex = mutex;
    held[held_n++].cancel = cancel;
}

void count_release(pthread_mutex_t *mutex)
{
    if (held_n == 0) return; /* given up */
    const int cancel = held[--held_n].cancel;
    if (held[held_n].mutex) pthread_mutex_unlock(mutex);
    pthread_setcancelstate(cancel, NULL);
}

/* Calls of this library itself, by whatever thread, are not counted. */
void count_lock(void)
{
    inside++;
    count_hold(&lock);
}

void count_unlock(void)
{
    count_release(&lock);
    inside--;
}

static uint64_t clock_ns(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t count_now_ns(void)
{
    return epoch_ns + clock_ns(CLOCK_MONOTONIC);
}

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && strcmp(value, "1") == 0;
}

/* A process is known as the command's by this, whatever it makes of its environment (companions/profile/behind.h); where there
 * is no room, by that. Takes no descriptor. */
static void tell_here(void)
{
    char path[PROFILE_HERE_MAX], host[256] = "";
    (void)gethostname(host, sizeof host - 1);
    snprintf(path, sizeof path, PROFILE_HERE, dir, (int)getpid(), host);
    inside++;
    const int kept = errno;
    (void)syscall(SYS_mknodat, AT_FDCWD, path, S_IFREG | 0644, 0);
    errno = kept;
    inside--;
}

bool count_setup(void)
{
    const char *how = getenv(PROFILE_ENV_SPLIT);
    if (dir) return true;
    epoch_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
    loaded_ns = count_now_ns();
    dropping = is_set(PROFILE_ENV_DROP);
    digests = is_set(PROFILE_ENV_READS);
    runs_wanted = is_set(PROFILE_ENV_RUNS);
    if (how && strcmp(how, "run") == 0) split = SPLIT_RUN;
    if (how && strcmp(how, "open") == 0) split = SPLIT_OPEN;
    if (how && strtoull(how, NULL, 10) > 0) {
        split = SPLIT_CALLS;
        split_calls = strtoull(how, NULL, 10);
    }
    /* The program may change its environment. */
    const char *where = getenv(PROFILE_ENV_DIR);
    if (where) dir = strdup(where);
    if (dir) tell_here();
    return dir != NULL;
}

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

static int more(int room)
{
    return room + (room < STEP ? room : STEP);
}

static int reserve_part(struct part *p, int n)
{
    if (n > p->most) return ENOSPC;
    const int why = reserve(p->from, (size_t)n * p->each);
    if (why == 0) p->room = n;
    return why;
}

/* Twice as much room, until once there is none. */
static void grow(struct part *p)
{
    if (!p->full) p->full = reserve_part(p, 2 * p->room) != 0;
}

bool count_fits(size_t bytes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur >= bytes) return true;
    errno = EFBIG;
    return false;
}

/* Makes and maps this process's file. Returns NULL with errno. */
static struct profile_map *map_own(void)
{
    void *at = MAP_FAILED;
    int why = 0;
    if (!count_fits(sizeof *map)) return NULL;
    const int fd = open(own_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0) return NULL;
    if (ftruncate(fd, sizeof *map) < 0 ||
        (why = reserve(0, offsetof(struct profile_map, burst))) != 0 ||
        (why = reserve_part(&burst_part, BURSTS_FIRST)) != 0 ||
        (why = reserve_part(&together_part, BURSTS_FIRST)) != 0 ||
        (why = reserve_part(&file_part, FILES_FIRST)) != 0 ||
        (why = reserve_part(&phase_part, PHASES_FIRST)) != 0 ||
        (at = mmap(NULL, sizeof *map, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) == MAP_FAILED)
        why = why ? why : errno;
    close(fd);
    if (why) unlink(own_path); /* the next call tries again */
    errno = why;
    return why ? NULL : at;
}

/* The thread that called MPI_Init, else the first one, and what it had had of its processor by then. */
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

static void begin_processors(bool rank)
{
    snprintf(first_thread.path, sizeof first_thread.path, "/proc/self/task/%ld/schedstat",
             rank ? syscall(SYS_gettid) : (long)getpid());
    first_thread.known = read_schedstat(&first_thread.ran_s, &first_thread.waited_s);
}

static void end_processors(struct profile_map *m)
{
    struct rusage used;
    double ran_s, waited_s;
    /* The kernel counts by the clock of each processor; where these differ a thread that moves may have waited
     * for less than nothing: then it is not known. */
    if (first_thread.known && read_schedstat(&ran_s, &waited_s) && ran_s >= first_thread.ran_s &&
        waited_s >= first_thread.waited_s) {
        m->ran_s = ran_s - first_thread.ran_s;
        m->waited_s = waited_s - first_thread.waited_s;
    }
    if (getrusage(RUSAGE_SELF, &used) < 0) return;
    m->user_s = (double)used.ru_utime.tv_sec + 1e-6 * (double)used.ru_utime.tv_usec;
    m->system_s = (double)used.ru_stime.tv_sec + 1e-6 * (double)used.ru_stime.tv_usec;
}

static void begin(struct profile_map *m)
{
    inside++;
    begin_processors(m->rank >= 0);
    inside--;
    m->init_s = m->last_s = 1e-9 * (double)(m->rank < 0 ? loaded_ns : count_now_ns());
}

static void outside(int write, uint64_t bytes, uint64_t ns)
{
    map->outside_bytes[write] += bytes;
    map->outside_ns += ns;
}

/* The counters that a process had before it became a rank are the rank's. */
static struct profile_map *adopt(int rank, int size)
{
    char to[PROFILE_PATH_MAX];
    snprintf(to, sizeof to, "%.4000s/rank-%d", dir, rank);
    if (link(own_path, to) < 0) return NULL; /* there may be one of another MPI program */
    unlink(own_path);
    memcpy(own_path, to, sizeof own_path);
    map->rank = rank;
    map->size = size;
    for (int p = 0; p < map->phases_n; p++)
        for (int k = 0; k < WORKLOAD_KINDS; k++)
            outside(k % 2, map->phase[p].kind[k].bytes, map->phase[p].kind[k].ns);
    for (int o = 0; o < PROFILE_OTHERS; o++)
        outside(0, 0, map->other[o].ns);
    map->bursts_n = 0;
    map->notes_n = map->notes_ns = noted_n = noted_ns = 0;
    begin(map);
    return map;
}

static struct profile_map *begin_once(int rank, int size)
{
    if (map) return rank < 0 || map->rank >= 0 ? map : adopt(rank, size);
    inside++;
    if (rank >= 0)
        snprintf(own_path, sizeof own_path, "%.4000s/rank-%d", dir, rank);
    else
        snprintf(own_path, sizeof own_path, "%.4000s/process-%d-%llx", dir, (int)getpid(),
                 (unsigned long long)loaded_ns);
    struct profile_map *m = map_own();
    inside--;
    if (!m) return NULL;
    for (int f = 0; f < PROFILE_FILES_MAX; f++)
        file_phase[f] = -1;
    m->rank = rank;
    m->size = size;
    m->pid = getpid();
    m->parent = getppid();
    m->state = ended && rank < 0 ? PROFILE_FINALIZED : PROFILE_RUNNING;
    m->dropping = dropping;
    m->by_direction = split == SPLIT_DIRECTION;
    gethostname(m->host, sizeof m->host - 1);
    snprintf(m->program, sizeof m->program, "%s", program_invocation_short_name);
    begin(m);
    timeline_begin(m, m->init_s);
    m->magic = PROFILE_MAGIC;
    __atomic_store_n(&map, m, __ATOMIC_RELEASE);
    return m;
}

struct profile_map *count_begin(int rank, int size)
{
    inside++;
    count_hold(&beginning);
    struct profile_map *m = begin_once(rank, size);
    const int why = errno;
    count_release(&beginning);
    inside--;
    errno = why;
    return m;
}

void count_end(void)
{
    if (!map || map->state != PROFILE_RUNNING) return;
    inside++;
    map->last_s = 1e-9 * (double)count_now_ns();
    end_processors(map);
    map->state = PROFILE_FINALIZED;
    inside--;
}

void count_leaving(void)
{
    count_end();
    ended = true;
}

void count_going_on(void)
{
    ended = false;
    if (map && map->rank < 0) map->state = PROFILE_RUNNING;
}

void count_forked(void)
{
    ended = false;
    held_n = 0;
    map = NULL;
    files = (struct table){0}; /* it may be half done: nothing of it is freed */
    memset(file_run, 0, sizeof file_run);
    memset(file_crowded, 0, sizeof file_crowded);
    file_part.room = phase_part.room = run_part.room = burst_part.room = together_part.room = 0;
    burst_part.full = together_part.full = false;
    run_calls = 0;
    io_ns = noted_n = noted_ns = 0;
    loaded_ns = count_now_ns();
    pthread_mutex_init(&lock, NULL);
    pthread_mutex_init(&beginning, NULL);
    const struct count_back was = {inside, back};
    back = 0; /* also where it was forked in a handler: this is the library's own */
    tell_here();
    count_returned(was);
}

static void count(struct profile_calls *c, uint64_t bytes, uint64_t ns)
{
    c->n++;
    c->bytes += bytes;
    c->ns += ns;
    if (ns > c->ns_max) c->ns_max = ns;
}

/* A rank that has called MPI_Finalize. */
static bool is_past(void)
{
    return map->rank >= 0 && map->state == PROFILE_FINALIZED;
}

/* Enters a call into the timeline and, before MPI_Finalize, into the bursts. comm_size: of the ranks that make it together. */
static void spread(int write, int64_t bytes, int comm_size, uint64_t start_ns, uint64_t end_ns,
                   uint64_t before_ns)
{
    timeline_add(map, write, bytes, 1e-9 * (double)start_ns, 1e-9 * (double)end_ns);
    if (is_past()) return;
    const bool all = comm_size > 1 && comm_size == map->size;
    if (all && map->together_n == together_part.room) grow(&together_part);
    if (all && map->together_n < together_part.room) {
        map->together[map->together_n++] =
            (struct profile_together){.begin_ns = start_ns - before_ns, .end_ns = end_ns};
        return;
    }
    if (map->bursts_n == burst_part.room) grow(&burst_part);
    timeline_burst(map, burst_part.room, start_ns - before_ns, end_ns);
}

void count_noted(uint64_t start_ns)
{
    __atomic_fetch_add(&noted_n, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&noted_ns, count_now_ns() - start_ns, __ATOMIC_RELAXED);
}

uint64_t count_begun(uint64_t start_ns)
{
    return digests ? start_ns : count_now_ns();
}

/* Enters the notes until now, which were made before there were counters, too. */
static void enter_notes(void)
{
    if (is_past()) return;
    const uint64_t ns = __atomic_load_n(&noted_ns, __ATOMIC_RELAXED);
    if (!digests) io_ns += ns - map->notes_ns; /* the program does not think meanwhile */
    map->notes_n = __atomic_load_n(&noted_n, __ATOMIC_RELAXED);
    map->notes_ns = ns;
    map->notes_inside = digests;
}

void count_other(enum profile_other what, int comm_size, uint64_t start_ns)
{
    const uint64_t end_ns = count_now_ns();
    count_lock();
    enter_notes();
    count(&map->other[what], 0, end_ns - start_ns);
    io_ns += end_ns - start_ns;
    spread(0, 0, comm_size, start_ns, end_ns, 0);
    if (map->state == PROFILE_RUNNING) map->last_s = 1e-9 * (double)end_ns;
    if (is_past()) outside(0, 0, end_ns - start_ns);
    count_unlock();
}

void count_synced(void)
{
    count_lock();
    map->synced_n++;
    count_unlock();
}

/* Whether a file lies on a file system that no other node has: by its type, of the usual ones; -1: there is no file. Each file
 * system is asked once, as far as there is room. */
static int is_local(const char *name)
{
    static const uint32_t type[] = {
        0xef53,     0x58465342, 0x9123683e, 0x01021994, 0x858458f6,
        0xf2f52010, 0x794c7630, 0x2fc12fc1}; /* ext, XFS, Btrfs, tmpfs, ramfs, F2FS, overlay, ZFS */
    static struct {
        dev_t device;
        int local;
    } known[8];
    static size_t known_n;
    struct stat st;
    struct statfs fs;
    int found = -1;
    inside++;
    if (stat(name, &st) == 0) {
        for (size_t k = 0; k < known_n; k++)
            if (known[k].device == st.st_dev) found = known[k].local;
        if (found < 0 && statfs(name, &fs) == 0) {
            found = 0;
            for (size_t t = 0; t < sizeof type / sizeof type[0]; t++)
                if ((uint32_t)fs.f_type == type[t]) found = 1;
            if (known_n < sizeof known / sizeof known[0]) {
                known[known_n].device = st.st_dev;
                known[known_n++].local = found;
            }
        }
    }
    inside--;
    return found;
}

int count_file(const char *name, int comm_size, int comm_rank, enum profile_interface interface)
{
    uint64_t key = table_hash(name) + 2 * (uint64_t)comm_size + interface;
    struct profile_file *file;
    while ((file = table_find(&files, key)) &&
           (strncmp(file->name, name, sizeof file->name - 1) != 0 || file->comm_size != comm_size ||
            file->interface != (int)interface))
        key++;
    const int n = map->files_n;
    if (!file && (n == PROFILE_FILES_MAX ||
                  (n == file_part.room && reserve_part(&file_part, more(file_part.room)) != 0) ||
                  table_put(&files, key, &map->file[n]) < 0)) {
        map->files_lost++;
        file_crowded[n - 1] = true;
        return n - 1;
    }
    if (!file) {
        file = &map->file[n];
        snprintf(file->name, sizeof file->name, "%s", name);
        file->local = -1;
        map->files_n++;
    }
    if (file->local < 0) file->local = is_local(name);
    file->comm_size = comm_size;
    file->comm_rank = comm_rank;
    file->interface = (int)interface;
    file->opens_n++;
    return (int)(file - map->file);
}

void count_chosen(int file, const char *name, int at)
{
    struct profile_file *f = &map->file[file];
    if (strcmp(f->name, name) == 0) f->chosen = at; /* else it is counted with another */
}

void count_trace(int file, int function, int64_t bytes, int64_t at)
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

struct profile_phase *count_phase(struct use *o, bool write, uint64_t start_ns)
{
    int at = split == SPLIT_RUN ? file_phase[o->file] : o->phase;
    if (at >= 0 && split == SPLIT_DIRECTION && o->last_write != write) at = -1;
    if (at >= 0 && split == SPLIT_CALLS && o->calls >= split_calls) at = -1;
    if (at < 0 && (map->phases_n == PROFILE_PHASE_MAX ||
                   (map->phases_n == phase_part.room &&
                    reserve_part(&phase_part, more(phase_part.room)) != 0))) {
        map->phases_lost++;
        at = map->phases_n - 1;
    } else if (at < 0) {
        at = map->phases_n;
        map->phase[at].file = o->file;
        map->phase[at].ordinal = map->file[o->file].phases_n++;
        map->phase[at].comm_size = o->comm_size;
        map->phase[at].comm_rank = o->comm_rank;
        map->phase[at].opening = split == SPLIT_RUN ? 0 : o->opening;
        map->phase[at].begin_s = 1e-9 * (double)start_ns;
        map->phases_n++;
        o->calls = 0;
    }
    o->phase = file_phase[o->file] = at;
    o->last_write = write;
    o->calls++;
    return &map->phase[at];
}

struct profile_slow *count_slow(uint64_t ns)
{
    static int fastest; /* of them, to be replaced */
    if (fastest < 0 || ns <= map->slow[fastest].ns) {
        for (int i = fastest = 0; i < PROFILE_SLOW; i++)
            if (map->slow[i].ns < map->slow[fastest].ns) fastest = i;
        if (ns <= map->slow[fastest].ns) return NULL;
    }
    struct profile_slow *const at = &map->slow[fastest];
    fastest = -1; /* to be found when it is entered */
    return at;
}

static void miss(struct profile_missed *m, int64_t bytes)
{
    m->n++;
    m->bytes += (uint64_t)bytes;
}

void count_run(int file, enum workload_run_call call, int flags, int64_t at, int64_t bytes)
{
    if (!runs_wanted) return;
    const struct workload_run one = {.file = file,
                                     .call = (int16_t)call,
                                     .flags = (int16_t)flags,
                                     .offset = at,
                                     .bytes = bytes,
                                     .n = 1,
                                     .order = run_calls++};
    int *const last = &file_run[file][call];
    if (file_crowded[file]) {
        miss(&map->lost, bytes); /* of which file it is nobody knows */
    } else if (at < 0) {
        miss(&map->unplaced, bytes);
    } else if (*last > 0 && workload_run_join(&map->run[*last - 1], &one)) {
        return;
    } else if (map->runs_n == run_part.room &&
               reserve_part(&run_part, run_part.room + RUNS_STEP) != 0) {
        miss(&map->lost, bytes);
    } else {
        map->run[map->runs_n] = one;
        *last = ++map->runs_n;
    }
}

void count_half(uint64_t ns)
{
    io_ns += ns;
}

void count_access(struct use *use, struct profile_phase *p, int kind, int64_t bytes,
                  uint64_t start_ns, uint64_t end_ns, uint64_t before_ns)
{
    const int write = kind % 2;
    int log2 = 0;
    while (log2 + 1 < PROFILE_SIZES && bytes >> (log2 + 1) > 0)
        log2++;
    count(&p->kind[kind], (uint64_t)bytes, end_ns - start_ns + before_ns);
    p->sizes[write][log2]++;
    io_ns += end_ns - start_ns;
    if (use->calls > 1) {
        /* Another thread may have been faster to get here. */
        const uint64_t passed = end_ns > use->end_ns ? end_ns - use->end_ns : 0,
                       inside_ns = io_ns - use->end_io_ns;
        p->think_ns += passed > inside_ns ? passed - inside_ns : 0;
    }
    use->end_ns = end_ns;
    use->end_io_ns = io_ns;
    p->end_s = 1e-9 * (double)end_ns;
    if (map->state == PROFILE_RUNNING) map->last_s = p->end_s;
    if (is_past()) outside(write, (uint64_t)bytes, end_ns - start_ns + before_ns);
    spread(write, bytes, workload_kind_of(kind).collective ? use->comm_size : 1, start_ns, end_ns,
           before_ns);
}

static void path_of_unseen(const char *what, char path[PROFILE_PATH_MAX])
{
    snprintf(path, PROFILE_PATH_MAX, "%.4000s/unseen-%s-%d", dir, what, (int)getpid());
}

bool count_unseen(const char *what, const char *name)
{
    char path[PROFILE_PATH_MAX], text[PROFILE_PATH_MAX + 300];
    if (!dir) return false;
    path_of_unseen(what, path);
    const struct count_back was = {inside++, back};
    back = 0; /* what follows are calls of this library */
    const int kept = errno;
    const int n =
        snprintf(text, sizeof text, "%.255s\n%.3800s\n", program_invocation_short_name, name);
    const int fd =
        count_fits((size_t)n) ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644) : -1;
    bool told = fd >= 0;
    if (fd >= 0) {
        if (write(fd, text, (size_t)n) < 0) unlink(path);
        close(fd);
    } else if (errno == EMFILE || errno == ENFILE || errno == EFBIG) {
        told = symlink(text, path) == 0; /* which takes no descriptor, and has no length */
    }
    errno = kept;
    count_returned(was);
    return told;
}

bool count_unseen_why(int why, const char *name)
{
    const bool few = why == EMFILE || why == ENFILE;
    return count_unseen(profile_unseen_word(few                   ? PROFILE_UNSEEN_DESCRIPTORS
                                            : why == EFBIG        ? PROFILE_UNSEEN_LIMIT
                                            : why == ENAMETOOLONG ? PROFILE_UNSEEN_LONG
                                                                  : PROFILE_UNSEEN_MEMORY),
                        name);
}

void count_unseen_unless_here(const char *what)
{
    char path[PROFILE_PATH_MAX];
    const int kept = errno;
    path_of_unseen(what, path);
    inside++;
    if (faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) == 0) unlink(path);
    inside--;
    errno = kept;
}

void count_no_room(const char *name)
{
    const int why = errno;
    count_unseen_why(why, name);
    if (!dropping) return;
    inside++;
    fprintf(stderr, "nht1-profile: %s: %s cannot be followed: %s: %s\n",
            program_invocation_short_name, name, dir, strerror(why));
    _exit(4);
}
