/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which file system holds a path: the mount table names it, the kernel's magic number when there is
 * no table. A line of the table (/proc/self/mountinfo):
 *
 *     36 35 98:0 /root /mnt/dir rw,noatime master:1 - ext4 /dev/sda1 rw,errors=continue
 *     ids    device     mount   options    any number   type source  options of the file system
 *
 * Blanks in names are written \040. */
#include <errno.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json.h"
#include "base/num.h"
#include "base/plain.h"
#include "base/sys.h"
#include "base/virtual.h"

static const struct {
    const char *type;
    uint32_t magic;
    bool in_memory, network;
} known[] = {
    {"tmpfs", 0x01021994, true, false},
    {"ramfs", 0x858458f6, true, false},
    {"hugetlbfs", 0x958458f6, true, false},
    {"devtmpfs", 0, true, false},
    {"ext4", 0xef53, false, false},
    {"ext3", 0xef53, false, false},
    {"xfs", 0x58465342, false, false},
    {"btrfs", 0x9123683e, false, false},
    {"zfs", 0x2fc12fc1, false, false},
    {"overlay", 0x794c7630, false, false},
    {"nfs", 0x6969, false, true},
    {"nfs4", 0x6969, false, true},
    {"lustre", 0x0bd00bd0, false, true},
    {"gpfs", 0x47504653, false, true},
    {"beegfs", 0x19830326, false, true},
    {"ceph", 0x00c36400, false, true},
    {"fuse", 0x65735546, false, false},
    {"cifs", 0xff534d42, false, true},
    {"smb3", 0xfe534d42, false, true},
    {"9p", 0x01021997, false, true},
    {"afs", 0x5346414f, false, true},
    {"pvfs2", 0x20030528, false, true},
    {"orangefs", 0x20030528, false, true},
    {"panfs", 0xaad7aaea, false, true},
    {"wekafs", 0, false, true},
    {"glusterfs", 0, false, true},
    {"fuse.glusterfs", 0, false, true},
    {"fuse.sshfs", 0, false, true},
    {"fuse.juicefs", 0, false, true},
    {"fuse.ceph", 0, false, true},
    {"virtiofs", 0, false, true},
};
enum { KNOWN = sizeof known / sizeof known[0], DEPTH_MAX = 4 };

/* Turns \ooo into the character, in place. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *c = text; *c; to++) {
        unsigned code;
        if (c[0] == '\\' && strspn(c + 1, "01234567") >= 3 && sscanf(c + 1, "%3o", &code) == 1) {
            *to = (char)code;
            c += 4;
        } else {
            *to = *c++;
        }
    }
    *to = '\0';
}

static bool is_under(const char *path, const char *mount)
{
    size_t len = strlen(mount);
    if (strcmp(mount, "/") == 0) return true;
    return strncmp(path, mount, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

/* Cuts a line of the table at blanks. Returns whether it has all parts. */
static bool split_mount(char *line, char *mount[2], char *fs[3])
{
    char *rest, *dash = strstr(line, " - ");
    mount[0] = mount[1] = NULL;
    if (!dash) return false;
    *dash = '\0';
    char *tail = dash + 3, *word = strtok_r(line, " ", &rest);
    for (int w = 0; w < 6 && word; w++, word = strtok_r(NULL, " ", &rest)) {
        if (w >= 4) mount[w - 4] = word;
    }
    for (int w = 0; w < 3; w++) {
        fs[w] = strsep(&tail, " \n"); /* a source or options may be empty */
    }
    return mount[0] && mount[1] && fs[0] && fs[1];
}

/* Where an overlay keeps what is written, as its options say, "" where they do not. */
static void upper_of(const char *options, char upper[SYS_PATH_MAX])
{
    static const char key[] = "upperdir=/";
    const char *at = strstr(options, key);
    const char *from = at ? at + strlen(key) - 1 : "";
    snprintf(upper, SYS_PATH_MAX, "%.*s", (int)strcspn(from, ","), from);
    unescape(upper);
}

/* The line that holds the path most closely; of two mounts in one place the later one hides the
 * other. upper: [out] as upper_of. */
static void find_mount(const char *path, struct sys_fs *out, char upper[SYS_PATH_MAX])
{
    char *line = NULL, *mount[2], *fs[3];
    size_t size = 0;
    FILE *f = fopen("/proc/self/mountinfo", "re");
    while (f && getline(&line, &size, f) > 0) {
        if (!split_mount(line, mount, fs)) continue;
        unescape(mount[0]);
        if (!is_under(path, mount[0]) || strlen(mount[0]) < strlen(out->mount)) continue;
        unescape(fs[1]);
        const bool more = fs[2] && fs[2][0];
        snprintf(out->mount, sizeof out->mount, "%s", mount[0]);
        snprintf(out->options, sizeof out->options, "%s%s%s", mount[1], more ? "," : "",
                 more ? fs[2] : "");
        snprintf(out->type, sizeof out->type, "%s", fs[0]);
        snprintf(out->source, sizeof out->source, "%s", fs[1]);
        upper_of(more ? fs[2] : "", upper);
    }
    free(line);
    if (f) fclose(f);
}

/* The path without links, or its directory when it does not exist; freed by the caller. */
static char *existing(const char *path)
{
    char *real = realpath(path, NULL);
    if (real || errno != ENOENT) return real;
    char *dir = strdup(path);
    if (!dir) return NULL;
    size_t len = strlen(dir);
    while (len > 1 && dir[len - 1] == '/') {
        dir[--len] = '\0';
    }
    char *slash = strrchr(dir, '/');
    if (slash) slash[slash == dir] = '\0';
    real = realpath(slash ? dir : ".", NULL);
    free(dir);
    return real;
}

void sys_path_mount(const char *path, struct sys_fs *out)
{
    char here[SYS_PATH_MAX] = "", upper[SYS_PATH_MAX] = "", *whole = NULL;
    memset(out, 0, sizeof *out);
    if (path[0] != '/' && !getcwd(here, sizeof here)) return;
    if (asprintf(&whole, "%s%s%s", here, here[0] ? "/" : "", path) < 0) return;
    find_mount(whole, out, upper);
    free(whole);
    plain_text(out->source);
    plain_text(out->mount);
    plain_text(out->options);
}

/* f_blocks is 0 where there is no limit (tmpfs with size=0) or none that is told (some of FUSE), which may also tell
 * of more than there can be. in_memory: what programs can still have of it is the limit, too. */
static int64_t free_of(const struct statvfs *s, bool in_memory)
{
    struct sys_memory memory;
    const int64_t bytes = s->f_blocks == 0 || (int64_t)s->f_bavail < 0
                              ? -1
                              : num_product((int64_t)s->f_bavail, (int64_t)s->f_frsize);
    if (!in_memory) return bytes;
    sys_memory(&memory);
    if (memory.free_bytes == INT64_MAX) return bytes;
    return bytes < 0 ? memory.free_bytes : num_min(bytes, memory.free_bytes);
}

static bool is_in_memory(uint32_t magic)
{
    for (int t = 0; t < KNOWN; t++)
        if (known[t].in_memory && known[t].magic == magic) return true;
    return false;
}

int64_t sys_free_bytes(const char *path)
{
    struct statvfs s;
    struct statfs type;
    char *real = existing(path);
    const int64_t bytes = real && statvfs(real, &s) == 0 && statfs(real, &type) == 0
                              ? free_of(&s, is_in_memory((uint32_t)type.f_type))
                              : -1;
    free(real);
    return bytes;
}

int64_t sys_file_limit(void)
{
    struct rlimit limit;
    const bool is = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < (rlim_t)INT64_MAX;
    return is ? (int64_t)limit.rlim_cur : INT64_MAX;
}

const char *sys_full_words(const char *path, int64_t bytes)
{
    const int64_t room = sys_free_bytes(path);
    return room >= 0 && room < bytes ? ": the file system is full" : "";
}

/* The file of a loop device, "" where that is not told. */
static void backing_file(int loop, char file[SYS_PATH_MAX])
{
    char path[64];
    snprintf(path, sizeof path, "/sys/block/loop%d/loop/backing_file", loop);
    FILE *f = fopen(path, "re");
    if (!f || !fgets(file, SYS_PATH_MAX, f)) file[0] = '\0';
    file[strcspn(file, "\n")] = '\0';
    if (f) fclose(f);
}

static int path_fs(const char *path, struct sys_fs *out, int depth);

/* What lies below: upper, the folder of an overlay, or the file of a loop device, as far as they can be seen from here, which inside of
 * a container they cannot. */
static void look_below(struct sys_fs *fs, const char *upper, int depth)
{
    char path[SYS_PATH_MAX], file[SYS_PATH_MAX] = "";
    const struct mntent mount = {.mnt_opts = fs->options};
    int loop;
    struct sys_fs below;
    if (strncmp(fs->type, "fuse", 4) == 0) fs->hides = !fs->network;
    /* They have a cache of their own beside the pages of files. */
    if (strcmp(fs->type, "zfs") == 0 || strcmp(fs->type, "gpfs") == 0) fs->hides = true;
    if (strcmp(fs->type, "overlay") == 0) {
        snprintf(file, sizeof file, "%s", upper);
        fs->never_flushed = hasmntopt(&mount, "volatile") || hasmntopt(&mount, "fsync=volatile");
    }
    if (sscanf(fs->source, "/dev/loop%d", &loop) == 1) {
        snprintf(path, sizeof path, "/sys/block/loop%d/loop/dio", loop);
        fs->hides = num_int_read(path) != 1;
        backing_file(loop, file);
    }
    if (strncmp(fs->source, "/dev/zram", 9) == 0 || strncmp(fs->source, "/dev/ram", 8) == 0)
        fs->in_memory = true;
    fs->journals_data = hasmntopt(&mount, "data=journal") != NULL;
    /* Inside of itself, as seen from there, nothing lies below it. */
    if (!file[0] || depth == DEPTH_MAX || access(file, F_OK) != 0 ||
        path_fs(file, &below, depth + 1) < 0)
        return;
    fs->in_memory = fs->in_memory || below.in_memory;
    fs->hides = fs->hides || below.hides;
    fs->network = fs->network || below.network;
}

/* depth: how many file systems lie above it. */
static int path_fs(const char *path, struct sys_fs *out, int depth)
{
    struct statfs s;
    struct statvfs sizes; /* in units of f_frsize */
    struct stat file;
    char upper[SYS_PATH_MAX] = "";
    memset(out, 0, sizeof *out);
    char *real = existing(path);
    if (!real || stat(real, &file) < 0) {
        int errnum = errno;
        free(real);
        return err_set_errno(ERR_IO, errnum,
                             "cannot use the directory of %s: make it or name another", path);
    }
    /* Some file systems of FUSE cannot be asked. */
    if (statfs(real, &s) < 0) memset(&s, 0, sizeof s);
    if (statvfs(real, &sizes) < 0) memset(&sizes, 0, sizeof sizes);
    out->total_bytes = (int64_t)sizes.f_blocks * (int64_t)sizes.f_frsize;
    out->block_bytes = (int64_t)file.st_blksize;
    find_mount(real, out, upper);
    const bool unnamed = !out->type[0];
    if (unnamed) snprintf(out->type, sizeof out->type, "0x%08x", (uint32_t)s.f_type);
    for (int t = KNOWN - 1; t >= 0; t--) {
        if (unnamed && known[t].magic == (uint32_t)s.f_type)
            snprintf(out->type, sizeof out->type, "%s", known[t].type);
        if (strcmp(out->type, known[t].type) != 0) continue;
        out->in_memory = known[t].in_memory;
        out->network = known[t].network;
    }
    look_below(out, upper, depth);
    out->free_bytes = free_of(&sizes, out->in_memory);
    plain_text(out->source);
    plain_text(out->mount);
    plain_text(out->options);
    free(real);
    return 0;
}

int sys_path_fs(const char *path, struct sys_fs *out)
{
    return path_fs(path, out, 0);
}

const char *sys_fs_behind(const struct sys_fs *fs)
{
    if (fs->in_memory) return NULL;
    return fs->network           ? "the servers of this network file system hold"
           : virtual_machine("") ? "the host of this virtual machine holds"
                                 : NULL;
}

json_t *sys_fs_json(const struct sys_fs *fs)
{
    json_t *room = fs->free_bytes < 0 ? json_null() : json_integer((json_int_t)fs->free_bytes);
    return json_pack("{s:o, s:o, s:o, s:o, s:I, s:o, s:I, s:b, s:b}", "type", js_text(fs->type),
                     "source", js_text(fs->source), "mount", js_text(fs->mount), "options",
                     js_text(fs->options), "total_bytes", (json_int_t)fs->total_bytes, "free_bytes",
                     room, "block_bytes", (json_int_t)fs->block_bytes, "in_memory",
                     (int)fs->in_memory, "network", (int)fs->network);
}
