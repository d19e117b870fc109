/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The life of a process: where following begins and ends, and what becomes of it in its children and in
 * programs that it runs. */
#include "companions/profile/preload/declared.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "companions/profile/preload/follow.h"
#include "companions/profile/preload/next.h"
#include "companions/profile/preload/posix.h"

__attribute__((constructor)) static void begin(void)
{
    if (!count_setup()) return;
    /* Nothing is held across fork: flushing all streams in another thread waits here for us while it holds
     * what the C library's fork waits for. */
    pthread_atfork(NULL, NULL, follow_forked);
    stdio_begin();
    follow_begin();
}

/* What nobody has seen is told when the process ends: rings of io_uring, and writing past this library. */
__attribute__((destructor)) static void end_process(void)
{
    char link[64], to[64], text[64];
    if (!follow_on() || !follow_is_process()) return;
    (*count_inside())++;
    for (int fd = 0; fd < 1024; fd++) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        const ssize_t n = readlink(link, to, sizeof to - 1);
        to[n > 0 ? n : 0] = '\0';
        if (strcmp(to, "anon_inode:[io_uring]") == 0)
            count_unseen(profile_unseen_word(PROFILE_UNSEEN_URING), "io_uring");
    }
    const int64_t bytes = follow_unseen_bytes();
    snprintf(text, sizeof text, "%lld", (long long)bytes);
    if (bytes > 0) count_unseen(profile_unseen_word(PROFILE_UNSEEN_DIRECT), text);
    (*count_inside())--;
    count_leaving();
}

void _exit(int status)
{
    REAL(void, _exit, int);
    count_left();
    end_process();
    real(status);
    __builtin_unreachable();
}

void _Exit(int status)
{
    _exit(status);
}

/* ------------------------------------------------------------------ another root folder, another user */

/* After such a call the folder of the counters may be out of reach: that is told before it, and taken back. */
#define AWAY(name, call)                                                                           \
    const char *const word = profile_unseen_word(PROFILE_UNSEEN_AWAY);                             \
    const bool told = follow_on() && count_unseen(word, name);                                     \
    const int rc = call;                                                                           \
    if (told) count_unseen_unless_here(word);                                                      \
    return rc;

int chroot(const char *path)
{
    REAL(int, chroot, const char *);
    AWAY("chroot", real(path))
}

int setuid(uid_t user)
{
    REAL(int, setuid, uid_t);
    AWAY("setuid", real(user))
}

int seteuid(uid_t user)
{
    REAL(int, seteuid, uid_t);
    AWAY("seteuid", real(user))
}

int setreuid(uid_t real_user, uid_t user)
{
    REAL(int, setreuid, uid_t, uid_t);
    AWAY("setreuid", real(real_user, user))
}

int setresuid(uid_t real_user, uid_t user, uid_t saved)
{
    REAL(int, setresuid, uid_t, uid_t, uid_t);
    AWAY("setresuid", real(real_user, user, saved))
}

/* ------------------------------------------------------------------ programs that it runs */

/* Whether a file is a program that no library can be loaded into, or a script for one. */
static bool is_static(const char *path)
{
    enum { SCRIPTS_MAX = 5 }; /* one for the next, as far as the kernel goes */
    union {
        Elf64_Ehdr elf;
        char text[257]; /* as much as the kernel reads of a script, and its end */
    } head;
    char interpreter[sizeof head.text];
    bool program = false, loaded = false;
    (*count_inside())++;
    for (int i = 0; i <= SCRIPTS_MAX && path; i++) {
        Elf64_Phdr part;
        const int fd = open(path, O_RDONLY | O_CLOEXEC);
        const ssize_t n = fd >= 0 ? pread(fd, head.text, sizeof head.text - 1, 0) : 0;
        program = n >= (ssize_t)sizeof head.elf && memcmp(head.text, ELFMAG, SELFMAG) == 0;
        for (int p = 0; program && !loaded && p < head.elf.e_phnum; p++)
            loaded = pread(fd, &part, sizeof part,
                           (off_t)(head.elf.e_phoff + (uint64_t)p * sizeof part)) ==
                         (ssize_t)sizeof part &&
                     part.p_type == PT_INTERP;
        if (fd >= 0) close(fd);
        head.text[n > 0 ? n : 0] = '\0';
        path = NULL;
        if (!program && strncmp(head.text, "#!", 2) == 0) {
            const char *at = head.text + 2 + strspn(head.text + 2, " \t");
            snprintf(interpreter, sizeof interpreter, "%.*s", (int)strcspn(at, " \t\n"), at);
            path = interpreter;
        }
    }
    (*count_inside())--;
    return program && !loaded;
}

/* Whether children may be started in another folder, from which their names are seen. */
static bool elsewhere;

/* Tells of a program that nothing is seen of. Returns whether there is one: else nothing is run. */
static bool look_at(const char *path, char *const *environment)
{
    const bool known = !elsewhere || (path && path[0] == '/');
    bool passed = false;
    for (char *const *e = environment; e && *e; e++)
        passed |= strncmp(*e, "LD_PRELOAD=", 11) == 0 && strstr(*e, "libnht1-profile");
    (*count_inside())++;
    const bool there = access(path, X_OK) == 0 || !known;
    (*count_inside())--;
    if (!there) return false;
    if (!passed || !known || is_static(path))
        count_unseen(profile_unseen_word(PROFILE_UNSEEN_STATIC), path);
    return true;
}

/* The same for a name that is looked for in PATH. */
static void look_for(const char *name, char *const *environment)
{
    char path[PROFILE_PATH_MAX];
    const char *where = getenv("PATH");
    if (strchr(name, '/')) {
        (void)look_at(name, environment);
        return;
    }
    while (where && *where) {
        const size_t n = strcspn(where, ":");
        snprintf(path, sizeof path, "%.*s/%s", (int)n, where, name);
        if (look_at(path, environment)) return;
        where += n + (where[n] == ':');
    }
}

/* Another program takes the place of this one, unless that fails. */
static bool leaving(void)
{
    if (!follow_on()) return false;
    end_process();
    return follow_is_process();
}

static int stayed(bool left, int rc)
{
    if (left) count_going_on();
    return rc;
}

int execve(const char *path, char *const arguments[], char *const environment[])
{
    REAL(int, execve, const char *, char *const[], char *const[]);
    count_left();
    if (follow_on()) (void)look_at(path, environment);
    const bool left = leaving();
    return stayed(left, real(path, arguments, environment));
}

int execv(const char *path, char *const arguments[])
{
    return execve(path, arguments, environ);
}

int execvpe(const char *name, char *const arguments[], char *const environment[])
{
    REAL(int, execvpe, const char *, char *const[], char *const[]);
    count_left();
    if (follow_on()) look_for(name, environment);
    const bool left = leaving();
    return stayed(left, real(name, arguments, environment));
}

int execvp(const char *name, char *const arguments[])
{
    return execvpe(name, arguments, environ);
}

int fexecve(int fd, char *const arguments[], char *const environment[])
{
    REAL(int, fexecve, int, char *const[], char *const[]);
    char link[64];
    count_left();
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (follow_on()) (void)look_at(link, environment);
    const bool left = leaving();
    return stayed(left, real(fd, arguments, environment));
}

/* The arguments of a function like execl as an array, on the stack: it may be the child of vfork. */
#define LISTED(first, environment)                                                                 \
    va_list list;                                                                                  \
    int n = 1;                                                                                     \
    va_start(list, first);                                                                         \
    while (va_arg(list, char *))                                                                   \
        n++;                                                                                       \
    va_end(list);                                                                                  \
    char *argument[n + 1];                                                                         \
    argument[0] = (char *)(uintptr_t)first;                                                        \
    va_start(list, first);                                                                         \
    for (int i = 1; i <= n; i++)                                                                   \
        argument[i] = va_arg(list, char *);                                                        \
    char *const *environment = environ;

#pragma GCC diagnostic ignored "-Wvla"
int execl(const char *path, const char *first, ...)
{
    LISTED(first, environment)
    va_end(list);
    return execve(path, argument, environment);
}

int execlp(const char *name, const char *first, ...)
{
    LISTED(first, environment)
    va_end(list);
    return execvpe(name, argument, environment);
}

int execle(const char *path, const char *first, ...)
{
    LISTED(first, environment)
    environment = va_arg(list, char *const *);
    va_end(list);
    return execve(path, argument, environment);
}

/* What the C library opens for a child nobody sees. */
int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *actions, int fd, const char *path,
                                     int flags, mode_t mode)
{
    REAL(int, posix_spawn_file_actions_addopen, posix_spawn_file_actions_t *, int, const char *,
         int, mode_t);
    char whole[PROFILE_PATH_MAX];
    const bool changes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC));
    if (changes && posix_refused(path)) return EACCES;
    if (changes && follow_on() && paths_whole(AT_FDCWD, path, true, whole) == 0 &&
        paths_followed(whole)) {
        count_unseen(profile_unseen_word(PROFILE_UNSEEN_OPENED), whole);
        if (count_dropping()) return EACCES;
    }
    return real(actions, fd, path, flags, mode);
}

int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path)
{
    REAL(int, posix_spawn_file_actions_addchdir_np, posix_spawn_file_actions_t *, const char *);
    __atomic_store_n(&elsewhere, true, __ATOMIC_RELAXED);
    return real(actions, path);
}

int posix_spawn_file_actions_addfchdir_np(posix_spawn_file_actions_t *actions, int fd)
{
    REAL(int, posix_spawn_file_actions_addfchdir_np, posix_spawn_file_actions_t *, int);
    __atomic_store_n(&elsewhere, true, __ATOMIC_RELAXED);
    return real(actions, fd);
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const arguments[],
                char *const environment[])
{
    REAL(int, posix_spawn, pid_t *, const char *, const posix_spawn_file_actions_t *,
         const posix_spawnattr_t *, char *const[], char *const[]);
    if (follow_on() || follow_back()) (void)look_at(path, environment);
    return real(pid, path, actions, attributes, arguments, environment);
}

int posix_spawnp(pid_t *pid, const char *name, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const arguments[],
                 char *const environment[])
{
    REAL(int, posix_spawnp, pid_t *, const char *, const posix_spawn_file_actions_t *,
         const posix_spawnattr_t *, char *const[], char *const[]);
    if (follow_on() || follow_back()) look_for(name, environment);
    return real(pid, name, actions, attributes, arguments, environment);
}
