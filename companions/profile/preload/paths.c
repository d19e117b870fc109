/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/profile/preload/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "companions/profile/preload/count.h"
#include "companions/profile/preload/table.h"

/* Two kinds of notes, and what is known of them: struct profile_before, by the hash of the name. */
enum kind { FILES, SPECIALS, KINDS };
static struct table notes[KINDS];
static uint8_t *names; /* PROFILE_NAMES_BYTES, shared by all processes */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t mapping = PTHREAD_MUTEX_INITIALIZER; /* of stand-ins */

/* Takes "." and ".." and double slashes out of a path that begins with one. */
static void tidy(char *path)
{
    char *to = path;
    for (const char *from = path; *from;) {
        while (*from == '/')
            from++;
        const size_t n = strcspn(from, "/");
        if (n == 2 && from[0] == '.' && from[1] == '.') {
            while (to > path && *--to != '/')
                ;
        } else if (n > 0 && !(n == 1 && from[0] == '.')) {
            *to++ = '/';
            memmove(to, from, n);
            to += n;
        }
        from += n;
    }
    if (to == path) *to++ = '/';
    *to = '\0';
}

bool paths_read_note(int at, const char *name, struct profile_before *note)
{
    const int fd = openat(at, name, O_RDONLY | O_CLOEXEC);
    const bool known = fd >= 0 && read(fd, note, sizeof *note) == (ssize_t)sizeof *note;
    if (fd >= 0) close(fd);
    return known;
}

bool paths_of_stand_in(char path[PROFILE_PATH_MAX])
{
    const char *dir = count_dir();
    const size_t length = strlen(dir);
    struct profile_before note;
    char noted[PROFILE_PATH_MAX];
    if (strncmp(path, dir, length) != 0 || strncmp(path + length, "/now-", 5) != 0) return false;
    (*count_inside())++;
    snprintf(noted, sizeof noted, "%.4000s/file-%.16s", dir, path + length + 5);
    const bool known = paths_read_note(AT_FDCWD, noted, &note);
    (*count_inside())--;
    if (known) memcpy(path, note.name, sizeof note.name);
    return known;
}

/* The folder that is open under a number, or the current one: the one that is there. */
static int real_folder_of(int at, char out[PROFILE_PATH_MAX])
{
    char link[64];
    if (at == AT_FDCWD) {
        const bool known = getcwd(out, PROFILE_PATH_MAX) != NULL;
        if (!known && errno == ERANGE) errno = ENAMETOOLONG;
        return known ? 0 : -1;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", at);
    const ssize_t n = readlink(link, out, PROFILE_PATH_MAX - 1);
    if (n < 0) {
        if (errno != ENAMETOOLONG) errno = EBADF;
        return -1;
    }
    out[n] = '\0';
    return 0;
}

/* The same, that for which it stands. */
static int folder_of(int at, char out[PROFILE_PATH_MAX])
{
    if (real_folder_of(at, out) < 0) return -1;
    if (count_dropping()) paths_of_stand_in(out);
    return 0;
}

static int away = -1; /* of the current folder, -1: not known */

void paths_moved(void)
{
    __atomic_store_n(&away, -1, __ATOMIC_RELAXED);
}

bool paths_away(int at)
{
    char folder[PROFILE_PATH_MAX];
    const int known = at == AT_FDCWD ? __atomic_load_n(&away, __ATOMIC_RELAXED) : -1;
    if (known >= 0) return known;
    const int kept = errno;
    (*count_inside())++;
    const bool is = real_folder_of(at, folder) == 0 && paths_of_stand_in(folder);
    if (at == AT_FDCWD) __atomic_store_n(&away, is, __ATOMIC_RELAXED);
    (*count_inside())--;
    errno = kept;
    return is;
}

static bool is_below(const char *whole, const char *folder)
{
    const size_t n = strlen(folder);
    return strncmp(whole, folder, n) == 0 && (whole[n] == '/' || whole[n] == '\0');
}

/* The file for which there stands what a link like /dev/stdout or those in /proc/self/fd leads to; false: it
 * leads elsewhere. Such a link leads also to what has no name any more. */
static bool stood_for(const char *link, char out[PROFILE_PATH_MAX])
{
    if (!count_dropping() || !(is_below(link, "/dev") || is_below(link, "/proc"))) return false;
    struct stat st;
    const bool file = stat(link, &st) == 0 && S_ISREG(st.st_mode);
    struct profile_stand_in *s = file ? paths_map(link) : NULL;
    if (s) memcpy(out, s->name, sizeof s->name);
    paths_unmap(s);
    return s != NULL;
}

/* Takes ".." out of a path part of which is not there: only a folder leads back, which has a stand-in or is there. */
static int lead_back(char *path)
{
    char to[PROFILE_PATH_MAX] = "", other[PROFILE_PATH_MAX];
    size_t end = 0;
    for (const char *from = path; *from;) {
        while (*from == '/')
            from++;
        const size_t n = strcspn(from, "/");
        if (n == 2 && from[0] == '.' && from[1] == '.') {
            if (realpath(end > 0 ? to : "/", other)) {
                memcpy(to, other, sizeof to);
            } else {
                paths_stand_in(to, other);
                if (!count_dropping() || access(other, F_OK) < 0) return -1;
            }
            *strrchr(to, '/') = '\0';
            end = strlen(to);
        } else if (n > 0 && !(n == 1 && from[0] == '.')) {
            end += (size_t)snprintf(to + end, sizeof to - end, "/%.*s", (int)n, from);
        }
        from += n;
    }
    memcpy(path, end > 0 ? to : "/", end > 0 ? end + 1 : 2);
    return 0;
}

static int whole_of(int at, const char *name, bool follow, char out[PROFILE_PATH_MAX])
{
    char folder[PROFILE_PATH_MAX], real[PROFILE_PATH_MAX];
    struct stat st;
    int n;
    if (name[0] == '/')
        n = snprintf(out, PROFILE_PATH_MAX, "%s", name);
    else if (folder_of(at, folder) == 0)
        n = snprintf(out, PROFILE_PATH_MAX, "%s/%s", folder, name);
    else
        return -1;
    if (n >= PROFILE_PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    while (n > 1 && out[n - 1] == '/')
        out[--n] = '\0';
    if (follow && lstat(out, &st) == 0 && S_ISLNK(st.st_mode)) {
        if (stood_for(out, real) || realpath(out, real)) {
            memcpy(out, real, sizeof real);
            return 0;
        }
    }
    char *slash = strrchr(out, '/');
    const char *last = slash + 1;
    bool there = true;
    if (strcmp(last, ".") == 0 || strcmp(last, "..") == 0) {
        there = realpath(out, real) != NULL;
        if (!there && errno == ENOTDIR) return -1;
        if (there) memcpy(out, real, sizeof real);
    } else if (last[0] && slash > out) {
        char keep[NAME_MAX + 1];
        snprintf(keep, sizeof keep, "%s", last);
        *slash = '\0';
        there = realpath(out, real) != NULL;
        *slash = '/';
        if (there && snprintf(out, PROFILE_PATH_MAX, "%s/%s", real, keep) >= PROFILE_PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
    }
    const bool back = strstr(out, "/../") || strcmp(strrchr(out, '/'), "/..") == 0;
    if (!there && back && lead_back(out) < 0) {
        errno = ENOENT; /* it leads back from nowhere */
        return -1;
    }
    tidy(out);
    return 0;
}

int paths_whole(int at, const char *name, bool follow, char out[PROFILE_PATH_MAX])
{
    if (!name || !name[0]) {
        errno = name ? ENOENT : EFAULT;
        return -1;
    }
    (*count_inside())++;
    const int rc = whole_of(at, name, follow, out);
    (*count_inside())--;
    return rc;
}

bool paths_refused(int why, const char *name)
{
    return why == ENOENT || why == ENOTDIR || why == EBADF ||
           (why == ENAMETOOLONG && strlen(name) >= PROFILE_PATH_MAX);
}

bool paths_removed(const char *name, char whole[PROFILE_PATH_MAX])
{
    static const char mark[] = " (deleted)";
    char link[PROFILE_PATH_MAX];
    struct stat st;
    if (!is_below(name, "/proc") && !is_below(name, "/dev")) return false;
    const int kept = errno;
    (*count_inside())++;
    bool is = stat(name, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0;
    if (is && count_dropping()) {
        struct profile_stand_in *s = paths_map(name);
        is = s != NULL;
        if (s) memcpy(whole, s->name, sizeof s->name);
        paths_unmap(s);
    } else if (is) {
        snprintf(whole, PROFILE_PATH_MAX, "%s", name);
        /* /dev/stdout is a link to one in /proc/self/fd; what that says is no name. */
        for (ssize_t n; (n = readlink(whole, link, sizeof link - 1)) >= 0;) {
            memcpy(whole, link, (size_t)n);
            whole[n] = '\0';
        }
        const size_t length = strlen(whole), end = sizeof mark - 1;
        is = whole[0] == '/' && strncmp(whole, "/memfd:", 7) != 0 && length > end &&
             strcmp(whole + length - end, mark) == 0;
        if (is) whole[length - end] = '\0';
    }
    (*count_inside())--;
    errno = kept;
    return is;
}

/* The folder of --files; the program may change its environment. */
static const char *asked(void)
{
    static const char *folder;
    const char *at = __atomic_load_n(&folder, __ATOMIC_ACQUIRE);
    if (at) return at;
    const char *files = getenv(PROFILE_ENV_FILES);
    at = strdup(files ? files : "");
    if (at) __atomic_store_n(&folder, at, __ATOMIC_RELEASE);
    return at ? at : "";
}

bool paths_asked(void)
{
    return asked()[0];
}

/* Whether it is a folder of counters, of this run or another one of the same profiler, or in one; or what says
 * by its lock that these belong to somebody (base/own.h). */
static bool is_of_profiler(const char *whole)
{
    static const char end[] = ".dropped", own[] = ".own";
    const char *last = strrchr(whole, '/') + 1;
    const size_t length = strlen(last);
    if (strncmp(last, ".nht1-", 6) == 0 && length > sizeof own &&
        strcmp(last + length - (sizeof own - 1), own) == 0)
        return true;
    const char *dir = count_dir();
    size_t n = strlen(dir);
    if (n > sizeof end && strcmp(dir + n - (sizeof end - 1), end) == 0) n -= sizeof end - 1;
    return strncmp(whole, dir, n) == 0;
}

/* Whether a note of base/own.h lists a folder. */
static bool lists(const char *note, const char *folder)
{
    char text[4096], line[NAME_MAX + 8];
    (*count_inside())++;
    const int fd = open(note, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    (*count_inside())--;
    text[n > 0 ? n : 0] = '\0';
    snprintf(line, sizeof line, " %s\n", folder);
    return strstr(text, line) != NULL;
}

/* The last part of the folder of counters, as the run with writes has it. */
static void own_folder(char out[NAME_MAX + 1])
{
    static const char end[] = ".dropped";
    const char *slash = strrchr(count_dir(), '/');
    snprintf(out, NAME_MAX + 1, "%s", slash ? slash + 1 : count_dir());
    const size_t n = strlen(out);
    if (n > sizeof end && strcmp(out + n - (sizeof end - 1), end) == 0)
        out[n - (sizeof end - 1)] = '\0';
}

bool paths_hidden(int folder, const char *name)
{
    char own[NAME_MAX + 1], whole[PROFILE_PATH_MAX];
    const bool note = strncmp(name, ".nht1-", 6) == 0;
    own_folder(own);
    const char *aside = strstr(name, PROFILE_ASIDE), *number = strrchr(own, '-');
    if (aside && number && strcmp(aside + sizeof PROFILE_ASIDE - 1, number + 1) == 0) return true;
    if (!note && strncmp(name, own, strlen(own)) != 0) return false;
    const int kept = errno;
    bool is = paths_whole(folder, name, false, whole) == 0 && is_of_profiler(whole);
    if (is && note) is = lists(whole, own);
    errno = kept;
    return is;
}

/* Where each virtual machine of Java shows its state to jps and jstat, in a file that it maps and removes. */
#define JAVA_STATE "/tmp/hsperfdata_"

static bool is_users(const char *whole)
{
    return strncmp(whole, JAVA_STATE, sizeof JAVA_STATE - 1) != 0 && !is_below(whole, "/dev") &&
           !is_below(whole, "/proc") && !is_below(whole, "/sys") && !is_of_profiler(whole);
}

bool paths_followed(const char *whole)
{
    return is_users(whole) && (!paths_asked() || is_below(whole, asked()));
}

bool paths_outside(const char *whole)
{
    return paths_asked() && count_digests() && is_users(whole) && !is_below(whole, asked());
}

bool paths_in_memory(const char *whole)
{
    /* Where Python's multiprocessing has the memory that its processes share, in a file that it removes at once. */
    static const char arena[] = "/dev/shm/pym-";
    return count_digests() && is_below(whole, "/dev/shm") &&
           strncmp(whole, arena, sizeof arena - 1) != 0;
}

static bool map_names(void)
{
    char path[PROFILE_PATH_MAX];
    if (__atomic_load_n(&names, __ATOMIC_ACQUIRE)) return true;
    (*count_inside())++;
    snprintf(path, sizeof path, "%.4000s/names", count_dir());
    const int fd =
        count_fits(PROFILE_NAMES_BYTES) ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644) : -1;
    void *at = MAP_FAILED;
    if (fd >= 0 && posix_fallocate(fd, 0, PROFILE_NAMES_BYTES) == 0)
        at = mmap(NULL, PROFILE_NAMES_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0) close(fd);
    (*count_inside())--;
    if (at != MAP_FAILED) __atomic_store_n(&names, at, __ATOMIC_RELEASE);
    return at != MAP_FAILED;
}

/* The bit of a name: of its last part, without slashes at its end. */
static uint32_t bit_of(const char *name)
{
    char last[NAME_MAX + 1];
    size_t end = strlen(name);
    while (end > 1 && name[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && name[begin - 1] != '/')
        begin--;
    snprintf(last, sizeof last, "%.*s", (int)(end - begin), name + begin);
    return (uint32_t)((table_hash(last) * UINT64_C(0x9e3779b97f4a7c15)) >> 32) %
           (PROFILE_NAMES_BYTES * 8u);
}

bool paths_maybe(const char *name)
{
    if (!map_names()) return true;
    if (is_below(name, "/dev") || is_below(name, "/proc"))
        return true; /* a link there may lead to any of them */
    const uint32_t bit = bit_of(name);
    return (__atomic_load_n(&names[bit / 8], __ATOMIC_RELAXED) >> bit % 8) & 1;
}

void paths_mark(const char *name)
{
    if (!map_names()) return;
    const uint32_t bit = bit_of(name);
    __atomic_fetch_or(&names[bit / 8], (uint8_t)(1u << bit % 8), __ATOMIC_RELAXED);
}

/* A name for whatever lies in a folder. */
static void mark_of_folder(const char *folder, char out[32])
{
    snprintf(out, 32, "in-%016llx", (unsigned long long)table_hash(folder));
}

bool paths_maybe_in(const char *folder)
{
    char mark[32];
    mark_of_folder(folder, mark);
    return paths_maybe(mark);
}

void paths_folder(const char *whole, char out[PROFILE_PATH_MAX])
{
    snprintf(out, PROFILE_PATH_MAX, "%s", whole);
    char *const slash = strrchr(out, '/');
    slash[slash == out] = '\0';
}

/* Marks the folder of a name. */
static void mark_in(const char *whole)
{
    char folder[PROFILE_PATH_MAX], mark[32];
    paths_folder(whole, folder);
    mark_of_folder(folder, mark);
    paths_mark(mark);
}

int paths_count(const char *whole, int comm_size, int comm_rank, enum profile_interface interface)
{
    const struct profile_before *note = paths_find(whole);
    const int n = count_file(whole, comm_size, comm_rank, interface);
    if (note && note->temporary > 0) count_chosen(n, whole, note->temporary);
    return n;
}

void paths_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_mutex_init(&mapping, NULL);
    memset(notes, 0, sizeof notes); /* it may be half done: nothing of it is freed */
}

static void note_path(enum kind kind, const char *whole, char out[PROFILE_PATH_MAX])
{
    static const char *const word[KINDS] = {"file", "special"};
    snprintf(out, PROFILE_PATH_MAX, "%.4000s/%s-%016llx", count_dir(), word[kind],
             (unsigned long long)table_hash(whole));
}

/* The note of a name; the lock is held. */
static struct profile_before *find(enum kind kind, const char *whole)
{
    char path[PROFILE_PATH_MAX];
    const uint64_t key = table_hash(whole);
    struct profile_before *note = table_find(&notes[kind], key);
    if (note) return note;
    note_path(kind, whole, path);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return NULL;
    void *at = mmap(NULL, sizeof *note, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED || table_put(&notes[kind], key, at) < 0) return NULL;
    return at;
}

static struct profile_before *find_locked(enum kind kind, const char *whole)
{
    (*count_inside())++;
    count_hold(&lock);
    struct profile_before *note = find(kind, whole);
    count_release(&lock);
    (*count_inside())--;
    return note;
}

struct profile_before *paths_find(const char *whole)
{
    return find_locked(FILES, whole);
}

/* A name for whatever is no file. */
static const char any_special[] = "special";

struct profile_before *paths_find_special(const char *whole)
{
    return paths_maybe(any_special) ? find_locked(SPECIALS, whole) : NULL;
}

bool paths_unmade(const char *whole)
{
    const struct profile_before *special = paths_find_special(whole);
    return special && !__atomic_load_n(&special->written, __ATOMIC_RELAXED);
}

/* When a file was created, 0: not known. */
static double birth_s(const char *path)
{
    struct statx st;
    if (statx(AT_FDCWD, path, 0, STATX_BTIME, &st) < 0 || !(st.stx_mask & STATX_BTIME)) return 0;
    return (double)st.stx_btime.tv_sec + 1e-9 * st.stx_btime.tv_nsec;
}

/* Writes a file as it has to be, complete or not at all; another process may be faster: EEXIST. */
static int make_whole(const char *path, const void *from, size_t bytes, mode_t mode)
{
    static uint64_t count;
    char own[PROFILE_PATH_MAX + 64];
    if (!count_fits(bytes)) return -1;
    snprintf(own, sizeof own, "%s.%d-%llu", path, (int)getpid(),
             (unsigned long long)__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED));
    const int fd = open(own, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode | 0600);
    if (fd < 0) return -1;
    const bool written = write(fd, from, bytes) == (ssize_t)bytes;
    int rc = close(fd) == 0 && written ? 0 : -1;
    if (rc == 0) rc = link(own, path);
    const int why = errno;
    unlink(own);
    errno = why;
    return rc;
}

/* unmade: what the run with writes has left there this one has not made. */
static int make_note(const char *whole, bool unmade)
{
    struct profile_before now = {.before_size = -1};
    struct stat st;
    char path[PROFILE_PATH_MAX];
    if (!unmade && stat(whole, &st) == 0) {
        now.before_size = st.st_size;
        now.changed_s = st.st_ctim.tv_sec;
        now.changed_ns = (int32_t)st.st_ctim.tv_nsec;
        now.before_mode = (int32_t)(st.st_mode & 0777);
        now.before_s = st.st_mtim.tv_sec;
        now.before_ns = (int32_t)st.st_mtim.tv_nsec;
        now.directory = S_ISDIR(st.st_mode);
        now.writable = access(whole, W_OK) == 0;
        now.created = birth_s(count_dir()) > 0 && birth_s(whole) >= birth_s(count_dir());
    }
    snprintf(now.name, sizeof now.name, "%s", whole);
    /* What only this run finds was there before it: the real run has not touched it. */
    if (count_dropping() && now.before_size >= 0 && !now.directory &&
        paths_make(whole, (mode_t)now.before_mode, now.before_size) < 0 && errno != EEXIST)
        return -1;
    note_path(FILES, whole, path);
    paths_mark(whole);
    mark_in(whole);
    return make_whole(path, &now, sizeof now, 0644) == 0 || errno == EEXIST ? 0 : -1;
}

struct profile_before *paths_note(const char *whole)
{
    const bool unmade = paths_unmade(whole);
    (*count_inside())++;
    count_hold(&lock);
    struct profile_before *note = find(FILES, whole);
    const uint64_t start_ns = note ? 0 : count_now_ns();
    if (!note && make_note(whole, unmade) == 0) {
        note = find(FILES, whole);
        count_noted(start_ns);
    }
    count_release(&lock);
    (*count_inside())--;
    return note;
}

int paths_note_special(const char *whole)
{
    struct profile_before now = {.before_size = -1, .written = 1, .special = 1};
    char path[PROFILE_PATH_MAX];
    snprintf(now.name, sizeof now.name, "%s", whole);
    note_path(SPECIALS, whole, path);
    paths_mark(whole);
    paths_mark(any_special);
    (*count_inside())++;
    const int rc = make_whole(path, &now, sizeof now, 0644);
    (*count_inside())--;
    return rc == 0 || errno == EEXIST ? 0 : -1;
}

void paths_stand_in(const char *whole, char out[PROFILE_PATH_MAX])
{
    snprintf(out, PROFILE_PATH_MAX, "%.4000s/now-%016llx", count_dir(),
             (unsigned long long)table_hash(whole));
}

bool paths_can_create(const char *whole)
{
    char folder[PROFILE_PATH_MAX], stand_in[PROFILE_PATH_MAX];
    paths_folder(whole, folder);
    const struct profile_before *note = paths_find(folder);
    if (note) paths_stand_in(folder, stand_in);
    (*count_inside())++;
    const bool there = access(note ? stand_in : folder, note ? F_OK : W_OK | X_OK) == 0;
    const int why = there ? ENOTDIR : errno;
    (*count_inside())--;
    errno = why;
    return there && (!note || note->directory);
}

int paths_make(const char *whole, mode_t mode, int64_t size)
{
    struct profile_stand_in s = {.magic = PROFILE_STAND_IN_MAGIC, .size = size};
    char path[PROFILE_PATH_MAX];
    snprintf(s.name, sizeof s.name, "%s", whole);
    paths_stand_in(whole, path);
    (*count_inside())++;
    const int rc = make_whole(path, &s, sizeof s, mode);
    (*count_inside())--;
    return rc;
}

/* The stand-ins that are mapped, each in two lists. While one is it is not opened again: closing any descriptor of a file
 * takes the locks (fcntl) away that the process holds on it. A child that is forked at any time finds the lists whole, and in
 * those of addresses whatever it uses. */
enum { LISTS = 256 };
struct mapped {
    struct mapped *next, *next_inode;
    struct profile_stand_in *s;
    dev_t device;
    ino_t inode;
    int refs;
};
static struct mapped *addresses[LISTS], *inodes[LISTS];

static struct mapped **list_of(const struct profile_stand_in *s)
{
    return &addresses[(uintptr_t)s / sizeof *s % LISTS];
}

/* Maps what is not mapped yet; its lock is held. NULL: it is no stand-in, or errno says why. */
static struct mapped *map_file(const char *path)
{
    struct stat st;
    struct profile_stand_in *s = MAP_FAILED;
    struct mapped *m = malloc(sizeof *m);
    const int fd = m ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size == (off_t)sizeof *s)
        s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    const int why = errno;
    if (fd >= 0) close(fd);
    if (s != MAP_FAILED && s->magic == PROFILE_STAND_IN_MAGIC) {
        *m = (struct mapped){.next = *list_of(s),
                             .next_inode = inodes[st.st_ino % LISTS],
                             .s = s,
                             .device = st.st_dev,
                             .inode = st.st_ino};
        __atomic_store_n(list_of(s), m, __ATOMIC_RELEASE);
        __atomic_store_n(&inodes[st.st_ino % LISTS], m, __ATOMIC_RELEASE);
        return m;
    }
    if (s != MAP_FAILED) munmap(s, sizeof *s);
    free(m);
    errno = why;
    return NULL;
}

struct profile_stand_in *paths_map(const char *stand_in)
{
    struct stat st;
    struct mapped *m = NULL;
    (*count_inside())++;
    if (stat(stand_in, &st) == 0 && S_ISREG(st.st_mode) &&
        st.st_size == (off_t)sizeof(struct profile_stand_in)) {
        count_hold(&mapping);
        m = inodes[st.st_ino % LISTS];
        while (m && (m->inode != st.st_ino || m->device != st.st_dev))
            m = m->next_inode;
        if (m || (m = map_file(stand_in))) m->refs++;
        count_release(&mapping);
    }
    (*count_inside())--;
    return m ? m->s : NULL;
}

void paths_unmap(struct profile_stand_in *s)
{
    if (!s) return;
    (*count_inside())++;
    count_hold(&mapping);
    struct mapped **at = list_of(s);
    while ((*at)->s != s)
        at = &(*at)->next;
    struct mapped *m = *at, **by_inode = &inodes[m->inode % LISTS];
    if (--m->refs == 0) {
        while (*by_inode != m)
            by_inode = &(*by_inode)->next_inode;
        __atomic_store_n(by_inode, m->next_inode, __ATOMIC_RELEASE);
        __atomic_store_n(at, m->next, __ATOMIC_RELEASE);
        munmap(s, sizeof *s);
        free(m);
    }
    count_release(&mapping);
    (*count_inside())--;
}

void paths_grow(struct profile_stand_in *s, int64_t end)
{
    int64_t now = __atomic_load_n(&s->size, __ATOMIC_RELAXED);
    while (end > now && !__atomic_compare_exchange_n(&s->size, &now, end, true, __ATOMIC_RELAXED,
                                                     __ATOMIC_RELAXED))
        ;
}

int paths_content(const struct profile_stand_in *s, char out[PROFILE_PATH_MAX])
{
    (*count_inside())++;
    snprintf(out, PROFILE_PATH_MAX, "%s", s->name);
    int rc = access(out, F_OK);
    /* Under its name it is gone, but what the real run has made of it may lie under another one. */
    for (int hops = 0; rc < 0 && hops < 16; hops++) {
        const struct profile_before *note = paths_find(out);
        if (!note || !note->moved[0]) break;
        snprintf(out, PROFILE_PATH_MAX, "%s", note->moved);
        rc = access(out, F_OK);
    }
    (*count_inside())--;
    return rc;
}
