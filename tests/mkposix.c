/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mkposix WORD FILE: a program without MPI that writes FILE by POSIX calls or stdio in a known way, and looks
 * at each answer: what it expects is what Linux answers, so that it fails where a profiler answers otherwise. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <wchar.h>

#define EXPECT(what)                                                                               \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "mkposix: line %d: %s: %s\n", __LINE__, #what, strerror(errno));       \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define REFUSED(call, error) EXPECT((call) < 0 && errno == (error))

static char block[10000];

static off_t size_of(const char *name)
{
    struct stat st;
    return stat(name, &st) < 0 ? -1 : st.st_size;
}

/* Every call on open files: nothing that is read is written later. */
static void calls(const char *name)
{
    char back[4000];
    const struct iovec two[] = {{block, 1000}, {block + 1000, 500}};
    struct iovec into[] = {{back, 100}, {back + 100, 200}};
    const volatile int many = 1 << 20, less = -1; /* what the compiler would warn of */
    struct stat st;
    EXPECT(size_of(name) == -1 && errno == ENOENT);
    EXPECT(open(name, O_RDWR) < 0 && errno == ENOENT);
    const int fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0640);
    EXPECT(fd >= 0);
    EXPECT(open(name, O_RDWR | O_CREAT | O_EXCL, 0640) < 0 && errno == EEXIST);
    EXPECT(write(fd, block, 1000) == 1000 && lseek(fd, 0, SEEK_CUR) == 1000);
    EXPECT(pwrite(fd, block + 3000, 1000, 3000) == 1000 && lseek(fd, 0, SEEK_CUR) == 1000);
    EXPECT(writev(fd, two, 2) == 1500 && lseek(fd, 0, SEEK_CUR) == 2500);
    EXPECT(pwritev(fd, two, 2, 5000) == 1500);
    EXPECT(pwritev2(fd, two, 2, -1, 0) == 1500 && lseek(fd, 0, SEEK_CUR) == 4000);
    /* More buffers than a call may have nobody looks at. */
    REFUSED(writev(fd, two, many), EINVAL);
    REFUSED(pwritev(fd, two, less, 0), EINVAL);
    REFUSED(close_range(3, 2, 0), EINVAL);
    EXPECT(fstat(fd, &st) == 0 && st.st_size == 6500 && S_ISREG(st.st_mode));
    EXPECT(size_of(name) == 6500 && lseek(fd, -500, SEEK_END) == 6000);
    EXPECT(read(fd, back, sizeof back) == 500 && memcmp(back, block + 1000, 500) == 0);
    EXPECT(read(fd, back, sizeof back) == 0);
    EXPECT(pread(fd, back, 1000, 3000) == 1000 && preadv(fd, into, 2, 5900) == 300);
    EXPECT(lseek(fd, 5000, SEEK_SET) == 5000 && readv(fd, into, 2) == 300);
    EXPECT(lseek(fd, 0, SEEK_DATA) == 0 && lseek(fd, 7000, SEEK_DATA) < 0 && errno == ENXIO);
    /* A second number has the same position. */
    const int second = dup(fd);
    EXPECT(second >= 0 && lseek(fd, 100, SEEK_SET) == 100 && lseek(second, 0, SEEK_CUR) == 100);
    EXPECT(close(fd) == 0 && write(second, block + 100, 1000) == 1000);
    EXPECT(lseek(second, 0, SEEK_CUR) == 1100 && ftruncate(second, 6800) == 0);
    EXPECT(size_of(name) == 6800 && posix_fallocate(second, 0, 7000) == 0 && size_of(name) == 7000);
    EXPECT(fsync(second) == 0 && fdatasync(second) == 0 && close(second) == 0);
    EXPECT(write(second, block, 1) < 0 && errno == EBADF);
    const int end = open(name, O_WRONLY | O_APPEND);
    EXPECT(end >= 0 && write(end, block, 1000) == 1000 && lseek(end, 0, SEEK_CUR) == 8000);
    EXPECT(read(end, back, 1) < 0 && errno == EBADF);
    EXPECT((fcntl(end, F_GETFL) & (O_ACCMODE | O_APPEND)) == (O_WRONLY | O_APPEND));
    EXPECT(close(end) == 0 && truncate(name, 7500) == 0 && size_of(name) == 7500);
    const int in = open(name, O_RDONLY);
    EXPECT(in >= 0 && write(in, block, 1) < 0 && errno == EBADF);
    EXPECT(lseek(in, 0, SEEK_END) == 7500 && close(in) == 0);
    char other[4096];
    snprintf(other, sizeof other, "%s.2", name);
    for (int times = 0; times < 2; times++) {
        const int again = open(other, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        EXPECT(again >= 0 && size_of(other) == 0 && write(again, block, 2000) == 2000);
        EXPECT(close(again) == 0 && size_of(other) == 2000);
    }
}

/* Names: files that come, go and change their names; what is left is NAME with 3000 bytes, in a folder. */
static void names(const char *name)
{
    char folder[4096], temporary[4300], other[4200];
    snprintf(folder, sizeof folder, "%s.d", name);
    snprintf(temporary, sizeof temporary, "%s/XXXXXX", folder);
    snprintf(other, sizeof other, "%s/%d", folder, (int)getpid());
    EXPECT(access(folder, F_OK) < 0 && errno == ENOENT && mkdir(folder, 0755) == 0);
    EXPECT(mkdir(folder, 0755) < 0 && errno == EEXIST);
    const int fd = mkstemp(temporary);
    EXPECT(fd >= 0 && write(fd, block, 3000) == 3000);
    struct flock locked = {.l_type = F_WRLCK};
    EXPECT(fcntl(fd, F_SETLK, &locked) == 0 && size_of(temporary) == 3000);
    EXPECT(fcntl(fd, F_OFD_GETLK, &locked) == 0 && locked.l_type == F_WRLCK); /* it still holds */
    EXPECT(close(fd) == 0 && access(name, F_OK) < 0);
    EXPECT(rename(temporary, name) == 0 && size_of(name) == 3000 && size_of(temporary) == -1);
    FILE *file = fopen(other, "w");
    EXPECT(file && fputs("gone", file) >= 0 && fclose(file) == 0 && size_of(other) == 4);
    EXPECT(rmdir(folder) < 0 && errno == ENOTEMPTY);
    /* What is not there, or is no folder, holds nothing. */
    snprintf(temporary, sizeof temporary, "%s/none/sub", folder);
    EXPECT(mkdir(temporary, 0755) < 0 && errno == ENOENT);
    EXPECT(rename(other, temporary) < 0 && errno == ENOENT && size_of(other) == 4);
    snprintf(temporary, sizeof temporary, "%s/sub", other);
    EXPECT(mkdir(temporary, 0755) < 0 && errno == ENOTDIR);
    EXPECT(remove(other) == 0 && unlink(other) < 0 && errno == ENOENT);
    EXPECT(open(other, O_RDONLY) < 0 && errno == ENOENT);
    /* An open file lives on without a name. */
    const int nameless = open(other, O_RDWR | O_CREAT | O_TRUNC, 0600);
    EXPECT(nameless >= 0 && unlink(other) == 0 && write(nameless, block, 100) == 100);
    EXPECT(lseek(nameless, 0, SEEK_END) == 100 && close(nameless) == 0);
    EXPECT(rmdir(folder) == 0 && access(folder, F_OK) < 0);
}

/* A function that the C library has, too, made of a call by its number: what is a function of that name is this one. */
int renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
    return (int)syscall(SYS_renameat2, from, old, to, new, flags);
}

/* The same by the numbers of system calls, and pieces that are appended whatever their offset: of what FILE was
 * nothing is left, then it has 10000, 3000, 500 and 40 bytes. */
static void by_number(const char *name)
{
    char other[4200];
    const struct iovec one = {block, 500};
    snprintf(other, sizeof other, "%s.tmp", name);
    EXPECT(syscall(SYS_unlinkat, AT_FDCWD, name, 0) == 0 && size_of(name) == -1);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, other, O_RDWR | O_CREAT | O_EXCL, 0644);
    EXPECT(fd >= 0 && write(fd, block, 10000) == 10000 && pwrite(fd, block, 10, 20000) == 10);
    EXPECT(syscall(SYS_ftruncate, fd, 10000L) == 0 && syscall(SYS_dup3, fd, 50, 0) == 50);
    EXPECT(pwrite(50, block + 30, 20, 30) == 20 && syscall(SYS_close, fd) == 0);
    EXPECT(syscall(SYS_close_range, 50, 50, 0) == 0);
    EXPECT(renameat2(AT_FDCWD, other, AT_FDCWD, name, 0) == 0);
    snprintf(other, sizeof other, "%s.d", name);
    EXPECT(size_of(name) == 10000 && syscall(SYS_mkdirat, AT_FDCWD, other, 0755) == 0);
    EXPECT(syscall(SYS_unlinkat, AT_FDCWD, other, AT_REMOVEDIR) == 0 && size_of(other) == -1);
    fd = open(name, O_WRONLY | O_APPEND);
    EXPECT(fd >= 0 && pwrite(fd, block, 3000, 0) == 3000 && lseek(fd, 0, SEEK_CUR) == 0);
    EXPECT(size_of(name) == 13000 && close(fd) == 0);
    fd = open(name, O_WRONLY);
    EXPECT(fd >= 0 && pwritev2(fd, &one, 1, 0, RWF_APPEND) == 500 && size_of(name) == 13500);
    EXPECT(lseek(fd, 0, SEEK_CUR) == 0 && lseek(fd, 0, SEEK_END) == 13500);
    EXPECT(write(fd, block, 40) == 40 && close(fd) == 0);
}

static void make_file(const char *name, size_t bytes)
{
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    EXPECT(fd >= 0 && write(fd, block, bytes) == (ssize_t)bytes && close(fd) == 0);
}

/* How many entries a folder shows, "." and ".." among them. */
static int entries_of(const char *name)
{
    int n = 0, again = 0;
    DIR *d = opendir(name);
    EXPECT(d);
    while (readdir(d))
        n++;
    rewinddir(d);
    for (errno = 0; readdir(d); again++)
        ;
    EXPECT(errno == 0 && n == again && closedir(d) == 0);
    return n;
}

/* A folder that is made, listed, worked in and removed; FILE with 100 bytes is left. */
static void folders(const char *name)
{
    char folder[4096], path[4200], cwd[4096], back[4096];
    struct dirent **entry;
    struct stat st;
    glob_t found;
    snprintf(folder, sizeof folder, "%s.d", name);
    EXPECT(!opendir(folder) && errno == ENOENT && mkdir(folder, 0755) == 0);
    EXPECT(entries_of(folder) == 2 && getcwd(back, sizeof back));
    REFUSED(open(name, O_PATH), ENOENT);
    make_file(name, 100);
    int fd = open(folder, O_PATH | O_DIRECTORY);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%d", folder, i);
        make_file(path, 500);
    }
    EXPECT(fd >= 0 && faccessat(fd, "2", F_OK, 0) == 0 && close(fd) == 0);
    EXPECT((fd = open(path, O_PATH)) >= 0 && fstat(fd, &st) == 0 && st.st_size == 500);
    REFUSED(read(fd, back, 1), EBADF);
    REFUSED(write(fd, back, 1), EBADF);
    REFUSED(lseek(fd, 0, SEEK_SET), EBADF);
    EXPECT(close(fd) == 0);
    snprintf(path, sizeof path, "%s/sub", folder);
    EXPECT(mkdir(path, 0755) == 0 && entries_of(folder) == 6 && entries_of(path) == 2);
    snprintf(path, sizeof path, "%s/sub/last", folder);
    make_file(path, 10);
    EXPECT(scandir(folder, &entry, NULL, alphasort) == 6);
    EXPECT(strcmp(entry[2]->d_name, "0") == 0 && strcmp(entry[5]->d_name, "sub") == 0);
    EXPECT(entry[2]->d_type == DT_REG && entry[5]->d_type == DT_DIR);
    snprintf(path, sizeof path, "%s/[0-9s]*", folder);
    EXPECT(glob(path, 0, NULL, &found) == 0 && found.gl_pathc == 4);
    EXPECT(chdir(folder) == 0 && getcwd(cwd, sizeof cwd) && strlen(cwd) > strlen(back));
    EXPECT(strncmp(cwd, back, strlen(back)) == 0 && entries_of(".") == 6 && size_of("2") == 500);
    EXPECT(access("..", F_OK) == 0 && size_of("no such file") == -1);
    make_file("3", 50);
    EXPECT(realpath("3", path) && strncmp(path, cwd, strlen(cwd)) == 0 && path[strlen(cwd)] == '/');
    EXPECT(rename("3", "4") == 0 && entries_of(".") == 7 && unlink("4") == 0);
    EXPECT(chdir("sub") == 0 && entries_of(".") == 3 && entries_of("..") == 6);
    fd = open("..", O_RDONLY | O_DIRECTORY);
    EXPECT(fd >= 0 && unlink("last") == 0 && fchdir(fd) == 0 && close(fd) == 0);
    EXPECT(rmdir("sub") == 0 && entries_of(".") == 5 && chdir(back) == 0);
    REFUSED(rmdir(folder), ENOTEMPTY);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%d", folder, i);
        EXPECT(unlink(path) == 0 && entries_of(folder) == 4 - i);
    }
    EXPECT(rmdir(folder) == 0 && !opendir(folder) && size_of(name) == 100);
}

static int pass_entry(const char *name, const struct stat *st, int what, struct FTW *at)
{
    (void)name;
    (void)st;
    (void)what;
    (void)at;
    return 0;
}

/* A folder is listed by the C library's own calls, with a file that is gone in the end. */
static void walks(const char *name)
{
    char folder[4096], path[4200];
    snprintf(folder, sizeof folder, "%s.d", name);
    snprintf(path, sizeof path, "%s/gone", folder);
    EXPECT(mkdir(folder, 0755) == 0);
    make_file(path, 10);
    EXPECT(nftw(folder, pass_entry, 10, FTW_PHYS) == 0 && unlink(path) == 0);
    make_file(name, 10);
}

/* stdio in all its ways: 12345 + 11 + 5 + 6 bytes, the last ones when the program ends. */
static void stream(const char *name)
{
    char line[64];
    static char buffer[1 << 16];
    struct stat st;
    FILE *file = fopen(name, "wx");
    FILE *other = fopen(name, "wx");
    EXPECT(file && !other && errno == EEXIST);
    EXPECT(fwrite(block, 1, 10000, file) == 10000 && fwrite(block, 1, 2345, file) == 2345);
    EXPECT(ftello(file) == 12345 && fflush(file) == 0 && fstat(fileno(file), &st) == 0);
    EXPECT(st.st_size == 12345 && fprintf(file, "%d %s\n", 17, "numbers") == 11);
    EXPECT(fclose(file) == 0 && size_of(name) == 12356);
    file = fopen(name, "r+");
    EXPECT(file && fseeko(file, -11, SEEK_END) == 0 && ftello(file) == 12345);
    EXPECT(fgets(line, sizeof line, file) && strcmp(line, "17 numbers\n") == 0 &&
           fgetc(file) == EOF);
    EXPECT(fseeko(file, 100, SEEK_SET) == 0 && fgetc(file) == (unsigned char)block[100] &&
           fclose(file) == 0);
    const int fd = open(name, O_WRONLY | O_APPEND);
    file = fdopen(fd, "a");
    EXPECT(file && setvbuf(file, buffer, _IOFBF, sizeof buffer) == 0 && fputs("more\n", file) >= 0);
    other = freopen(name, "a", file);
    EXPECT(other == file && size_of(name) == 12361);
    FILE *third = fopen(name, "a");
    EXPECT(third && ftello(third) == 12361 && fclose(third) == 0);
    EXPECT(fputs("ended\n", file) >= 0); /* written when the program ends */
}

/* stdio into a pipe and the counter of an eventfd, whose bytes are no file's, and 7 bytes of a file. */
static void piped(const char *name)
{
    const int counter = eventfd(0, 0);
    EXPECT(counter >= 0 && eventfd_write(counter, 1) == 0 && close(counter) == 0);
    FILE *pipe = popen("cat >/dev/null", "w"), *file = fopen(name, "w");
    EXPECT(pipe && file && fwrite(block, 1, 10000, pipe) == 10000 && pclose(pipe) == 0);
    EXPECT(fputs("a file\n", file) >= 0 && fclose(file) == 0);
}

/* The same files by other ways: links to open numbers, also without a name, and streams opened again. */
static void again(const char *name)
{
    char link[64], other[4096], back[100];
    snprintf(other, sizeof other, "%s.2", name);
    const int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    EXPECT(fd >= 0 && write(fd, block, 5000) == 5000);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const int in = open(link, O_RDONLY);
    EXPECT(in >= 0 && pread(in, back, 100, 4950) == 50 && memcmp(back, block + 4950, 50) == 0);
    EXPECT(close(in) == 0 && size_of(link) == 5000);
    const int shorter = open(link, O_WRONLY | O_TRUNC);
    EXPECT(shorter >= 0 && size_of(name) == 0 && lseek(fd, 0, SEEK_CUR) == 5000);
    EXPECT(pwrite(shorter, block, 5000, 0) == 5000 && close(shorter) == 0);
    EXPECT(dup2(fd, STDOUT_FILENO) == STDOUT_FILENO);
    const int out = open("/dev/stdout", O_WRONLY | O_TRUNC);
    EXPECT(out >= 0 && size_of(name) == 0 && write(out, block, 5000) == 5000 && close(out) == 0);
    FILE *file = fopen(other, "w");
    EXPECT(file && fputs("first", file) >= 0 && (file = freopen(NULL, "w", file)));
    EXPECT(size_of(other) == 0 && fputs("second\n", file) >= 0);
    EXPECT((file = freopen(other, "a", file)) && ftello(file) == 7 && fputs("third\n", file) >= 0);
    EXPECT((file = freopen(NULL, "a", file)) && ftello(file) == 13 && fclose(file) == 0);
    EXPECT(size_of(other) == 13 && size_of(name) == 5000 && close(fd) == 0);
}

/* Names that end in a slash or in a dot. */
static void endings(const char *name)
{
    char slash[4096], dot[4096], folder[4096], folder_dot[4096], other[4096], other_slash[4200];
    snprintf(slash, sizeof slash, "%s/", name);
    snprintf(dot, sizeof dot, "%s/.", name);
    snprintf(folder, sizeof folder, "%s.d/", name);
    snprintf(folder_dot, sizeof folder_dot, "%s.d/.", name);
    snprintf(other, sizeof other, "%s.other", name);
    snprintf(other_slash, sizeof other_slash, "%s/", other);
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    EXPECT(fd >= 0 && write(fd, block, 1000) == 1000 && close(fd) == 0 && mkdir(folder, 0755) == 0);
    REFUSED(open(slash, O_WRONLY), ENOTDIR);
    REFUSED(open(slash, O_WRONLY | O_CREAT, 0644), EISDIR);
    REFUSED(open(dot, O_WRONLY), ENOTDIR);
    REFUSED(open(dot, O_WRONLY | O_CREAT | O_TRUNC, 0644), ENOTDIR);
    REFUSED(open(slash, O_RDONLY), ENOTDIR);
    REFUSED(access(slash, F_OK), ENOTDIR);
    REFUSED(size_of(slash), ENOTDIR);
    REFUSED(truncate(slash, 10), ENOTDIR);
    REFUSED(truncate(dot, 10), ENOTDIR);
    REFUSED(unlink(slash), ENOTDIR);
    REFUSED(unlink(dot), ENOTDIR);
    REFUSED(rename(slash, other), ENOTDIR);
    REFUSED(rename(name, other_slash), ENOTDIR);
    REFUSED(mkdir(slash, 0755), EEXIST);
    REFUSED(rmdir(slash), ENOTDIR);
    REFUSED(mkdir(folder_dot, 0755), EEXIST);
    REFUSED(rmdir(folder_dot), EINVAL);
    REFUSED(unlink(folder), EISDIR);
    EXPECT(size_of(name) == 1000 && rmdir(folder) == 0);
}

/* Changes a file that was there in all ways; each may be refused. */
static void refuses(const char *name)
{
    char other[4096];
    snprintf(other, sizeof other, "%s.other", name);
    const int fd = open(name, O_WRONLY | O_TRUNC);
    const bool changed = truncate(name, 1) == 0 || rename(name, other) == 0 || unlink(name) == 0;
    EXPECT(fd >= 0 && write(fd, block, 100) == 100 && changed);
}

/* The same where no number of a file is free. */
static void numbers(const char *name)
{
    const struct rlimit none = {3, 3};
    EXPECT(setrlimit(RLIMIT_NOFILE, &none) == 0);
    refuses(name);
}

static void print_times(const char *name)
{
    struct stat st;
    EXPECT(stat(name, &st) == 0);
    printf("%s %o %lld %lld.%09ld\n", name, st.st_mode & 07777, (long long)st.st_mtime,
           (long long)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
}

/* Mode and times of a file of its own, and of one, FILE.before, that was there and is not written; a folder
 * with a name of its own. */
static void attributes(const char *name)
{
    static const struct timespec then[2] = {{1000000000, 0}, {1000000000, 0}};
    char before[4096], folder[4096], old[4096];
    struct stat st;
    snprintf(before, sizeof before, "%s.before", name);
    snprintf(old, sizeof old, "%s.old", name);
    snprintf(folder, sizeof folder, "%s.XXXXXX", name);
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644), in = open(before, O_RDONLY);
    EXPECT(fd >= 0 && in >= 0 && write(fd, block, 1000) == 1000 && fchmod(fd, 0640) == 0);
    EXPECT(futimens(fd, then) == 0 && fchown(fd, (uid_t)-1, getegid()) == 0 && close(fd) == 0);
    EXPECT(chmod(name, 0600) == 0 && utimensat(AT_FDCWD, name, then, 0) == 0);
    setxattr(name, "user.test", "1", 1, 0); /* whether the file system has these or not */
    EXPECT(fchmod(in, 0444) == 0 && futimens(in, then) == 0 && close(in) == 0);
    EXPECT(chmod(before, 0640) == 0 && utimensat(AT_FDCWD, before, NULL, 0) == 0);
    setxattr(before, "user.test", "1", 1, 0);
    EXPECT(chown(before, (uid_t)-1, getegid()) == 0);
    EXPECT(chmod("no such file", 0600) < 0 && errno == ENOENT);
    /* What it finds and writes. */
    EXPECT(stat(old, &st) == 0 && (st.st_mode & 0777) == 0755 && access(old, X_OK) == 0);
    const int more = open(old, O_WRONLY | O_APPEND);
    EXPECT(st.st_mtime == then[1].tv_sec && more >= 0 && write(more, block, 10) == 10);
    EXPECT(close(more) == 0 && stat(old, &st) == 0 && st.st_mtime > then[1].tv_sec);
    EXPECT(mkdtemp(folder) == folder && chmod(folder, 0755) == 0 && rmdir(folder) == 0);
    print_times(name);
    print_times(before);
}

static void mapped(const char *name)
{
    const int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    EXPECT(fd >= 0 && ftruncate(fd, 10000) == 0);
    char *at = mmap(NULL, 10000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    EXPECT(at != MAP_FAILED);
    memcpy(at, block, 10000);
    EXPECT(munmap(at, 10000) == 0 && write(fd, block, 100) == 100 && close(fd) == 0);
}

static void direct(const char *name)
{
    const int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    EXPECT(fd >= 0 && write(fd, block, 100) == 100);
    EXPECT(syscall(SYS_write, fd, block, (size_t)1000) == 1000 && close(fd) == 0);
}

static void uring(const char *name)
{
    char parameters[256] = {0};
    const int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    EXPECT(fd >= 0 && write(fd, block, 100) == 100);
    syscall(SYS_io_uring_setup, 4, parameters); /* whether it is permitted or not */
    EXPECT(close(fd) == 0);
}

/* What it reads it has written, but later it writes something else there. */
static void twice(const char *name)
{
    char back[100];
    const int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    EXPECT(fd >= 0 && write(fd, block, 100) == 100 && pread(fd, back, 100, 0) == 100);
    EXPECT(pwrite(fd, block + 500, 100, 0) == 100 && close(fd) == 0);
}

static void early(const char *name)
{
    char back[100];
    const int in = open(name, O_RDONLY);
    EXPECT(in >= 0 && read(in, back, sizeof back) > 0 && close(in) == 0);
    const int fd = open(name, O_WRONLY | O_TRUNC);
    EXPECT(fd >= 0 && write(fd, block, 1000) == 1000 && close(fd) == 0);
}

/* A child with its parent's memory opens a file. */
static void borrowed(const char *name)
{
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    EXPECT(fd >= 0 && write(fd, block, 100) == 100 && close(fd) == 0);
    /* NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.vfork): it is what is tested */
    const pid_t child = vfork();
    if (child == 0) {
        /* NOLINTNEXTLINE(clang-analyzer-unix.Vfork): what careless programs do */
        open(name, O_WRONLY | O_TRUNC);
        _exit(0);
    }
    EXPECT(child > 0 && wait(NULL) == child);
}

/* Files that never have a name, besides FILE, and memory that is none. */
/* What is written from another root folder nobody follows. */
static void away(const char *name)
{
    EXPECT(chroot(name) == 0 && chdir("/") == 0);
    const int fd = open("/inside", O_WRONLY | O_CREAT, 0644);
    EXPECT(fd >= 0 && write(fd, block, 1000) == 1000 && close(fd) == 0);
}

/* Nor what another user writes; the own one may be set again. */
static void other_user(const char *name)
{
    EXPECT(setuid(geteuid()) == 0 && chmod(name, 0777) == 0 && chdir(name) == 0 &&
           setuid(65534) == 0);
    const int fd = open("other", O_WRONLY | O_CREAT, 0644);
    EXPECT(fd >= 0 && write(fd, block, 1000) == 1000 && close(fd) == 0);
}

/* A file that has no name any more is opened once more, by what the kernel shows of it. */
static void removed(const char *name)
{
    char link[64];
    const int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    EXPECT(fd >= 0 && write(fd, block, 1000) == 1000 && unlink(name) == 0);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int again = open(link, O_WRONLY);
    EXPECT(again >= 0 && write(again, block, 400) == 400 && close(again) == 0);
    EXPECT(lseek(fd, 0, SEEK_END) == 1000);
    again = open(link, O_WRONLY | O_TRUNC);
    EXPECT(again >= 0 && write(again, block, 30) == 30 && close(again) == 0);
    EXPECT(lseek(fd, 0, SEEK_END) == 30);
    snprintf(link, sizeof link, "/dev/fd/%d", fd);
    FILE *file = fopen(link, "a");
    EXPECT(file && fwrite(block, 1, 5, file) == 5 && fclose(file) == 0);
    EXPECT(lseek(fd, 0, SEEK_END) == 35);
    REFUSED(open(link, O_RDWR | O_CREAT | O_EXCL, 0600), EEXIST);
    EXPECT(size_of(name) == -1 && close(fd) == 0);
}

/* As many files are open as may be. */
static void few(const char *name)
{
    char other[300];
    const int number[] = {dup(0), dup(0), dup(0)};
    const struct rlimit limit = {(rlim_t)number[2] + 1, (rlim_t)number[2] + 1};
    for (int i = 0; i < 3; i++)
        EXPECT(close(number[i]) == 0);
    EXPECT(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    for (int i = 0; i < 3; i++) {
        snprintf(other, sizeof other, "%.250s.%d", name, i);
        const int fd = open(other, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        EXPECT(fd >= 0 && write(fd, block, 100) == 100);
    }
}

static void tmpfile_of(const char *name)
{
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    FILE *file = tmpfile();
    EXPECT(fd >= 0 && write(fd, block, 100) == 100 && close(fd) == 0);
    EXPECT(file && fwrite(block, 1, 1000, file) == 1000 && fclose(file) == 0);
}

static void o_tmpfile(const char *name)
{
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    const int other = open(".", O_TMPFILE | O_RDWR, 0600);
    EXPECT(fd >= 0 && write(fd, block, 100) == 100 && close(fd) == 0);
    if (other < 0 && errno == EOPNOTSUPP) exit(77);
    EXPECT(other >= 0 && write(other, block, 1000) == 1000 && close(other) == 0);
}

static void memory(const char *name)
{
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644), other = memfd_create("m", 0);
    EXPECT(fd >= 0 && write(fd, block, 100) == 100 && close(fd) == 0);
    EXPECT(other >= 0 && write(other, block, 1000) == 1000 && close(other) == 0);
}

/* A stream whose characters are converted: 6 of them, 5 and 7 bytes. */
static void converted(const char *name)
{
    FILE *file = fopen(name, "w,ccs=UTF-8");
    EXPECT(file && fputws(L"\u00e4bcde\n", file) >= 0 && fclose(file) == 0 && size_of(name) == 7);
}

/* The C library opens a file for a child. */
static void spawned(const char *name)
{
    static char program[] = "true";
    char *const arguments[] = {program, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    EXPECT(posix_spawn_file_actions_init(&actions) == 0);
    EXPECT(posix_spawn_file_actions_addopen(&actions, 1, name, O_WRONLY | O_CREAT, 0644) == 0);
    EXPECT(posix_spawnp(&child, program, &actions, NULL, arguments, environ) == 0);
    EXPECT(wait(NULL) == child && posix_spawn_file_actions_destroy(&actions) == 0);
}

/* It looks at something that no profiler can hide. */
static void differs(const char *name)
{
    const char *drop = getenv("NHT1_PROFILE_DROP");
    const int n = drop && drop[0] == '1' ? 2 : 402;
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    for (int i = 0; i < n; i++)
        EXPECT(write(fd, block, 10) == 10);
    EXPECT(close(fd) == 0);
}

struct own {
    const char *name;
    int fd, number;
};

static pthread_mutex_t at_work = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg)
{
    const struct own *o = arg;
    char name[4096];
    EXPECT(pthread_mutex_lock(&at_work) == 0 && pthread_mutex_unlock(&at_work) == 0);
    snprintf(name, sizeof name, "%s.%d", o->name, o->number);
    for (int i = 0; i < 100; i++) {
        const int fd = open(name, O_WRONLY | O_CREAT | O_APPEND, 0644);
        EXPECT(fd >= 0 && write(fd, block, 10) == 10 && close(fd) == 0);
        EXPECT(pwrite(o->fd, block, 100, 100 * (16 * i + o->number)) == 100);
    }
    EXPECT(size_of(name) == 1000);
    return NULL;
}

static void threads(const char *name)
{
    pthread_t thread[16];
    struct own own[16];
    const int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    EXPECT(fd >= 0 && pthread_mutex_lock(&at_work) == 0);
    for (int t = 0; t < 16; t++) {
        own[t] = (struct own){name, fd, t};
        EXPECT(pthread_create(&thread[t], NULL, work, &own[t]) == 0);
        EXPECT(pthread_setname_np(thread[t], "worker") == 0); /* glibc writes it into a file */
    }
    EXPECT(pthread_mutex_unlock(&at_work) == 0);
    for (int t = 0; t < 16; t++)
        EXPECT(pthread_join(thread[t], NULL) == 0);
    EXPECT(size_of(name) == 160000 && close(fd) == 0);
}

/* Children with a file that is theirs, one that is of all, and one that their next program goes on with. */
static void forks(const char *name)
{
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
    EXPECT(fd >= 0);
    for (int c = 0; c < 4; c++) {
        char own[4096];
        const pid_t child = fork();
        EXPECT(child >= 0);
        if (child > 0) continue;
        snprintf(own, sizeof own, "%s.%d", name, c);
        const int mine = open(own, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        EXPECT(mine >= 0 && write(mine, block, 500) == 500 && write(fd, block, 100) == 100);
        if (c == 3) {
            EXPECT(dup2(fd, STDOUT_FILENO) == STDOUT_FILENO);
            execlp("echo", "echo", "by another program", (char *)NULL);
        }
        _exit(0);
    }
    for (int c = 0; c < 4; c++) {
        int status;
        EXPECT(wait(&status) > 0 && status == 0);
    }
    EXPECT(size_of(name) == 419 && close(fd) == 0);
}

struct meanwhile {
    const char *name;
    const char *suffix;
    int fd;
};

/* All streams are flushed again and again, and written to. */
static void *flushing(void *arg)
{
    const struct meanwhile *m = arg;
    char own[4096];
    snprintf(own, sizeof own, "%s.%s", m->name, m->suffix);
    FILE *file = fopen(own, "w");
    EXPECT(file);
    for (int i = 0; i < 20000; i++)
        EXPECT(fputs("line\n", file) >= 0 && fflush(NULL) == 0);
    EXPECT(fclose(file) == 0 && size_of(own) == 100000);
    return NULL;
}

/* Files come and go, under new names. */
static void *opening(void *arg)
{
    const struct meanwhile *m = arg;
    for (int i = 0; i < 500; i++) {
        char own[4096];
        snprintf(own, sizeof own, "%s.%s.%d", m->name, m->suffix, i % 50);
        const int fd = open(own, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        EXPECT(fd >= 0 && write(fd, block, 10) == 10 && close(fd) == 0 && size_of(own) == 10);
        EXPECT(pwrite(m->fd, block, 10, 10 * i) == 10);
    }
    return NULL;
}

/* The process forks while its threads write; each child goes on by itself. */
static void forking(const char *name)
{
    const int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    struct meanwhile m[] = {{name, "flush", fd}, {name, "open", fd}};
    pthread_t thread[2];
    EXPECT(fd >= 0 && pthread_create(&thread[0], NULL, flushing, &m[0]) == 0);
    EXPECT(pthread_create(&thread[1], NULL, opening, &m[1]) == 0);
    for (int c = 0; c < 150; c++) {
        char own[4096];
        int status;
        snprintf(own, sizeof own, "%s.child.%d", name, c % 10);
        const pid_t child = fork();
        EXPECT(child >= 0);
        if (child == 0) {
            const int mine = open(own, O_WRONLY | O_CREAT | O_TRUNC, 0644);
            EXPECT(mine >= 0 && write(mine, block, 500) == 500 && close(mine) == 0);
            EXPECT(size_of(own) == 500);
            _exit(0);
        }
        EXPECT(waitpid(child, &status, 0) == child && status == 0);
    }
    for (int t = 0; t < 2; t++)
        EXPECT(pthread_join(thread[t], NULL) == 0);
    EXPECT(size_of(name) == 5000 && close(fd) == 0);
}

/* 10,000 files, some hundred of them open at once. */
static void many(const char *name)
{
    int fd[400] = {0};
    for (int i = 0; i < 10000; i++) {
        char own[4096];
        int *const at = &fd[i % 400];
        snprintf(own, sizeof own, "%s.%d", name, i);
        EXPECT(i < 400 || close(*at) == 0);
        *at = open(own, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        EXPECT(*at >= 0 && write(*at, block, 10) == 10);
    }
}

/* Waits where its writes are dropped, until it is killed. */
static void waits(const char *name)
{
    const char *drop = getenv("NHT1_PROFILE_DROP");
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    EXPECT(fd >= 0 && write(fd, block, 1000) == 1000);
    if (drop && drop[0] == '1') {
        EXPECT(rename(name, "waiting") == 0 && unlink("waiting") == 0);
        for (;;)
            pause();
    }
    EXPECT(rename(name, "waiting") == 0 && rename("waiting", name) == 0);
}

/* Writes over its environment, as what shows another title in lists of processes does, and later to FILE. */
static void titled(const char *name)
{
    for (char **e = environ; *e; e++) {
        char *const kept = strdup(*e);
        EXPECT(kept);
        memset(*e, ' ', strlen(*e));
        *e = kept;
    }
    EXPECT(usleep(300000) == 0);
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    EXPECT(fd >= 0 && write(fd, block, 5) == 5 && close(fd) == 0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *word;
        void (*what)(const char *);
    } way[] = {{"calls", calls},
               {"names", names},
               {"by-number", by_number},
               {"stdio", stream},
               {"mmap", mapped},
               {"direct", direct},
               {"uring", uring},
               {"twice", twice},
               {"early", early},
               {"differs", differs},
               {"threads", threads},
               {"forks", forks},
               {"many", many},
               {"waits", waits},
               {"borrowed", borrowed},
               {"spawned", spawned},
               {"forking", forking},
               {"again", again},
               {"piped", piped},
               {"attributes", attributes},
               {"endings", endings},
               {"refuses", refuses},
               {"numbers", numbers},
               {"tmpfile", tmpfile_of},
               {"o-tmpfile", o_tmpfile},
               {"memory", memory},
               {"ccs", converted},
               {"folders", folders},
               {"walks", walks},
               {"away", away},
               {"other-user", other_user},
               {"removed", removed},
               {"few", few},
               {"titled", titled}};
    for (size_t b = 0; b < sizeof block; b++)
        block[b] = (char)(b * 7 + b / 256);
    for (size_t w = 0; argc == 3 && w < sizeof way / sizeof way[0]; w++)
        if (strcmp(argv[1], way[w].word) == 0) {
            way[w].what(argv[2]);
            return 0;
        }
    fprintf(stderr, "mkposix WORD FILE\n");
    return 1;
}
