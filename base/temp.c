/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/temp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/names.h"

enum { SUFFIX_MAX = 32, NAME_TRIES = 100, BASE_MAX = 200, CUT_MAX = 180, HASH_MAX = 20 };

_Static_assert(TEMP_STEM_MAX == BASE_MAX + HASH_MAX,
               "a stem is a name or its beginning and a hash");

void temp_stem(const char *base, char out[TEMP_STEM_MAX])
{
    const size_t length = strlen(base);
    if (length <= BASE_MAX) {
        memcpy(out, base, length + 1);
        return;
    }
    const uint64_t hash = names_hash(base, length);
    int cut = CUT_MAX;
    while (cut > 0 && ((unsigned char)base[cut] & 0xc0) == 0x80)
        cut--;
    snprintf(out, TEMP_STEM_MAX, "%.*s~%016" PRIx64, cut, base, hash);
}

int temp_open(const char *path, char **name)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const int directory = (int)(base - path);
    const size_t size = (size_t)directory + BASE_MAX + HASH_MAX + SUFFIX_MAX;
    char begin[TEMP_STEM_MAX];
    int fd = -1;
    *name = mem_new((int64_t)size, 1, "a name beside %s", path);
    if (!*name) return ERR_NOMEM;
    temp_stem(base, begin);
    for (int t = 0; t < NAME_TRIES && fd < 0; t++) {
        uint32_t any = (uint32_t)getpid() + (uint32_t)t;
        if (getrandom(&any, sizeof any, GRND_NONBLOCK) < 0) any += (uint32_t)t;
        snprintf(*name, size, "%.*s%s.%08" PRIx32 ".tmp", directory, path, begin, any);
        fd = open(*name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST) break;
    }
    if (fd >= 0) return fd;
    /* The directory without the slash behind it, but "/" itself. */
    const int length = directory > 1 ? directory - 1 : directory;
    const int rc = err_set_errno(ERR_IO, errno, "%s: cannot create a file in the directory %.*s",
                                 path, length > 0 ? length : 1, length > 0 ? path : ".");
    free(*name);
    *name = NULL;
    return rc;
}

int temp_open_held(const char *path, char **name, int *hold)
{
    struct stat st;
    for (;;) {
        const int fd = temp_open(path, name);
        *hold = -1;
        if (fd < 0) return fd;
        *hold = open(*name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (*hold >= 0 && flock(*hold, LOCK_EX) != 0) {
            close(*hold);
            *hold = -1;
        }
        /* A sweep may have met it before it was held. */
        if (fstat(fd, &st) != 0 || st.st_nlink > 0) return fd;
        if (*hold >= 0) close(*hold);
        close(fd);
        free(*name);
    }
}

/* While it is held here, its maker waits, and then finds it gone. */
static void remove_free(int dir_fd, const char *name)
{
    struct stat st;
    const int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlinkat(dir_fd, name, 0);
    close(fd);
}

void temp_sweep(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    DIR *dir = folder ? opendir(folder) : NULL;
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (temp_is_of(e->d_name, base)) remove_free(dirfd(dir), e->d_name);
    if (dir) closedir(dir);
    free(folder);
}

size_t temp_stem_of(const char *name)
{
    static const char suffix[] = ".00000000.tmp";
    const size_t length = strlen(name), rest = sizeof suffix - 1;
    if (length <= rest || name[length - rest] != '.') return 0;
    const char *digits = name + length - rest + 1;
    return strspn(digits, "0123456789abcdef") == 8 && strcmp(digits + 8, ".tmp") == 0
               ? length - rest
               : 0;
}

bool temp_is_of(const char *name, const char *base)
{
    char begin[TEMP_STEM_MAX];
    temp_stem(base, begin);
    const size_t length = strlen(begin);
    return temp_stem_of(name) == length && strncmp(name, begin, length) == 0;
}
