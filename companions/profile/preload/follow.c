/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/profile/preload/follow.h"

#include <dirent.h>
#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NUMBERS_MAX 65536
#define TICK_NS     4000000 /* how exact the time of a file is, about */
#define OWN_FIRST   700     /* where this library's own numbers begin, out of the program's way */
#define CALL_MAX    0x7ffff000 /* bytes that one call of Linux moves at most */

static struct followed ignored;
static struct followed *numbers[NUMBERS_MAX]; /* NULL: not known */
static struct followed *unused; /* through name; never freed: another thread may look at it */
static uint8_t own[NUMBERS_MAX / 8];
static bool on;
static pid_t process;
static int64_t
    end_of[PROFILE_FILES_MAX]; /* where this process's last call on a file ended, and 1 */
/* Bytes that a thread has written: that passed here, and before it began to count. A process's own count
 * holds that of its children, too. */
static _Thread_local uint64_t seen, seen_base;

bool follow_on(void)
{
    return __atomic_load_n(&on, __ATOMIC_ACQUIRE) && *count_inside() == 0;
}

bool follow_back(void)
{
    return __atomic_load_n(&on, __ATOMIC_ACQUIRE) && count_is_back();
}

/* The library that this is in, NULL for none. By the C library's lock only where it cannot without: a thread that ends in the
 * handler of a signal would leave it locked. */
static const char *library_at(const void *address)
{
#ifdef DLFO_STRUCT_HAS_EH_DBASE /* GNU C library 2.35 */
    struct dl_find_object found;
    return _dl_find_object((void *)(uintptr_t)address, &found) == 0 ? found.dlfo_link_map->l_name
                                                                    : NULL;
#else
    Dl_info info;
    return dladdr(address, &info) ? info.dli_fname : NULL;
#endif
}

bool follow_is_mpi(const void *caller)
{
    static const char *const part[] = {"libmpi",  "libopen-", "libpmi",    "mca_",
                                       "libmca_", "libprrte", "libfabric", "libuc",
                                       "libpsm",  "libhwloc", "libefa"};
    const char *name = caller ? library_at(caller) : NULL;
    if (!name) return false;
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++)
        if (strncmp(base, part[i], strlen(part[i])) == 0) return true;
    return false;
}

void follow_stop(void)
{
    __atomic_store_n(&on, false, __ATOMIC_RELEASE);
}

bool follow_is_process(void)
{
    return getpid() == process;
}

struct followed *follow_find(int fd)
{
    if (fd < 0 || fd >= NUMBERS_MAX) return NULL;
    struct followed *f = __atomic_load_n(&numbers[fd], __ATOMIC_ACQUIRE);
    return f == &ignored ? NULL : f;
}

static void set_file(int fd, struct followed *f)
{
    if (fd < 0) return;
    if (fd < NUMBERS_MAX)
        __atomic_store_n(&numbers[fd], f, __ATOMIC_RELEASE);
    else if (f && f != &ignored)
        count_unseen(profile_unseen_word(PROFILE_UNSEEN_MANY), f->name);
}

void follow_ignore(int fd)
{
    set_file(fd, &ignored);
}

int follow_add(int fd, const char *whole, int flags, struct profile_before *note,
               struct profile_stand_in *state)
{
    if (fd < 0) return 0;
    if (fd >= NUMBERS_MAX) {
        count_unseen(profile_unseen_word(PROFILE_UNSEEN_MANY), whole);
        return 0;
    }
    char *const name = strdup(whole);
    count_lock();
    struct followed *f = unused;
    if (f)
        unused = (struct followed *)(void *)f->name;
    else
        f = malloc(sizeof *f);
    count_unlock();
    if (!f || !name) {
        free(f);
        free(name);
        count_unseen(profile_unseen_word(PROFILE_UNSEEN_MEMORY), whole);
        return -1;
    }
    const int mode = flags & O_ACCMODE;
    const bool written = mode == O_WRONLY || mode == O_RDWR || (state && state->written) ||
                         (!state && note && note->written);
    *f = (struct followed){.refs = 1,
                           .use = {.file = -1, .comm_size = 1, .phase = -1},
                           .name = name,
                           .counted = !(flags & O_PATH) && (written || paths_asked()),
                           .flags = flags,
                           .content = -1,
                           .note = note,
                           .state = state};
    set_file(fd, f);
    return 0;
}

void follow_same(int fd, int old)
{
    struct followed *f = follow_find(old);
    if (old >= 0 && old < NUMBERS_MAX && !f) {
        set_file(fd, __atomic_load_n(&numbers[old], __ATOMIC_ACQUIRE));
        return;
    }
    if (f) __atomic_fetch_add(&f->refs, 1, __ATOMIC_RELAXED);
    set_file(fd, f);
}

struct followed *follow_take(int fd)
{
    if (fd < 0 || fd >= NUMBERS_MAX) return NULL;
    struct followed *f = __atomic_exchange_n(&numbers[fd], NULL, __ATOMIC_ACQ_REL);
    return f == &ignored ? NULL : f;
}

static void close_own(int fd)
{
    if (fd < 0) return;
    if (fd < NUMBERS_MAX)
        __atomic_fetch_and(&own[fd / 8], (uint8_t) ~(1u << fd % 8), __ATOMIC_RELAXED);
    (*count_inside())++;
    close(fd);
    (*count_inside())--;
}

bool follow_is_own(int fd)
{
    return fd >= 0 && fd < NUMBERS_MAX &&
           ((__atomic_load_n(&own[fd / 8], __ATOMIC_RELAXED) >> fd % 8) & 1);
}

void follow_end(struct followed *f)
{
    if (!f || __atomic_sub_fetch(&f->refs, 1, __ATOMIC_ACQ_REL) > 0) return;
    close_own(f->content);
    paths_unmap(f->state);
    free(f->name);
    count_lock();
    f->name = (char *)(void *)unused;
    unused = f;
    count_unlock();
}

/* ------------------------------------------------------------------ numbers of unknown origin */

static uint64_t written_by_thread(void)
{
    char text[512];
    unsigned long long bytes = 0;
    (*count_inside())++;
    const int fd = open("/proc/thread-self/io", O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    (*count_inside())--;
    text[n > 0 ? n : 0] = '\0';
    const char *at = strstr(text, "wchar:");
    return at && sscanf(at, "wchar: %llu", &bytes) == 1 ? bytes : UINT64_MAX;
}

int64_t follow_unseen_bytes(void)
{
    const uint64_t all = written_by_thread();
    if (all == UINT64_MAX || seen_base == UINT64_MAX) return 0;
    return all - seen_base > seen ? (int64_t)(all - seen_base - seen) : 0;
}

void follow_pardon(int64_t unseen)
{
    const int kept = errno;
    const int64_t now = follow_unseen_bytes();
    if (now > unseen) seen += (uint64_t)(now - unseen);
    errno = kept;
}

/* Finds out what a number is. inherited: the process had it when it began. */
static void look_at(int fd, bool inherited)
{
    char link[64], path[PROFILE_PATH_MAX];
    struct stat st;
    const char *dir = count_dir();
    (*count_inside())++;
    const bool file = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t n = file ? readlink(link, path, sizeof path - 1) : -1;
    const int flags = n < 0 ? 0 : fcntl(fd, F_GETFL);
    path[n > 0 ? n : 0] = '\0';
    struct profile_stand_in *state = NULL;
    if (n > 0 && count_dropping() && strncmp(path, dir, strlen(dir)) == 0 &&
        strncmp(path + strlen(dir), "/now-", 5) == 0)
        state = paths_map(link);
    (*count_inside())--;
    struct profile_before *note = NULL;
    set_file(fd, &ignored);
    if (state) {
        follow_add(fd, state->name, flags, paths_find(state->name), state);
    } else if (n > 0 && path[0] == '/' && st.st_nlink == 0) {
        /* Of what was inherited only files of this run's own, removed since; else the C library's tmpfile. What memfd_create gives
         * is memory. */
        if (inherited && paths_removed(link, path)) note = paths_find(path);
        if (note && note->written)
            follow_add(fd, path, flags, note, NULL);
        else if (!inherited && paths_followed(path) && strncmp(path, "/memfd:", 7) != 0)
            count_unseen(profile_unseen_word(PROFILE_UNSEEN_NAMELESS), path);
    } else if (n > 0 && path[0] == '/' && paths_followed(path)) {
        note = paths_find(path);
        if (inherited ? note && note->written : true) {
            if (!inherited) count_unseen(profile_unseen_word(PROFILE_UNSEEN_OPENED), path);
            follow_add(fd, path, flags, note, NULL);
        }
    }
}

void follow_seen(int fd, ssize_t written)
{
    if (written > 0) seen += (uint64_t)written;
    if (!follow_on() || written <= 0 || fd < 0 || fd >= NUMBERS_MAX ||
        __atomic_load_n(&numbers[fd], __ATOMIC_RELAXED) || !follow_is_process())
        return;
    const int kept = errno;
    look_at(fd, false);
    errno = kept;
}

void follow_begin(void)
{
    process = getpid();
    seen_base = written_by_thread();
    (*count_inside())++;
    DIR *d = opendir("/proc/self/fd");
    for (struct dirent *e; d && (e = readdir(d));) {
        const int fd = atoi(e->d_name);
        if (e->d_name[0] != '.' && fd != dirfd(d)) look_at(fd, true);
    }
    if (d) closedir(d);
    (*count_inside())--;
    __atomic_store_n(&on, true, __ATOMIC_RELEASE);
}

void follow_forked(void)
{
    process = getpid();
    count_forked();
    paths_forked();
    unused = NULL;
    seen_base = written_by_thread();
    seen = 0;
    memset(end_of, 0, sizeof end_of);
    for (int fd = 0; fd < NUMBERS_MAX; fd++) {
        struct followed *f = follow_find(fd);
        if (!f) continue;
        f->use.file = f->use.phase = -1;
        f->use.calls = 0;
    }
}

/* ------------------------------------------------------------------ counting */

/* The counters, made when the first call is counted. A run without writes goes on with all of them, or not
 * at all. */
static bool ready(void)
{
    if (count_map() || count_begin(-1, 0)) return true;
    const int why = errno;
    (*count_inside())++;
    fprintf(stderr, "nht1-profile: %s is not profiled: %s: %s\n", program_invocation_short_name,
            count_dir(), strerror(why));
    count_unseen_why(why, "its calls");
    if (count_dropping()) _exit(4);
    (*count_inside())--;
    follow_stop();
    return false;
}

/* Enters an open file into the counters of this process, locked. */
static void enter(struct followed *f)
{
    if (f->use.file < 0) f->use.file = paths_count(f->name, 1, 0, PROFILE_POSIX);
}

void follow_chosen(int fd, const char *whole, int at)
{
    count_lock();
    const struct followed *f = fd >= 0 ? follow_find(fd) : NULL;
    if (f && f->use.file >= 0) count_chosen(f->use.file, whole, at);
    count_unlock();
}

/* How the file of a call was open, as runs have it. */
static int run_flags(int flags)
{
    const int mode = flags & O_ACCMODE, sync = flags & O_SYNC;
    return (mode == O_RDONLY   ? WORKLOAD_RUN_RDONLY
            : mode == O_WRONLY ? WORKLOAD_RUN_WRONLY
                               : WORKLOAD_RUN_RDWR) |
           (flags & O_DIRECT ? WORKLOAD_RUN_DIRECT : 0) |
           (sync == O_SYNC   ? WORKLOAD_RUN_SYNC
            : sync & O_DSYNC ? WORKLOAD_RUN_DSYNC
                             : 0) |
           (flags & O_TRUNC && mode != O_RDONLY ? WORKLOAD_RUN_TRUNC : 0) |
           (flags & O_APPEND ? WORKLOAD_RUN_APPEND : 0);
}

void follow_other(struct followed *f, enum profile_other what, int64_t at, uint64_t start_ns)
{
    const int kept = errno;
    if (f->counted && ready()) {
        count_other(what, 1, start_ns);
        if (what == PROFILE_OPEN && (at & O_DSYNC) && (at & O_ACCMODE) != O_RDONLY) count_synced();
        count_lock();
        enter(f);
        count_trace(f->use.file, WORKLOAD_KINDS + (int)what, 0, at);
        count_unlock();
    }
    errno = kept;
}

void follow_flush(struct followed *f, int call, int64_t at, int rc, uint64_t start_ns)
{
    const int kept = errno;
    follow_other(f, PROFILE_SYNC, at, start_ns);
    if (rc == 0 && f->counted && ready()) {
        count_lock();
        enter(f);
        count_run(f->use.file, call, run_flags(f->flags), 0, 0);
        count_unlock();
    }
    errno = kept;
}

void follow_flush_all(uint64_t start_ns)
{
    const int kept = errno;
    if (follow_is_process() && ready()) count_other(PROFILE_SYNC, 1, start_ns);
    errno = kept;
}

static void trace_name(const char *whole, bool folder, enum profile_other what, int64_t at)
{
    count_lock();
    count_trace(paths_count(whole, 1, 0, folder ? PROFILE_FOLDER : PROFILE_POSIX),
                WORKLOAD_KINDS + (int)what, 0, at);
    count_unlock();
}

void follow_name(const char *whole, bool folder, enum profile_other what, int64_t at,
                 uint64_t start_ns)
{
    const int kept = errno;
    if (ready()) {
        count_other(what, 1, start_ns);
        trace_name(whole, folder, what, at);
    }
    errno = kept;
}

void follow_rename(const char *from, const char *to, uint64_t start_ns)
{
    const int kept = errno;
    if (ready()) {
        count_other(PROFILE_RENAME, 1, start_ns);
        trace_name(from, false, PROFILE_RENAME, 0);
        trace_name(to, false, PROFILE_RENAME, 1);
    }
    errno = kept;
}

bool follow_access(struct access *a, int fd, bool write, int64_t at, int64_t bytes)
{
    if (!follow_on()) return false;
    struct followed *f = follow_find(fd);
    if (!f || (f->flags & O_PATH)) return false;
    *a = (struct access){.f = f,
                         .fd = fd,
                         .write = write,
                         .appends = write && (f->flags & O_APPEND),
                         .at = at,
                         .bytes = bytes < CALL_MAX ? bytes : CALL_MAX,
                         .start_ns = count_now_ns()};
    return true;
}

bool follow_answers(const struct access *a)
{
    return a->f->state != NULL;
}

/* What is read instead of a stand-in, -1: there is nothing. */
static int content_of(struct followed *f)
{
    char path[PROFILE_PATH_MAX];
    int at = __atomic_load_n(&f->content, __ATOMIC_ACQUIRE);
    if (at != -1) return at;
    (*count_inside())++;
    const int fd = paths_content(f->state, path) == 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0 && (errno == EMFILE || errno == ENFILE)) count_unseen_why(errno, f->name);
    int moved = fd < 0 ? -2 : fcntl(fd, F_DUPFD_CLOEXEC, OWN_FIRST);
    if (fd >= 0 && moved < 0)
        moved = fd; /* the program may have few numbers */
    else if (fd >= 0)
        close(fd);
    (*count_inside())--;
    if (moved >= 0 && moved < NUMBERS_MAX)
        __atomic_fetch_or(&own[moved / 8], (uint8_t)(1u << moved % 8), __ATOMIC_RELAXED);
    if (__atomic_compare_exchange_n(&f->content, &at, moved, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return moved;
    close_own(moved);
    return at;
}

/* Fills buffers with what the real run has left; zeros where there is nothing. */
static void fill(struct followed *f, const struct iovec *into, int n, int64_t at, int64_t bytes)
{
    const int content = content_of(f);
    (*count_inside())++;
    for (int i = 0; i < n && bytes > 0; i++) {
        const int64_t room = (int64_t)into[i].iov_len < bytes ? (int64_t)into[i].iov_len : bytes;
        int64_t got = 0;
        for (ssize_t more = 1; more > 0 && got < room && content >= 0; got += more > 0 ? more : 0)
            more = pread(content, (char *)into[i].iov_base + got, (size_t)(room - got), at + got);
        memset((char *)into[i].iov_base + got, 0, (size_t)(room - got));
        at += room;
        bytes -= room;
    }
    (*count_inside())--;
}

static ssize_t drop(struct access *a)
{
    struct profile_stand_in *s = a->f->state;
    if ((a->f->flags & O_ACCMODE) == O_RDONLY) {
        errno = EBADF;
        return -1;
    }
    (*count_inside())++;
    int64_t end = -1;
    if (a->bytes > 0 &&
        a->start_ns - __atomic_load_n(&a->f->touched_ns, __ATOMIC_RELAXED) > TICK_NS) {
        __atomic_store_n(&a->f->touched_ns, a->start_ns, __ATOMIC_RELAXED);
        futimens(a->fd, NULL);
    }
    if (a->appends) {
        end = __atomic_add_fetch(&s->size, a->bytes, __ATOMIC_RELAXED);
        if (a->at < 0 && a->bytes > 0) lseek(a->fd, end, SEEK_SET);
    } else {
        end = a->at >= 0 ? a->at + a->bytes : lseek(a->fd, a->bytes, SEEK_CUR);
        if (a->bytes > 0) paths_grow(s, end);
    }
    (*count_inside())--;
    return a->bytes;
}

ssize_t follow_answer(struct access *a, const struct iovec *into, int n)
{
    struct followed *f = a->f;
    if (a->write) return drop(a);
    if ((f->flags & O_ACCMODE) == O_WRONLY) {
        errno = EBADF;
        return -1;
    }
    const int64_t size = __atomic_load_n(&f->state->size, __ATOMIC_RELAXED);
    (*count_inside())++;
    const int64_t end = a->at >= 0 ? a->at + a->bytes : lseek(a->fd, a->bytes, SEEK_CUR);
    const int64_t begin = end - a->bytes;
    const int64_t got = begin >= size ? 0 : end <= size ? a->bytes : size - begin;
    if (a->at < 0 && got < a->bytes) lseek(a->fd, begin + got, SEEK_SET);
    (*count_inside())--;
    if (got > 0) fill(f, into, n, begin, got);
    /* What was in the file before the program wrote it the real run has not kept. */
    if (got > 0 && f->note && (!f->state->written || !f->counted))
        count_unseen(profile_unseen_word(PROFILE_UNSEEN_EARLIER), f->name);
    return got;
}

/* A sum of what lies at places in a file, whose words of 8 bytes each have a factor: it does not depend on how it was
 * read. */
static uint64_t digest_of(const struct iovec *into, int n, int64_t at, int64_t bytes)
{
    uint64_t sum = 0, word;
    for (int i = 0; i < n && bytes > 0; i++) {
        const int64_t room = (int64_t)into[i].iov_len < bytes ? (int64_t)into[i].iov_len : bytes;
        const unsigned char *from = into[i].iov_base;
        for (int64_t b = 0, some; b < room; b += some) {
            const uint64_t place = (uint64_t)(at + b) / 8;
            const unsigned in = (unsigned)((at + b) % 8);
            uint64_t factor = (place + 1) * UINT64_C(0x9e3779b97f4a7c15);
            factor = ((factor ^ factor >> 32) * UINT64_C(0xd6e8feb86659fd93)) | 1;
            some = 8 - in < room - b ? 8 - in : room - b;
            if (some == 8) {
                memcpy(&word, from + b, sizeof word);
                word = le64toh(word);
            } else {
                word = 0;
                for (int64_t k = 0; k < some; k++)
                    word |= (uint64_t)from[b + k] << 8 * (in + k);
            }
            sum += word * factor;
        }
        at += room;
        bytes -= room;
    }
    return sum;
}

/* The same of what was copied out of a file, which nobody has in memory. */
static uint64_t digest_copied(const struct access *a, int64_t at, int64_t bytes)
{
    char piece[1 << 14];
    uint64_t sum = 0;
    (*count_inside())++;
    for (ssize_t got = 1; got > 0 && bytes > 0; at += got, bytes -= got) {
        const struct iovec one = {piece,
                                  bytes < (int64_t)sizeof piece ? (size_t)bytes : sizeof piece};
        got = a->f->state ? (ssize_t)one.iov_len : pread(a->fd, piece, one.iov_len, at);
        if (a->f->state) fill(a->f, &one, 1, at, got);
        if (got > 0) sum += digest_of(&one, 1, at, got);
    }
    (*count_inside())--;
    return sum;
}

/* Where a call of so many bytes has begun: the place it names, or the place of the file or, appended, its end, less
 * the bytes. */
static int64_t begin_of(const struct access *a, int64_t bytes)
{
    struct stat st;
    int64_t end = a->at + bytes;
    if (a->at >= 0 && !a->appends) return a->at;
    (*count_inside())++;
    if (a->at < 0)
        end = lseek(a->fd, 0, SEEK_CUR);
    else if (a->f->state)
        end = __atomic_load_n(&a->f->state->size, __ATOMIC_RELAXED);
    else if (fstat(a->fd, &st) == 0)
        end = st.st_size;
    (*count_inside())--;
    return end - bytes;
}

ssize_t follow_over(struct access *a, ssize_t got, const struct iovec *into, int n)
{
    struct followed *f = a->f;
    const int kept = errno;
    const uint64_t end_ns = a->end_ns ? a->end_ns : count_now_ns();
    const int64_t bytes = got > 0 ? got : 0;
    const int kind = a->at >= 0 ? WORKLOAD_KIND(EXPLICIT, 0, BLOCKING, 0) + a->write
                                : WORKLOAD_KIND(INDIVIDUAL, 0, BLOCKING, 0) + a->write;
    if (a->write && got > 0 && !f->state) seen += (uint64_t)got;
    if (!f->counted || !ready()) {
        errno = kept;
        return got;
    }
    const int64_t begin = begin_of(a, bytes);
    const bool written = f->state ? f->state->written : f->note && f->note->written;
    const bool compare = !a->write && bytes > 0 && count_digests() && written;
    const uint64_t sum = !compare ? 0
                         : into   ? digest_of(into, n, begin, bytes)
                                  : digest_copied(a, begin, bytes);
    struct profile_map *map = count_map();
    count_lock();
    enter(f);
    struct profile_phase *p = count_phase(&f->use, a->write, a->start_ns);
    count_access(&f->use, p, kind, bytes, a->start_ns, end_ns, 0);
    /* Where an appended piece lies depends on others, who may be faster. */
    count_trace(f->use.file, kind, bytes, a->appends ? 0 : begin);
    map->file[f->use.file].trace.read_sum += sum;
    if (got >= 0)
        count_run(f->use.file, (a->at >= 0 ? WORKLOAD_RUN_PREAD : WORKLOAD_RUN_READ) + a->write,
                  run_flags(f->flags), begin, bytes);
    struct profile_slow *slow = count_slow(end_ns - a->start_ns);
    if (slow)
        *slow = (struct profile_slow){.ns = end_ns - a->start_ns,
                                      .begin_s = 1e-9 * (double)a->start_ns,
                                      .at = begin,
                                      .bytes = bytes,
                                      .file = f->use.file,
                                      .kind = kind};
    profile_place(&p->places[kind], begin, bytes);
    int64_t *const end = &end_of[f->use.file];
    p->sequential += bytes == 0 || *end == begin + 1 || f->use.calls == 1;
    if (bytes > 0) *end = begin + bytes + 1;
    p->pieces++;
    if (f->state && a->write) {
        map->dropped_n++;
        map->dropped_bytes += (uint64_t)bytes;
    }
    count_unlock();
    errno = kept;
    return got;
}
