/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of a program's own: whatever it is killed at, the next sweep removes all of them and nothing
 * else. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/err.h"
#include "base/own.h"
#include "base/stop.h"
#include "base/temp.h"

static char dir[] = "/tmp/test_own_XXXXXX";

/* --- the calls that a process is killed at --------------------------------------------------- */

static int kill_at, calls; /* before the n-th call; 0: not */
static int refused;        /* renameat2 and linkat are not to be had */
static int exhausted;      /* no descriptors for files that are there; 2: for folders */
static int read_only;      /* nothing can be made */
static int sweeping;       /* others hold a file at as many calls of flock that do not wait */
static int halved;         /* writes from now on until one is cut to half; 0: none is */
static bool full;          /* the one behind that finds no room */
static bool over_quota;    /* nothing can be renamed */

static void now(void)
{
    if (++calls == kill_at) raise(SIGKILL);
}

#define REAL(name, type) ((type)dlsym(RTLD_NEXT, name))

int openat(int at, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    if (flags & O_CREAT) now();
    errno = EMFILE;
    if (!(flags & (O_CREAT | O_DIRECTORY)) && exhausted == 1) return -1;
    if ((flags & O_DIRECTORY) && exhausted == 2) return -1;
    errno = EROFS;
    if ((flags & O_CREAT) && read_only) return -1;
    return REAL("openat", int (*)(int, const char *, int, ...))(at, path, flags, mode);
}

ssize_t write(int fd, const void *buf, size_t bytes)
{
    now();
    if (full && halved == 0) {
        full = false;
        errno = ENOSPC;
        return -1;
    }
    if (halved > 0 && --halved == 0) bytes /= 2;
    return REAL("write", ssize_t(*)(int, const void *, size_t))(fd, buf, bytes);
}

int flock(int fd, int how)
{
    now();
    errno = EWOULDBLOCK;
    if ((how & LOCK_NB) && sweeping > 0) return sweeping--, -1;
    return REAL("flock", int (*)(int, int))(fd, how);
}

int mkdirat(int at, const char *path, mode_t mode)
{
    now();
    return REAL("mkdirat", int (*)(int, const char *, mode_t))(at, path, mode);
}

int unlinkat(int at, const char *path, int flags)
{
    now();
    return REAL("unlinkat", int (*)(int, const char *, int))(at, path, flags);
}

int linkat(int a, const char *from, int b, const char *to, int flags)
{
    now();
    errno = EPERM;
    if (refused > 1) return -1;
    return REAL("linkat", int (*)(int, const char *, int, const char *, int))(a, from, b, to,
                                                                              flags);
}

int renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
    now();
    errno = EINVAL;
    if (refused > 0) return -1;
    return REAL("renameat2", int (*)(int, const char *, int, const char *, unsigned))(a, from, b,
                                                                                      to, flags);
}

int renameat(int a, const char *from, int b, const char *to)
{
    errno = EDQUOT;
    if (over_quota) return -1;
    return REAL("renameat", int (*)(int, const char *, int, const char *))(a, from, b, to);
}

/* --- a directory ----------------------------------------------------------------------------- */

static void path_of(const char *name, char out[4096])
{
    snprintf(out, 4096, "%s/%s", dir, name);
}

static void put(const char *name, const char *text)
{
    char path[4096];
    path_of(name, path);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static bool there(const char *name)
{
    char path[4096];
    struct stat st;
    path_of(name, path);
    return lstat(path, &st) == 0;
}

/* How many names there are; [out] note: that of a note, or "". */
static int names(char note[4096])
{
    int n = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    note[0] = '\0';
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        n += e->d_name[0] != '.' || strncmp(e->d_name, ".nht1-", 6) == 0;
        if (strstr(e->d_name, ".own")) snprintf(note, 4096, "%s", e->d_name);
    }
    closedir(d);
    return n;
}

static void clear(void)
{
    char command[4200];
    sweeping = halved = 0;
    snprintf(command, sizeof command, "rm -rf %s/* %s/.nht1-* %s/.d.*", dir, dir, dir);
    assert_int_equal(system(command), 0);
}

/* Runs body in a process of its own; returns its status as waitpid has it. */
static int status_of(int (*body)(void))
{
    int status = -1;
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(body());
    waitpid(child, &status, 0);
    return status;
}

/* --- one life -------------------------------------------------------------------------------- */

#define OR_RETURN(call)                                                                            \
    do {                                                                                           \
        if ((call) != 0) return __LINE__ % 200 + 1;                                                \
    } while (0)

/* All that can be made, once. */
static int life(void)
{
    struct own *o;
    struct identity id;
    char stem[4096], path[4096], *temp;
    own_sweep(dir, 0);
    OR_RETURN(own_begin(&o, dir, 0, false));
    OR_RETURN(own_lock(o, "d.lock"));
    OR_RETURN(own_make(o, "a"));
    OR_RETURN(own_make(o, "two\nlines %41"));
    path_of("b.nht1", stem);
    path_of("b", path);
    OR_RETURN(own_temps(o, "b.nht1"));
    const int fd = temp_open(stem, &temp);
    if (fd < 0 || !identity_of_fd(fd, &id)) return 1;
    now();
    OR_RETURN(own_expect(o, "b", id));
    OR_RETURN(rename(temp, path));
    now();
    OR_RETURN(own_adopt(o, "b", id));
    own_temps_end(o);
    OR_RETURN(own_make_folder(o, "folder"));
    path_of("folder/in it", path);
    const int in = openat(AT_FDCWD, path, O_RDWR | O_CREAT, 0600);
    if (in < 0) return 1;
    OR_RETURN(!own_has(o, "a"));
    OR_RETURN(own_remove(o, "a"));
    OR_RETURN(own_has(o, "a"));
    own_end(o);
    return 0;
}

static void killed_at_each_step(void **state)
{
    (void)state;
    char note[4096];
    int status = -1, n = 0;
    for (refused = 0; refused <= 2; refused++)
        for (n = 1, status = -1; status != 0; n++) {
            clear();
            put("mine", "dear diary");
            put("d.lock.txt", "");
            put(".nht1-0123456789abcdef.txt", "not a note");
            kill_at = n;
            calls = 0;
            status = status_of(life);
            kill_at = 0;
            if (status != 0) assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
            own_sweep(dir, 0);
            const int left = names(note);
            /* Where nothing renames without replacing, the name is kept free by an empty file. */
            if (left != 3)
                print_message("refused %d, killed at call %d: %d names\n", refused, n, left);
            if (refused < 2) assert_int_equal(left, 3);
            assert_true(left <= 4);
            assert_true(there("mine") && there("d.lock.txt") &&
                        there(".nht1-0123456789abcdef.txt"));
        }
    refused = 0;
    assert_true(n > 25);
}

/* --- who lives keeps its files --------------------------------------------------------------- */

static int ready[2];

static int make_and_wait(void)
{
    struct own *o;
    OR_RETURN(own_begin(&o, dir, 7, false));
    OR_RETURN(own_lock(o, "d.lock"));
    OR_RETURN(own_make(o, "a"));
    OR_RETURN(own_make(o, "b"));
    if (write(ready[1], "!", 1) != 1) return 1;
    for (;;)
        pause();
}

static pid_t start(int (*body)(void))
{
    char one;
    assert_int_equal(pipe(ready), 0);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(body());
    assert_int_equal(read(ready[0], &one, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return child;
}

static void end(pid_t child)
{
    int status;
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
}

static void files_of_who_lives_stay(void **state)
{
    (void)state;
    char note[4096];
    clear();
    const pid_t child = start(make_and_wait);
    own_sweep(dir, 0);
    own_sweep(dir, 8);
    assert_int_equal(names(note), 4);
    /* Those of a job that stops go; its lock and what notes it stay as long as it lives. */
    own_sweep(dir, 7);
    assert_int_equal(names(note), 2);
    assert_true(there("d.lock"));
    end(child);
    own_sweep(dir, 0);
    assert_int_equal(names(note), 0);
}

static void what_took_the_place_stays(void **state)
{
    (void)state;
    char note[4096], path[4096];
    clear();
    const pid_t child = start(make_and_wait);
    path_of("a", path);
    assert_int_equal(unlink(path), 0);
    put("other", "dear diary");
    path_of("other", note);
    assert_int_equal(rename(note, path), 0);
    path_of("b", path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("a", path), 0);
    end(child);
    own_sweep(dir, 0);
    assert_int_equal(names(note), 2);
    assert_true(there("a") && there("b"));
}

/* Puts another word in the note's second line: its 2nd is the first. */
static void change_maker(const char *note, int word, const char *value)
{
    char path[4096], text[8192], out[8192];
    path_of(note, path);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    const size_t bytes = fread(text, 1, sizeof text - 1, f);
    text[bytes] = '\0';
    fclose(f);
    char *at = strchr(text, '\n') + 1;
    for (int w = 1; w < word; w++)
        at = strchr(at, ' ') + 1;
    const size_t length = strcspn(at, " \n");
    snprintf(out, sizeof out, "%.*s%s%s", (int)(at - text), text, value, at + length);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(out, f);
    fclose(f);
}

/* The files of a dead maker, whose note says something else about it. */
static int left_after(int word, const char *value, int second, const char *second_value)
{
    char note[4096];
    clear();
    end(start(make_and_wait));
    names(note);
    change_maker(note, word, value);
    if (second) change_maker(note, second, second_value);
    own_sweep(dir, 0);
    return names(note);
}

static void what_cannot_be_known_stays(void **state)
{
    (void)state;
    char pid[24];
    assert_int_equal(left_after(2, "another-boot", 8, "elsewhere"), 4);
    /* Before this host was started last. */
    assert_int_equal(left_after(2, "another-boot", 0, ""), 0);
    /* Without locks: a process that lives, under its number and another start, in another namespace. */
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    assert_int_equal(left_after(7, "0", 0, ""), 0);
    assert_int_equal(left_after(7, "0", 4, pid), 0);
    assert_int_equal(left_after(7, "0", 3, "1"), 4);
    struct own *o;
    char note[4096];
    clear();
    assert_int_equal(own_begin_as(&o, dir, 0, (int64_t)getppid()), 0);
    assert_int_equal(own_make(o, "a"), 0);
    own_detach(o);
    own_sweep(dir, 0);
    assert_int_equal(names(note), 2);
}

/* What names other places, is no line, or does not end is passed over. */
static void a_note_that_is_wrong(void **state)
{
    (void)state;
    char note[4096], path[4096], outside[4096];
    struct identity id;
    clear();
    path_of("sub", path);
    assert_int_equal(mkdir(path, 0700), 0);
    put("sub/file", "dear diary");
    put("mine", "dear diary");
    path_of("sub/file", outside);
    assert_true(identity_of_path(outside, &id));
    end(start(make_and_wait));
    names(note);
    path_of(note, path);
    FILE *f = fopen(path, "a");
    assert_non_null(f);
    fprintf(f, "file %" PRId64 " %" PRId64 " %" PRId64 " sub/file\n", id.device, id.inode,
            id.born_ns);
    fprintf(f,
            "file %" PRId64 " %" PRId64 " %" PRId64
            " mine\nfile\n\nlock\nlock mine\ntemps ..\nlock .\ntext  mine\ntext dear mine\n",
            id.device, id.inode, id.born_ns);
    path_of("mine", outside);
    assert_true(identity_of_path(outside, &id));
    fprintf(f, "file %" PRId64 " %" PRId64 " %" PRId64 " mine", id.device, id.inode, id.born_ns);
    fclose(f);
    own_sweep(dir, 0);
    assert_int_equal(names(note), 2);
    assert_true(there("mine") && there("sub/file"));
}

/* Who lives may write the temporaries that a dead one of the same name has noted. */
static int begin_temps_and_wait(void)
{
    struct own *o;
    char path[4096], *temp;
    path_of("b", path);
    OR_RETURN(own_begin(&o, dir, 0, false));
    OR_RETURN(own_temps(o, "b"));
    if (temp_open(path, &temp) < 0) return 1;
    if (write(ready[1], "!", 1) != 1) return 1;
    for (;;)
        pause();
}

static void temps_of_who_lives_stay(void **state)
{
    (void)state;
    char note[4096];
    clear();
    const pid_t dead = start(begin_temps_and_wait), lives = start(begin_temps_and_wait);
    assert_int_equal(names(note), 4);
    end(dead);
    own_sweep(dir, 0);
    /* Which of the two files is whose nobody knows. */
    assert_int_equal(names(note), 4);
    end(lives);
    own_sweep(dir, 0);
    assert_int_equal(names(note), 0);
}

/* A file that is replaced again and again is known by a word in it. */
#define MARK "0123456789abcdef-mark"

static int note_texts_and_wait(void)
{
    static const char *const name[] = {"ours", "foreign", "late", "link", "absent"};
    struct own *o;
    OR_RETURN(own_begin(&o, dir, 0, false));
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++)
        OR_RETURN(own_expect_text(o, name[i], MARK));
    if (write(ready[1], "!", 1) != 1) return 1;
    for (;;)
        pause();
}

static void a_text_without_the_mark_stays(void **state)
{
    (void)state;
    static char late[70000];
    char note[4096], path[4096];
    clear();
    memset(late, ' ', sizeof late - 1);
    memcpy(late + sizeof late - sizeof MARK, MARK, sizeof MARK);
    const pid_t child = start(note_texts_and_wait);
    put("ours", "{\n  \"run_id\": \"" MARK "\"\n}\n");
    put("foreign", "0123456789abcdef-marc");
    put("late", late); /* behind what is read of a file */
    put("target", MARK);
    path_of("link", path);
    assert_int_equal(symlink("target", path), 0);
    own_sweep(dir, 0);
    assert_int_equal(names(note), 6);
    end(child);
    own_sweep(dir, 0);
    assert_int_equal(names(note), 4);
    assert_true(there("foreign") && there("late") && there("link") && there("target"));
}

static void a_temporary_that_nobody_holds_goes(void **state)
{
    (void)state;
    char path[4096], *held, *left, *other, note[4096];
    int hold, released, of_other;
    clear();
    path_of("a", path);
    const int fd = temp_open_held(path, &held, &hold);
    const int left_fd = temp_open_held(path, &left, &released);
    path_of("a.b", path);
    const int other_fd = temp_open_held(path, &other, &of_other);
    assert_true(fd >= 0 && left_fd >= 0 && other_fd >= 0 && hold >= 0 && released >= 0);
    close(released);
    close(of_other);
    put("a.01234567.tmp.txt", "no temporary");
    path_of("a", path);
    temp_sweep(path);
    assert_int_equal(access(held, F_OK), 0);
    assert_int_equal(access(left, F_OK), -1);
    assert_int_equal(access(other, F_OK), 0);
    assert_int_equal(names(note), 3);
    close(hold);
    temp_sweep(path);
    assert_int_equal(access(held, F_OK), -1);
    close(fd);
    close(left_fd);
    close(other_fd);
    free(held);
    free(left);
    free(other);
}

/* Another program that starts removes a dead one's lock, and holds it meanwhile. */
static void a_sweep_beside_is_no_other_run(void **state)
{
    (void)state;
    struct own *o;
    clear();
    assert_int_equal(own_begin(&o, dir, 0, false), 0);
    sweeping = 2;
    assert_int_equal(own_lock(o, "d.lock"), 0);
    assert_int_equal(sweeping, 0);
    assert_true(own_locked(o));
    own_end(o);
}

/* The name of a note says nothing to a user, that of the directory does. */
static void a_directory_that_is_read_only(void **state)
{
    (void)state;
    struct own *o;
    char path[4200];
    clear();
    snprintf(path, sizeof path, "the directory %s: %s", dir, strerror(EROFS));
    assert_int_equal(own_begin(&o, dir, 0, false), 0);
    read_only = 1;
    const int rc = own_lock(o, "d.lock");
    read_only = 0;
    assert_int_equal(rc, ERR_IO);
    assert_non_null(strstr(err_message(), path));
    assert_null(strstr(err_message(), ".own"));
    err_clear();
    own_end(o);
}

static void what_cannot_be_opened_is_not_left(void **state)
{
    (void)state;
    struct own *o;
    struct identity id;
    char note[4096], path[4096];
    clear();
    put("a", "");
    path_of("a", path);
    assert_true(identity_of_path(path, &id));
    assert_int_equal(own_begin(&o, dir, 0, false), 0);
    assert_int_equal(own_expect(o, "a", id), 0);
    exhausted = 1;
    const int rc = own_adopt(o, "a", id);
    exhausted = 0;
    assert_int_equal(rc, ERR_IO);
    err_clear();
    own_end(o);
    assert_int_equal(names(note), 0);
}

static void a_folder_that_cannot_be_opened_is_not_lost(void **state)
{
    (void)state;
    struct own *o;
    char note[4096];
    clear();
    assert_int_equal(own_begin(&o, dir, 0, false), 0);
    exhausted = 2;
    assert_int_equal(own_make_folder(o, "d"), ERR_IO);
    exhausted = 0;
    err_clear();
    own_end(o);
    assert_int_equal(names(note), 0);
    /* What cannot be emptied stays noted, for the next sweep. */
    assert_int_equal(own_begin(&o, dir, 0, false), 0);
    assert_int_equal(own_make_folder(o, "d"), 0);
    put("d/file", "");
    exhausted = 2;
    assert_int_equal(own_remove(o, "d"), ERR_IO);
    err_clear();
    own_end(o);
    exhausted = 0;
    assert_true(there("d/file"));
    own_sweep(dir, 0);
    assert_int_equal(names(note), 0);
}

/* Many more than descriptors are held for: with their temporary files, and what MPI keeps beside them. */
enum { MANY = 3000 };
static int make_many(struct own *o)
{
    char name[32], path[4096];
    struct identity id;
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "d.%d", i);
        OR_RETURN(own_temps(o, name));
        own_temps_end(o);
        put(name, "");
        path_of(name, path);
        OR_RETURN(!identity_of_path(path, &id));
        OR_RETURN(own_expect(o, name, id));
        OR_RETURN(own_adopt(o, name, id));
    }
    for (int i = 0; i < MANY; i += 100) {
        static const char *const beside[] = {"d.%d.01234567.tmp", ".d.%d.shfp.5", "d.%d-7-8.lock",
                                             "d.%d.locktest.0"};
        for (int k = 0; k < 4; k++) {
            snprintf(name, sizeof name, beside[k], i);
            put(name, "");
        }
    }
    return 0;
}

static int many_killed(void)
{
    struct own *o;
    OR_RETURN(own_begin(&o, dir, 0, false));
    OR_RETURN(make_many(o));
    return raise(SIGKILL);
}

static int many_stopped(void)
{
    struct own *o;
    OR_RETURN(own_begin(&o, dir, 0, false));
    OR_RETURN(stop_install());
    OR_RETURN(own_watch(o));
    OR_RETURN(make_many(o));
    kill(getpid(), SIGTERM); // its own thread takes it
    char note[4096];
    for (int tries = 0; names(note) > MANY / 100 && tries < 1000; tries++)
        usleep(10000);
    return 0; /* without own_end */
}

static void of_thousands_of_files_none_is_left(void **state)
{
    (void)state;
    struct own *o;
    struct identity id;
    char note[4096], path[4096];
    clear();
    put("d.99999.01234567.tmp", "mine");
    put("d.100-7-x.lock", "mine");
    int status = status_of(many_killed);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    own_sweep(dir, 0);
    assert_int_equal(names(note), 2);
    assert_false(there(".d.100.shfp.5"));
    /* The temporary files are the next sweep's. */
    status = status_of(many_stopped);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(names(note), 2 + MANY / 100);
    assert_false(there(".d.100.shfp.5"));
    /* What another program has put in the place of one of them stays; names are used again. */
    clear();
    assert_int_equal(own_begin(&o, dir, 0, false), 0);
    assert_int_equal(make_many(o), 0);
    assert_true(own_has(o, "d.2999") && !own_has(o, "d.3000"));
    path_of("d.2998", path);
    assert_int_equal(unlink(path), 0);
    put("d.2998", "theirs");
    assert_int_equal(own_remove(o, "d.2999"), 0);
    assert_false(own_has(o, "d.2999"));
    assert_int_equal(own_make(o, "d.2999"), 0);
    own_end(o);
    assert_true(identity_of_path(path, &id) && id.bytes == 6);
    path_of("d.2999", path);
    assert_false(identity_of_path(path, &id));
    clear();
}

/* What is short is written to its end; on a full disk half a line may have been written. */
static int note_half_a_line(void)
{
    struct own *o;
    OR_RETURN(own_begin(&o, dir, 0, false));
    halved = 2; /* behind the lines that tell who the maker is */
    OR_RETURN(own_make(o, "c"));
    halved = 1;
    full = true;
    OR_RETURN(own_make(o, "a") != ERR_IO);
    OR_RETURN(strstr(err_message(), strerror(ENOSPC)) == NULL);
    OR_RETURN(own_make(o, "b"));
    return raise(SIGKILL);
}

static void half_a_line_harms_no_other(void **state)
{
    (void)state;
    char note[4096];
    clear();
    const int status = status_of(note_half_a_line);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(names(note), 3);
    own_sweep(dir, 0);
    assert_int_equal(names(note), 0);
}

/* --- making ---------------------------------------------------------------------------------- */

static void nothing_is_replaced(void **state)
{
    (void)state;
    struct own *o;
    char note[4096];
    for (refused = 0; refused <= 2; refused++) {
        clear();
        put("a", "dear diary");
        assert_int_equal(own_begin(&o, dir, 0, false), 0);
        assert_int_equal(own_make(o, "a"), ERR_IO);
        assert_non_null(strstr(err_message(), "File exists"));
        err_clear();
        assert_int_equal(own_make_folder(o, "a"), ERR_IO);
        err_clear();
        assert_int_equal(own_make(o, "x/y"), ERR_IO);
        err_clear();
        assert_int_equal(own_make(o, "b"), 0);
        over_quota = refused == 2;
        assert_int_equal(own_make(o, "c"), over_quota ? ERR_IO : 0);
        assert_int_equal(own_make_folder(o, "d"), over_quota ? ERR_IO : 0);
        err_clear();
        assert_true(there("c") == !over_quota && there("d") == !over_quota);
        over_quota = false;
        own_end(o);
        assert_int_equal(names(note), 1);
    }
    refused = 0;
    /* Results are no files to be removed. */
    assert_int_equal(own_begin(&o, dir, 0, true), 0);
    assert_int_equal(own_make(o, "kept"), 0);
    own_end(o);
    assert_true(there("kept"));
    assert_int_equal(names(note), 2);
}

/* --- being asked to stop --------------------------------------------------------------------- */

static int work_until_asked(void)
{
    struct own *o;
    if (stop_install() < 0) return 1;
    OR_RETURN(own_begin(&o, dir, 7, false));
    OR_RETURN(own_watch(o));
    OR_RETURN(own_lock(o, "e.lock"));
    OR_RETURN(own_make(o, "c"));
    if (write(ready[1], "!", 1) != 1) return 1;
    while (!stop_requested())
        usleep(1000);
    /* As where a call does not come back; made in vain. */
    if (own_make(o, "late") != ERR_INTERRUPT) return 1;
    for (;;)
        pause();
}

static void asked_to_stop(void **state)
{
    (void)state;
    char note[4096];
    int status;
    clear();
    end(start(make_and_wait)); /* another of this job, which has died */
    const pid_t child = start(work_until_asked);
    assert_int_equal(names(note), 7);
    kill(child, SIGTERM);
    while (names(note) > 0) /* the runner ends what hangs */
        usleep(1000);
    kill(child, SIGTERM); /* the second one ends it */
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    assert_int_equal(names(note), 0);
}

static int make_dir(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    clear();
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_at_each_step),
        cmocka_unit_test(files_of_who_lives_stay),
        cmocka_unit_test(what_took_the_place_stays),
        cmocka_unit_test(what_cannot_be_known_stays),
        cmocka_unit_test(a_note_that_is_wrong),
        cmocka_unit_test(temps_of_who_lives_stay),
        cmocka_unit_test(a_text_without_the_mark_stays),
        cmocka_unit_test(a_temporary_that_nobody_holds_goes),
        cmocka_unit_test(a_sweep_beside_is_no_other_run),
        cmocka_unit_test(a_directory_that_is_read_only),
        cmocka_unit_test(what_cannot_be_opened_is_not_left),
        cmocka_unit_test(a_folder_that_cannot_be_opened_is_not_lost),
        cmocka_unit_test(of_thousands_of_files_none_is_left),
        cmocka_unit_test(half_a_line_harms_no_other),
        cmocka_unit_test(nothing_is_replaced),
        cmocka_unit_test(asked_to_stop),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
