/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/own_note.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/err.h"
#include "base/sys.h"

#define HEAD           "nht1 own 1\n"
#define NOTE_BYTES_MAX (1 << 28)

static const char *const kind_name[] = {[OWN_FILE] = "file",
                                        [OWN_FOLDER] = "folder",
                                        [OWN_TEXT] = "text",
                                        [OWN_LOCK] = "lock",
                                        [OWN_TEMPS] = "temps"};

/* --- who lives ------------------------------------------------------------------------------ */

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

void own_maker_of(int64_t pid, struct own_maker *m)
{
    struct stat st;
    *m = (struct own_maker){.pid = pid, .start = start_of(pid)};
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

bool own_maker_dead(const struct own_maker *m, int free_now, const char *dir)
{
    struct own_maker me;
    if (free_now == 0) return false;
    own_maker_of((int64_t)getpid(), &me);
    if (me.boot[0] == '-' || strcmp(m->boot, me.boot) != 0)
        return me.boot[0] != '-' && strcmp(m->host, me.host) == 0 && !network(dir);
    if (m->held && free_now == 1) return true;
    return m->namespace == me.namespace && m->namespace >= 0 && start_of(m->pid) != m->start;
}

/* --- names ---------------------------------------------------------------------------------- */

bool own_is_name(const char *name)
{
    const size_t length = strlen(name);
    return length > 0 && length <= NAME_MAX && !strchr(name, '/') && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0;
}

bool own_is_note(const char *name, char key[OWN_KEY_DIGITS + 1])
{
    const size_t begin = strlen(OWN_PREFIX);
    if (strncmp(name, OWN_PREFIX, begin) != 0) return false;
    if (strspn(name + begin, "0123456789abcdef") != OWN_KEY_DIGITS) return false;
    memcpy(key, name + begin, OWN_KEY_DIGITS);
    key[OWN_KEY_DIGITS] = '\0';
    return strcmp(name + begin + OWN_KEY_DIGITS, OWN_SUFFIX) == 0;
}

bool own_still_named(int fd, int dir_fd, const char *name, struct stat *st)
{
    struct stat there;
    return fstat(fd, st) == 0 && fstatat(dir_fd, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           there.st_ino == st->st_ino && there.st_dev == st->st_dev;
}

/* --- lines ---------------------------------------------------------------------------------- */

void own_head_write(const struct own_maker *m, char *text, size_t bytes)
{
    snprintf(text, bytes, HEAD "maker %s %" PRId64 " %" PRId64 " %" PRId64 " %" PRIx64 " %d %s\n",
             m->boot, m->namespace, m->pid, m->start, m->job, m->held, m->host);
}

static bool read_maker(const char *line, struct own_maker *m)
{
    return sscanf(line, "maker %39s %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNx64 " %d %127s",
                  m->boot, &m->namespace, &m->pid, &m->start, &m->job, &m->held, m->host) == 7;
}

void own_line_write(const struct own_line *l, char text[OWN_LINE_MAX])
{
    char *to = text + sprintf(text, "%s ", kind_name[l->kind]);
    if (l->kind == OWN_FILE || l->kind == OWN_FOLDER)
        to += sprintf(to, "%" PRId64 " %" PRId64 " %" PRId64 " ", l->id.device, l->id.inode,
                      l->id.born_ns);
    if (l->kind == OWN_TEXT) to += sprintf(to, "%.*s ", OWN_MARK_MAX, l->mark);
    for (const unsigned char *c = (const unsigned char *)l->name; *c; c++) {
        if (*c > ' ' && *c != '%' && *c != 0x7f)
            *to++ = (char)*c;
        else
            to += sprintf(to, "%%%02x", *c);
    }
    *to++ = '\n';
    *to = '\0';
}

/* The name that stands for itself in a note, in its place. */
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

bool own_line_read(char *text, struct own_line *l)
{
    char *rest;
    const char *kind = strtok_r(text, " ", &rest);
    const size_t kinds = sizeof kind_name / sizeof kind_name[0];
    size_t k = 0;
    while (kind && k < kinds && strcmp(kind, kind_name[k]) != 0)
        k++;
    if (!kind || k == kinds) return false;
    *l = (struct own_line){.kind = (enum own_kind)k, .id = IDENTITY_NONE};
    if (l->kind == OWN_FILE || l->kind == OWN_FOLDER) {
        int after = 0;
        if (sscanf(rest, "%" SCNd64 " %" SCNd64 " %" SCNd64 " %n", &l->id.device, &l->id.inode,
                   &l->id.born_ns, &after) != 3)
            return false;
        rest += after;
    }
    if (l->kind == OWN_TEXT) {
        l->mark = strtok_r(NULL, " ", &rest);
        if (!l->mark || strlen(l->mark) < OWN_MARK_MIN) return false; /* others may have it */
    }
    unescape(rest);
    l->name = rest;
    return own_is_name(l->name);
}

/* --- notes ---------------------------------------------------------------------------------- */

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

char *own_note_next(struct own_note *n)
{
    char *line = n->lines, *end = line ? strchr(line, '\n') : NULL;
    if (!end) return NULL;
    *end = '\0';
    n->lines = end + 1;
    return line;
}

bool own_note_open(int dir_fd, const char *name, struct own_note *n)
{
    struct stat st;
    const size_t head = strlen(HEAD);
    *n = (struct own_note){.maker.pid = -1};
    n->fd = openat(dir_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (n->fd < 0) return false;
    if (fstat(n->fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid()) {
        close(n->fd);
        return false;
    }
    const bool taken = flock(n->fd, LOCK_EX | LOCK_NB) == 0;
    n->free_now = taken ? 1 : errno == EWOULDBLOCK ? 0 : -1;
    /* The maker may have finished it since, or another sweep, before it was free. */
    if (!own_still_named(n->fd, dir_fd, name, &st)) return true;
    n->text = read_all(n->fd, (int64_t)st.st_size);
    if (!n->text) return true;
    const size_t length = strlen(n->text);
    if (strncmp(n->text, HEAD, length < head ? length : head) != 0) return true;
    n->lines = length < head ? NULL : n->text + head;
    const char *line = own_note_next(n);
    n->is_empty = !line;
    if (!line || !read_maker(line, &n->maker)) n->lines = NULL;
    return true;
}

void own_note_close(struct own_note *n)
{
    free(n->text);
    close(n->fd);
}
