/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file system for tests, by FUSE: passes everything through to a folder, holds writing to a rate,
 * and can be stopped (SIGSTOP), as a server that does not answer.
 *
 *     slowfs FOLDER MOUNTPOINT [MB_PER_S [unsized | CALL N...]]
 *
 * FOLDER is an absolute path; 0 MB_PER_S is as fast as it goes. In front of each N-th CALL, "write" or
 * "create", it stops itself until a test lets it go on (SIGCONT). Unsized, it does not tell how large
 * it is and what is free, and has no links. It stays in the foreground until the file system is unmounted. One request
 * is served at a time, so that the rate is that of all writers together. */
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>
#include <dirent.h>

static const char *folder;
static double bytes_per_s; /* 0: as fast as it goes */
static double free_at_s;   /* when the next write may begin */
static const char *stop_call = "";
static char **stop_at; /* numbers of calls, up to a NULL */
static long calls;
static bool unsized;

/* Stops in front of the calls that a test has named. */
static void count(const char *call)
{
    if (strcmp(call, stop_call) != 0 || !*stop_at || ++calls < atol(*stop_at)) return;
    stop_at++;
    raise(SIGSTOP);
}

static const char *below(const char *path, char out[4096])
{
    snprintf(out, 4096, "%s%s", folder, path);
    return out;
}

#define BELOW(path) below(path, (char[4096]){0})

static int result(int rc)
{
    return rc < 0 ? -errno : 0;
}

/* Waits until so many bytes may have gone. */
static void take_time(size_t bytes)
{
    struct timespec t;
    if (bytes_per_s <= 0) return;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const double now_s = (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
    if (free_at_s < now_s) free_at_s = now_s;
    free_at_s += (double)bytes / bytes_per_s;
    const double s = free_at_s - now_s;
    t = (struct timespec){(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};
    nanosleep(&t, NULL);
}

static int fs_getattr(const char *path, struct stat *st, struct fuse_file_info *f)
{
    return result(f ? fstat((int)f->fh, st) : lstat(BELOW(path), st));
}

static int fs_readdir(const char *path, void *buf, fuse_fill_dir_t fill, off_t offset,
                      struct fuse_file_info *f, enum fuse_readdir_flags flags)
{
    DIR *d = opendir(BELOW(path));
    (void)offset, (void)f, (void)flags;
    if (!d) return -errno;
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        fill(buf, e->d_name, NULL, 0, 0);
    closedir(d);
    return 0;
}

static int open_as(const char *path, struct fuse_file_info *f, mode_t mode)
{
    const int fd = open(BELOW(path), f->flags & ~(O_DIRECT | O_APPEND), mode);
    if (fd < 0) return -errno;
    f->fh = (uint64_t)fd;
    return 0;
}

static int fs_open(const char *path, struct fuse_file_info *f)
{
    return open_as(path, f, 0);
}

static int fs_create(const char *path, mode_t mode, struct fuse_file_info *f)
{
    count("create");
    f->flags |= O_CREAT;
    return open_as(path, f, mode);
}

static int fs_release(const char *path, struct fuse_file_info *f)
{
    (void)path;
    return result(close((int)f->fh));
}

static int fs_read(const char *path, char *buf, size_t bytes, off_t at, struct fuse_file_info *f)
{
    const ssize_t done = pread((int)f->fh, buf, bytes, at);
    (void)path;
    return done < 0 ? -errno : (int)done;
}

static int fs_write(const char *path, const char *buf, size_t bytes, off_t at,
                    struct fuse_file_info *f)
{
    (void)path;
    count("write");
    take_time(bytes);
    const ssize_t done = pwrite((int)f->fh, buf, bytes, at);
    return done < 0 ? -errno : (int)done;
}

static int fs_fsync(const char *path, int data_only, struct fuse_file_info *f)
{
    (void)path;
    return result(data_only ? fdatasync((int)f->fh) : fsync((int)f->fh));
}

static int fs_truncate(const char *path, off_t bytes, struct fuse_file_info *f)
{
    return result(f ? ftruncate((int)f->fh, bytes) : truncate(BELOW(path), bytes));
}

static int fs_fallocate(const char *path, int mode, off_t at, off_t bytes, struct fuse_file_info *f)
{
    (void)path;
    return result(fallocate((int)f->fh, mode, at, bytes));
}

static int fs_unlink(const char *path)
{
    return result(unlink(BELOW(path)));
}

static int fs_mkdir(const char *path, mode_t mode)
{
    return result(mkdir(BELOW(path), mode));
}

static int fs_rmdir(const char *path)
{
    return result(rmdir(BELOW(path)));
}

static int fs_rename(const char *from, const char *to, unsigned flags)
{
    return flags ? -EINVAL : result(rename(BELOW(from), BELOW(to)));
}

/* The link has another inode number than the file, as each path is a file of its own to libfuse; so it is with sshfs. */
static int fs_link(const char *from, const char *to)
{
    return unsized ? -ENOSYS : result(link(BELOW(from), BELOW(to)));
}

static int fs_chmod(const char *path, mode_t mode, struct fuse_file_info *f)
{
    (void)f;
    return result(chmod(BELOW(path), mode));
}

static int fs_chown(const char *path, uid_t user, gid_t group, struct fuse_file_info *f)
{
    (void)f;
    return result(lchown(BELOW(path), user, group));
}

static int fs_utimens(const char *path, const struct timespec t[2], struct fuse_file_info *f)
{
    (void)f;
    return result(utimensat(AT_FDCWD, BELOW(path), t, AT_SYMLINK_NOFOLLOW));
}

static int fs_statfs(const char *path, struct statvfs *out)
{
    const int rc = result(statvfs(BELOW(path), out));
    if (unsized) out->f_blocks = out->f_bfree = out->f_bavail = 0;
    return rc;
}

static int fs_setxattr(const char *path, const char *name, const char *value, size_t bytes, int how)
{
    return result(lsetxattr(BELOW(path), name, value, bytes, how));
}

static int fs_getxattr(const char *path, const char *name, char *value, size_t bytes)
{
    const ssize_t done = lgetxattr(BELOW(path), name, value, bytes);
    return done < 0 ? -errno : (int)done;
}

static const struct fuse_operations operations = {
    .getattr = fs_getattr,
    .readdir = fs_readdir,
    .open = fs_open,
    .create = fs_create,
    .release = fs_release,
    .read = fs_read,
    .write = fs_write,
    .fsync = fs_fsync,
    .truncate = fs_truncate,
    .fallocate = fs_fallocate,
    .unlink = fs_unlink,
    .mkdir = fs_mkdir,
    .rmdir = fs_rmdir,
    .rename = fs_rename,
    .link = fs_link,
    .chmod = fs_chmod,
    .chown = fs_chown,
    .utimens = fs_utimens,
    .statfs = fs_statfs,
    .setxattr = fs_setxattr,
    .getxattr = fs_getxattr,
};

int main(int argc, char **argv)
{
    unsized = argc == 5 && strcmp(argv[4], "unsized") == 0;
    if (argc < 3 || (argc == 5 && !unsized)) {
        fprintf(stderr, "usage: slowfs FOLDER MOUNTPOINT [MB_PER_S [unsized | CALL N...]]\n");
        return 1;
    }
    folder = argv[1];
    if (argc > 3) bytes_per_s = atof(argv[3]) * 1e6;
    if (argc > 5) {
        stop_call = argv[4];
        stop_at = argv + 5;
    }
    char single[] = "-s", foreground[] = "-f", option[] = "-o", name[] = "fsname=slowfs";
    char *words[] = {argv[0], argv[2], single, foreground, option, name, NULL};
    umask(0);
    return fuse_main(6, words, &operations, NULL);
}
