/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/own.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/lock.h"
#include "base/stop.h"
#include "base/sys.h"
#include "base/temp.h"

#define HEAD           "nht1 own 1\n"
#define PREFIX         ".nht1-"
#define SUFFIX         ".own"
#define KEY_DIGITS     16
#define NOTE_BYTES_MAX (1 << 24)
#define LINE_MAX_BYTES (3 * NAME_MAX + 128)
#define MARK_MAX       63
#define TEXT_BYTES     65536

enum kind { FILE_KIND, FOLDER_KIND };

/* A file that is there, and its descriptor, held until it is removed. */
struct made {
    atomic_bool there; /* whoever clears it takes the name away */
    int fd;
    enum kind kind;
    char name[NAME_MAX + 1];
};

struct own {
    int dir_fd, note_fd, lock_fd;
    uint64_t job;
    int64_t maker;
    bool keep, watched;
    atomic_bool unlocked;
    atomic_int making; /* a file has its passing name: the note must stay */
    unsigned number;
    char key[KEY_DIGITS + 1];
    char note[NAME_MAX + 1], lock[NAME_MAX + 1];
    char dir[PATH_MAX];
    char shown[PATH_MAX + 1]; /* before names in it: "", or it and a slash */
    struct made made[OWN_FILES_MAX];
};

/* --- who lives ------------------------------------------------------------------------------ */

/* What tells a process from all others. */
struct maker {
    char boot[40], host[128];
    int64_t namespace, pid, start;
    uint64_t job;
    int held;
};

/* When a process was started, in ticks since the system was; -1: there is none, or it cannot be known. */
static int64_t start_of(int64_t pid)
{
    char path[64], line[1024];
    long long start = -1;
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    FILE *f = fopen(path, "re");
    const char *end = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    /* The name in parentheses is field 2, this is field 22. */
    for (int field = 2; end && field < 22; field++)
        end = strchr(end + 1, ' ');
    if (end) start = strtoll(end, NULL, 10);
    if (f) fclose(f);
    return (int64_t)start;
}

static void maker_of(int64_t pid, struct maker *m)
{
    struct stat st;
    *m = (struct maker){.pid = pid, .start = start_of(pid)};
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (!f || fscanf(f, "%39s", m->boot) != 1) snprintf(m->boot, sizeof m->boot, "-");
    if (f) fclose(f);
    if (gethostname(m->host, sizeof m->host - 1) != 0) snprintf(m->host, sizeof m->host, "-");
    m->namespace = stat("/proc/self/ns/pid", &st) == 0 ? (int64_t)st.st_ino : -1;
}

static bool network(const char *dir)
{
    struct sys_fs fs;
    const bool known = sys_path_fs(dir, &fs) == 0;
    if (!known) err_clear();
    return !known || fs.network;
}

/* Whether the maker of a note is dead, as far as can be known. free: nobody holds the note; -1: it cannot
 * be known here. */
static bool is_dead(const struct maker *m, int free, const char *dir)
{
    struct maker me;
    if (free == 0) return false;
    maker_of((int64_t)getpid(), &me);
    if (me.boot[0] == '-' || strcmp(m->boot, me.boot) != 0)
        return me.boot[0] != '-' && strcmp(m->host, me.host) == 0 && !network(dir);
    if (m->held && free == 1) return true;
    return m->namespace == me.namespace && m->namespace >= 0 && start_of(m->pid) != m->start;
}

/* --- names ---------------------------------------------------------------------------------- */

static bool is_name(const char *name)
{
    const size_t length = strlen(name);
    return length > 0 && length <= NAME_MAX && !strchr(name, '/') && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0;
}

/* Writes name as it stands in a note. */
static void escape(const char *name, char out[3 * NAME_MAX + 1])
{
    char *to = out;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
        if (*c > ' ' && *c != '%' && *c != 0x7f)
            *to++ = (char)*c;
        else
            to += sprintf(to, "%%%02x", *c);
    }
    *to = '\0';
}

/* And back, in its place. */
static void unescape(char *name)
{
    char *to = name;
    for (const char *c = name; *c; c++) {
        unsigned byte;
        if (*c == '%' && isxdigit((unsigned char)c[1]) && isxdigit((unsigned char)c[2]) &&
            sscanf(c + 1, "%2x", &byte) == 1 && byte) {
            *to++ = (char)byte;
            c += 2;
        } else {
            *to++ = *c;
        }
    }
    *to = '\0';
}

/* Whether name is that of a note; [out] key. */
static bool is_note(const char *name, char key[KEY_DIGITS + 1])
{
    const size_t begin = strlen(PREFIX);
    if (strncmp(name, PREFIX, begin) != 0) return false;
    if (strspn(name + begin, "0123456789abcdef") != KEY_DIGITS) return false;
    memcpy(key, name + begin, KEY_DIGITS);
    key[KEY_DIGITS] = '\0';
    return strcmp(name + begin + KEY_DIGITS, SUFFIX) == 0;
}

uint64_t own_job(void)
{
    uint64_t any = 0;
    if (getrandom(&any, sizeof any, GRND_NONBLOCK) != (ssize_t)sizeof any)
        any ^= (uint64_t)getpid() << 32 ^ (uint64_t)start_of(getpid());
    return any ? any : 1;
}

/* --- removing ------------------------------------------------------------------------------- */

static void remove_folder(int dir_fd, const char *name)
{
    const int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir && fd >= 0) close(fd);
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(dirfd(dir), e->d_name, 0);
    if (dir) closedir(dir);
    unlinkat(dir_fd, name, AT_REMOVEDIR);
}

/* Removes a regular file or folder of this user, whatever its identity. */
static void remove_any(int dir_fd, const char *name)
{
    struct stat st;
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || st.st_uid != geteuid()) return;
    if (S_ISREG(st.st_mode)) unlinkat(dir_fd, name, 0);
    if (S_ISDIR(st.st_mode)) remove_folder(dir_fd, name);
}

/* Removes an empty file that nobody holds. While it is held here, nobody takes it. */
static void remove_lock(int dir_fd, const char *name)
{
    struct stat st, there;
    const int fd = openat(dir_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0 && st.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        fstatat(dir_fd, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && there.st_ino == st.st_ino &&
        there.st_dev == st.st_dev)
        unlinkat(dir_fd, name, 0);
    close(fd);
}

/* Whether name is that of a file that an MPI-IO library keeps beside data for the shared file pointer, and
 * leaves there when a process is ended: .DATA.shfp.N of ROMIO, DATA-N-N.lock of OMPIO. */
static bool is_pointer(const char *name, const char *data)
{
    static const char digits[] = "0123456789";
    const size_t length = strlen(data);
    if (name[0] == '.' && strncmp(name + 1, data, length) == 0)
        return strncmp(name + 1 + length, ".shfp.", 6) == 0;
    if (strncmp(name, data, length) != 0 || name[length] != '-') return false;
    const char *at = name + length + 1;
    const size_t first = strspn(at, digits);
    if (first == 0 || at[first] != '-') return false;
    const size_t second = strspn(at + first + 1, digits);
    return second > 0 && strcmp(at + first + 1 + second, ".lock") == 0;
}

/* Whether name begins so. */
static bool begins(const char *name, const char *begin)
{
    return strncmp(name, begin, strlen(begin)) == 0;
}

/* Removes the files of the directory that are of that name in this sense. */
static void remove_named(int dir_fd, bool (*is)(const char *name, const char *of), const char *of)
{
    const int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir && fd >= 0) close(fd);
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (is(e->d_name, of)) remove_any(dir_fd, e->d_name);
    if (dir) closedir(dir);
}

/* Removes a regular file of this user in whose beginning the mark stands. */
static void remove_text(int dir_fd, const char *name, const char *mark)
{
    struct stat st;
    const int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    char *text = fd >= 0 ? malloc(TEXT_BYTES) : NULL;
    const ssize_t n = text && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid()
                          ? pread(fd, text, TEXT_BYTES, 0)
                          : 0;
    if (n > 0 && memmem(text, (size_t)n, mark, strlen(mark))) unlinkat(dir_fd, name, 0);
    free(text);
    if (fd >= 0) close(fd);
}

/* What a line of a note tells. */
static void remove_line(int dir_fd, char *line)
{
    char kind[8], mark[MARK_MAX + 1] = "";
    int at = 0;
    struct identity id = IDENTITY_NONE, now;
    if (sscanf(line, "%7s %n", kind, &at) != 1) return;
    const bool file = strcmp(kind, "file") == 0, folder = strcmp(kind, "folder") == 0;
    char *name = line + at;
    if (file || folder) {
        int after = 0;
        if (sscanf(name, "%" SCNd64 " %" SCNd64 " %" SCNd64 " %n", &id.device, &id.inode,
                   &id.born_ns, &after) != 3)
            return;
        name += after;
    }
    if (strcmp(kind, "text") == 0) {
        int after = 0;
        if (sscanf(name, "%63s %n", mark, &after) != 1) return;
        name += after;
    }
    unescape(name);
    if (!is_name(name)) return;
    if (file || folder) {
        const bool there = identity_at(dir_fd, name, &now), same = there && identity_same(id, now);
        if (same) remove_any(dir_fd, name);
        if (file && (same || !there)) remove_named(dir_fd, is_pointer, name);
    } else if (mark[0]) {
        remove_text(dir_fd, name, mark);
    } else if (strcmp(kind, "lock") == 0) {
        remove_lock(dir_fd, name);
    } else if (strcmp(kind, "temps") == 0) {
        remove_named(dir_fd, temp_is_of, name);
    }
}

/* --- sweeping ------------------------------------------------------------------------------- */

static char *read_all(int fd, int64_t bytes)
{
    char *text = bytes < NOTE_BYTES_MAX ? malloc((size_t)bytes + 1) : NULL;
    int64_t done = 0;
    while (text && done < bytes) {
        const ssize_t n = pread(fd, text + done, (size_t)(bytes - done), (off_t)done);
        if (n <= 0) break;
        done += n;
    }
    if (text) text[done] = '\0';
    return text;
}

/* The line that begins at *at, without its end; NULL: there is none that ends. */
static char *next_line(char **at)
{
    char *line = *at, *end = strchr(line, '\n');
    if (!end) return NULL;
    *end = '\0';
    *at = end + 1;
    return line;
}

static bool read_maker(const char *line, struct maker *m)
{
    *m = (struct maker){.pid = -1};
    return line &&
           sscanf(line, "maker %39s %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNx64 " %d %127s",
                  m->boot, &m->namespace, &m->pid, &m->start, &m->job, &m->held, m->host) == 7;
}

/* A note of this user that is open, and held unless somebody else holds it. */
struct note {
    int fd;
    int free_now; /* nobody else holds it; -1: it cannot be known here */
    char *text;   /* NULL: it is there no more, or too long */
};

static bool note_open(int dir_fd, const char *name, struct note *n)
{
    struct stat st, there;
    n->fd = openat(dir_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (n->fd < 0) return false;
    if (fstat(n->fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid()) {
        close(n->fd);
        return false;
    }
    const bool taken = flock(n->fd, LOCK_EX | LOCK_NB) == 0;
    n->free_now = taken ? 1 : errno == EWOULDBLOCK ? 0 : -1;
    /* The maker may have finished it since, or another sweep, before it was free. */
    const bool still = fstat(n->fd, &st) == 0 &&
                       fstatat(dir_fd, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
                       there.st_ino == st.st_ino && there.st_dev == st.st_dev;
    n->text = still ? read_all(n->fd, (int64_t)st.st_size) : NULL;
    return true;
}

static void note_close(struct note *n)
{
    free(n->text);
    close(n->fd);
}

/* Whether a note other than key's has this line as well, and its maker may be alive. */
static bool noted_by_another(int dir_fd, const char *dir_name, const char *key, const char *line)
{
    char other[KEY_DIGITS + 1];
    bool found = false;
    struct maker m;
    struct note n;
    const int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir && fd >= 0) close(fd);
    for (struct dirent *e; dir && !found && (e = readdir(dir));) {
        if (!is_note(e->d_name, other) || strcmp(other, key) == 0) continue;
        if (!note_open(dir_fd, e->d_name, &n)) continue;
        const bool ours = n.text && begins(n.text, HEAD);
        char *at = ours ? n.text + strlen(HEAD) : NULL, *its = ours ? next_line(&at) : NULL;
        if (its && read_maker(its, &m) && !is_dead(&m, n.free_now, dir_name))
            while (!found && (its = next_line(&at)))
                found = strcmp(its, line) == 0;
        note_close(&n);
    }
    if (dir) closedir(dir);
    return found;
}

static void sweep_note(int dir_fd, const char *dir, const char *name, const char *key, uint64_t job)
{
    struct maker m;
    struct note n;
    char begin[64];
    bool whole = true;
    if (!note_open(dir_fd, name, &n)) return;
    char *text = n.text, *at = text;
    const size_t head = strlen(HEAD);
    const bool ours = text && strncmp(text, HEAD, head) == 0;
    /* A maker that was killed at once leaves it empty or without its second line. */
    const bool begun = text && strncmp(text, HEAD, strlen(text) < head ? strlen(text) : head) == 0;
    if (ours) at += head;
    char *line = ours ? next_line(&at) : NULL;
    bool go = begun && !line && n.free_now == 1;
    if (line) go = read_maker(line, &m) && ((job && m.job == job) || is_dead(&m, n.free_now, dir));
    if (go) {
        while (line && (line = next_line(&at))) {
            /* By their name alone they may be those of who went on where this one had ended. */
            const bool kept = begins(line, "temps ") && noted_by_another(dir_fd, dir, key, line);
            if (!kept) remove_line(dir_fd, line);
            whole = whole && !kept;
        }
        snprintf(begin, sizeof begin, PREFIX "%s-", key);
        remove_named(dir_fd, begins, begin);
        /* Of a maker that lives, what could not be removed, such as its lock, stays noted. */
        if (n.free_now != 0 && whole) unlinkat(dir_fd, name, 0);
    }
    note_close(&n);
}

static void sweep(int dir_fd, const char *dir_name, uint64_t job, const char *but)
{
    char key[KEY_DIGITS + 1];
    const int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir && fd >= 0) close(fd);
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (is_note(e->d_name, key) && strcmp(key, but) != 0)
            sweep_note(dir_fd, dir_name, e->d_name, key, job);
    if (dir) closedir(dir);
}

void own_sweep(const char *dir, uint64_t job)
{
    const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    sweep(fd, dir, job, "");
    close(fd);
}

/* --- the note ------------------------------------------------------------------------------- */

static int cannot_note(const struct own *o, int errnum)
{
    return err_set_errno(ERR_IO, errnum, "%s%s, the note of this program's files", o->shown,
                         o->note);
}

static int note_put(struct own *o, const char *text)
{
    const size_t bytes = strlen(text);
    struct stat st;
    const ssize_t done = write(o->note_fd, text, bytes);
    if (done == (ssize_t)bytes) return 0;
    const int errnum = done < 0 ? errno : ENOSPC;
    /* Half a line would become the beginning of the next one. */
    if (done > 0 && (fstat(o->note_fd, &st) != 0 || ftruncate(o->note_fd, st.st_size - done) != 0))
        return cannot_note(o, errno);
    return cannot_note(o, errnum);
}

/* Makes the note, held. A sweep that met it while it was empty has taken it away: once more then. */
static int note_make(struct own *o)
{
    char text[512];
    struct maker m;
    struct stat st, there;
    maker_of(o->maker, &m);
    for (;;) {
        snprintf(o->key, sizeof o->key, "%016" PRIx64, own_job());
        snprintf(o->note, sizeof o->note, PREFIX "%s" SUFFIX, o->key);
        o->note_fd = openat(o->dir_fd, o->note,
                            O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (o->note_fd < 0 && errno == EEXIST) continue;
        if (o->note_fd < 0)
            return err_set_errno(ERR_IO, errno, "cannot make a file in the directory %s", o->dir);
        const bool held = flock(o->note_fd, LOCK_EX) == 0;
        m.held = held && o->maker == getpid();
        snprintf(text, sizeof text,
                 HEAD "maker %s %" PRId64 " %" PRId64 " %" PRId64 " %" PRIx64 " %d %s\n", m.boot,
                 m.namespace, m.pid, m.start, o->job, m.held, m.host);
        const int rc = note_put(o, text);
        const bool still = fstat(o->note_fd, &st) == 0 &&
                           fstatat(o->dir_fd, o->note, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
                           st.st_ino == there.st_ino && st.st_dev == there.st_dev;
        if (rc == 0 && still) return 0;
        if (still) unlinkat(o->dir_fd, o->note, 0);
        close(o->note_fd);
        o->note_fd = -1;
        if (rc < 0) return rc;
    }
}

static int note_add(struct own *o, const char *what, const struct identity *id, const char *name)
{
    char line[LINE_MAX_BYTES], plain[3 * NAME_MAX + 1], which[80] = "";
    if (!is_name(name))
        return err_set(ERR_IO, "%s%s: a file cannot have this name", o->shown, name);
    if (o->note_fd < 0) TRY(note_make(o));
    escape(name, plain);
    if (id)
        snprintf(which, sizeof which, "%" PRId64 " %" PRId64 " %" PRId64 " ", id->device, id->inode,
                 id->born_ns);
    snprintf(line, sizeof line, "%s %s%s\n", what, which, plain);
    return note_put(o, line);
}

/* --- begin and end -------------------------------------------------------------------------- */

int own_begin_as(struct own **out, const char *dir, uint64_t job, int64_t maker)
{
    struct own *o = *out = calloc(1, sizeof *o);
    if (!o) return err_set(ERR_NOMEM, "no memory for a note of files");
    o->note_fd = o->lock_fd = -1;
    o->job = job;
    o->maker = maker;
    snprintf(o->dir, sizeof o->dir, "%s", dir);
    if (strcmp(dir, ".") != 0)
        snprintf(o->shown, sizeof o->shown, "%s/", strcmp(dir, "/") == 0 ? "" : dir);
    for (int i = 0; i < OWN_FILES_MAX; i++)
        o->made[i].fd = -1;
    o->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (o->dir_fd < 0) return err_set_errno(ERR_IO, errno, "cannot use the directory %s", dir);
    return 0;
}

int own_begin(struct own **out, const char *dir, uint64_t job, bool keep)
{
    const int rc = own_begin_as(out, dir, job, (int64_t)getpid());
    if (*out) (*out)->keep = keep;
    return rc;
}

static void close_all(struct own *o)
{
    for (int i = 0; i < OWN_FILES_MAX; i++)
        if (o->made[i].fd >= 0) close(o->made[i].fd);
    if (o->note_fd >= 0) close(o->note_fd);
    if (o->dir_fd >= 0) close(o->dir_fd);
    free(o);
}

void own_leave(struct own *o)
{
    if (o) close_all(o);
}

/* --- making and removing -------------------------------------------------------------------- */

static struct made *find(struct own *o, const char *name)
{
    for (int i = 0; i < OWN_FILES_MAX; i++)
        if (atomic_load(&o->made[i].there) && strcmp(o->made[i].name, name) == 0)
            return &o->made[i];
    return NULL;
}

bool own_has(const struct own *o, const char *name)
{
    return find((struct own *)(uintptr_t)o, name) != NULL;
}

/* Takes the name away, unless somebody put another file there; also from the handler of a signal.
 * Returns 0 or an errno value. */
static int made_unlink(const struct own *o, struct made *m)
{
    struct stat mine, there;
    if (!atomic_exchange(&m->there, false)) return 0;
    if (fstat(m->fd, &mine) != 0 || fstatat(o->dir_fd, m->name, &there, AT_SYMLINK_NOFOLLOW) != 0 ||
        mine.st_ino != there.st_ino || mine.st_dev != there.st_dev)
        return 0;
    if (m->kind == FOLDER_KIND) {
        remove_folder(o->dir_fd, m->name);
        return 0;
    }
    return unlinkat(o->dir_fd, m->name, 0) == 0 || errno == ENOENT ? 0 : errno;
}

static bool asked_to_stop(const struct own *o)
{
    return o->watched && !o->keep && stop_requested();
}

/* From here on the name is one to be removed. */
static int remember(struct own *o, const char *name, int fd, enum kind kind)
{
    for (int i = 0; i < OWN_FILES_MAX; i++) {
        struct made *m = &o->made[i];
        if (atomic_load(&m->there)) continue;
        if (m->fd >= 0) close(m->fd);
        m->fd = fd;
        m->kind = kind;
        snprintf(m->name, sizeof m->name, "%s", name);
        atomic_store(&m->there, true);
        if (!asked_to_stop(o)) return 0;
        (void)made_unlink(o, m); /* the signal came before it was there */
        return err_set(ERR_INTERRUPT, "interrupted");
    }
    close(fd);
    return err_set(ERR_NOMEM, "more than %d files at a time", OWN_FILES_MAX);
}

/* Gives what bears the passing name its own, if that is free. Returns 0 or an errno value. */
static int rename_new(int dir_fd, const char *from, const char *to, enum kind kind)
{
    if (renameat2(dir_fd, from, dir_fd, to, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return errno;
    if (kind == FILE_KIND && linkat(dir_fd, from, dir_fd, to, 0) == 0) {
        unlinkat(dir_fd, from, 0);
        return 0;
    }
    if (kind == FILE_KIND && errno == EEXIST) return errno;
    /* Neither is to be had here: what is replaced is made new. */
    const int fd = kind == FILE_KIND
                       ? openat(dir_fd, to, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)
                       : mkdirat(dir_fd, to, 0700);
    if (fd < 0) return errno;
    if (kind == FILE_KIND) close(fd);
    return renameat(dir_fd, from, dir_fd, to) == 0 ? 0 : errno;
}

static int new_fd(struct own *o, const char *name, enum kind kind)
{
    if (kind == FILE_KIND)
        return openat(o->dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (mkdirat(o->dir_fd, name, 0700) != 0) return -1;
    return openat(o->dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

static int make(struct own *o, const char *name, enum kind kind)
{
    char passing[64] = "";
    struct identity id;
    int rc = 0, errnum = 0;
    if (!o->keep && o->note_fd < 0) TRY(note_make(o));
    if (!o->keep) snprintf(passing, sizeof passing, PREFIX "%s-%u", o->key, o->number++);
    atomic_fetch_add(&o->making, 1);
    if (asked_to_stop(o)) {
        atomic_fetch_sub(&o->making, 1);
        return err_set(ERR_INTERRUPT, "interrupted");
    }
    const int fd = new_fd(o, o->keep ? name : passing, kind);
    if (fd < 0) errnum = errno;
    if (fd >= 0 && !o->keep) {
        identity_of_fd(fd, &id);
        rc = note_add(o, kind == FILE_KIND ? "file" : "folder", &id, name);
        if (rc == 0) errnum = rename_new(o->dir_fd, passing, name, kind);
        if (rc < 0 || errnum) unlinkat(o->dir_fd, passing, kind == FILE_KIND ? 0 : AT_REMOVEDIR);
    }
    if (errnum) rc = err_set_errno(ERR_IO, errnum, "cannot make %s%s", o->shown, name);
    if (rc == 0)
        rc = remember(o, name, fd, kind);
    else if (fd >= 0)
        close(fd);
    atomic_fetch_sub(&o->making, 1);
    return rc;
}

int own_make(struct own *o, const char *name)
{
    return make(o, name, FILE_KIND);
}

int own_make_folder(struct own *o, const char *name)
{
    return make(o, name, FOLDER_KIND);
}

int own_temps(struct own *o, const char *name)
{
    atomic_fetch_add(&o->making, 1);
    return note_add(o, "temps", NULL, name);
}

void own_temps_end(struct own *o)
{
    atomic_fetch_sub(&o->making, 1);
}

int own_expect(struct own *o, const char *name, struct identity id)
{
    if (asked_to_stop(o)) return err_set(ERR_INTERRUPT, "interrupted");
    return o->keep ? 0 : note_add(o, "file", &id, name);
}

int own_expect_text(struct own *o, const char *name, const char *mark)
{
    char what[8 + MARK_MAX];
    snprintf(what, sizeof what, "text %.*s", MARK_MAX, mark);
    return o->keep ? 0 : note_add(o, what, NULL, name);
}

int own_there(struct own *o, const char *name, struct identity id)
{
    struct identity now;
    const int fd = openat(o->dir_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        const int errnum = errno;
        /* Nobody would know of it once the note is gone. */
        if (!o->keep && identity_at(o->dir_fd, name, &now) && identity_same(id, now))
            unlinkat(o->dir_fd, name, 0);
        return err_set_errno(ERR_IO, errnum, "cannot open %s%s", o->shown, name);
    }
    if (identity_of_fd(fd, &now) && identity_same(id, now)) return remember(o, name, fd, FILE_KIND);
    close(fd);
    return err_set(ERR_IO, "%s%s: somebody else has put a file there meanwhile", o->shown, name);
}

int own_remove(struct own *o, const char *name)
{
    struct made *m = find(o, name);
    if (!m) return 0;
    const int errnum = made_unlink(o, m);
    close(m->fd);
    m->fd = -1;
    return errnum ? err_set_errno(ERR_IO, errnum, "cannot remove %s%s", o->shown, name) : 0;
}

void own_give(struct own *o, const char *name)
{
    struct made *m = find(o, name);
    if (m) atomic_store(&m->there, false);
}

const char *own_split(const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    if (slash)
        snprintf(folder, PATH_MAX, "%.*s", (int)(slash - path) + (slash == path), path);
    else
        snprintf(folder, PATH_MAX, ".");
    return slash ? slash + 1 : path;
}

int own_lock(struct own *o, const char *name)
{
    char path[PATH_MAX + NAME_MAX + 2];
    TRY(note_add(o, "lock", NULL, name));
    snprintf(path, sizeof path, "%s%s", o->shown, name);
    TRY(lock_take(path, &o->lock_fd));
    snprintf(o->lock, sizeof o->lock, "%s", name);
    return 0;
}

bool own_locked(const struct own *o)
{
    return o && o->lock_fd >= 0;
}

/* --- being asked to stop -------------------------------------------------------------------- */

/* A handler can reach nothing but a file-scope variable. */
static struct own *removable;

static void remove_made(struct own *o)
{
    for (int i = 0; !o->keep && i < OWN_FILES_MAX; i++)
        (void)made_unlink(o, &o->made[i]);
}

static void on_stop(void)
{
    struct own *o = removable;
    if (!o) return;
    remove_made(o);
    if (o->lock_fd >= 0 && !atomic_exchange(&o->unlocked, true)) unlinkat(o->dir_fd, o->lock, 0);
    if (o->note[0] && atomic_load(&o->making) == 0) unlinkat(o->dir_fd, o->note, 0);
}

/* Once asked to stop, while the work waits: what was made while the handler ran, what the library left,
 * and what others of the job made, which may have died. */
static void look(void *arg)
{
    struct own *o = arg;
    if (!stop_requested()) return;
    for (int i = 0; !o->keep && i < OWN_FILES_MAX; i++)
        if (o->made[i].name[0]) remove_named(o->dir_fd, is_pointer, o->made[i].name);
    on_stop();
    sweep(o->dir_fd, o->dir, o->job, o->key);
}

int own_watch(struct own *o)
{
    removable = o;
    o->watched = true;
    stop_hook(on_stop);
    return stop_watch_begin(look, o, true);
}

void own_end(struct own *o)
{
    char path[PATH_MAX + NAME_MAX + 2];
    if (!o) return;
    if (o->watched) {
        stop_watch_end();
        stop_hook(NULL);
        removable = NULL;
    }
    remove_made(o);
    /* Another run may have made a new lock since this one's name was taken away. */
    if (atomic_load(&o->unlocked) && o->lock_fd >= 0) {
        close(o->lock_fd);
        o->lock_fd = -1;
    }
    snprintf(path, sizeof path, "%s%s", o->shown, o->lock);
    lock_release(path, &o->lock_fd);
    if (o->note_fd >= 0) unlinkat(o->dir_fd, o->note, 0);
    close_all(o);
}
