/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/profile/preload/virtual.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "companions/profile/preload/table.h"

static struct table states; /* struct profile_before, by the hash of the name */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The whole path, without a prefix like "ufs:" and a leading "./". */
static int whole_path(const char *name, char out[4096])
{
    char cwd[4096];
    const char *colon = strchr(name, ':'), *slash = strchr(name, '/');
    if (colon && (!slash || colon < slash)) name = colon + 1;
    while (name[0] == '.' && name[1] == '/')
        name += 2;
    if (name[0] != '/' && !getcwd(cwd, sizeof cwd)) return -1;
    const int n =
        name[0] == '/' ? snprintf(out, 4096, "%s", name) : snprintf(out, 4096, "%s/%s", cwd, name);
    if (n < 4096) return 0;
    errno = ENAMETOOLONG;
    return -1;
}

/* When a file was created, 0: not known. */
static double birth_s(const char *path)
{
    struct statx st;
    if (statx(AT_FDCWD, path, 0, STATX_BTIME, &st) < 0 || !(st.stx_mask & STATX_BTIME)) return 0;
    return (double)st.stx_btime.tv_sec + 1e-9 * st.stx_btime.tv_nsec;
}

/* Makes the file of a state, complete or not at all; another process may be faster. */
static int make(const char *dir, const char *path, const char *name)
{
    struct profile_before now = {.size = -1};
    struct stat st;
    char own[4200];
    if (stat(name, &st) == 0) now.size = now.before_size = st.st_size;
    if (now.size < 0) now.before_size = -1;
    now.created = now.size >= 0 && birth_s(dir) > 0 && birth_s(name) >= birth_s(dir);
    snprintf(now.name, sizeof now.name, "%s", name);
    snprintf(own, sizeof own, "%s.%d", path, (int)getpid());
    const int fd = open(own, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0) return -1;
    const bool written = write(fd, &now, sizeof now) == (ssize_t)sizeof now;
    int rc = close(fd) == 0 && written ? 0 : -1;
    if (rc == 0 && link(own, path) < 0 && errno != EEXIST) rc = -1;
    unlink(own);
    return rc;
}

struct profile_before *virtual_of(const char *dir, const char *name)
{
    char whole[4096], path[4096];
    if (whole_path(name, whole) < 0) return NULL;
    const uint64_t key = table_hash(whole);
    pthread_mutex_lock(&lock);
    struct profile_before *state = table_find(&states, key);
    if (!state &&
        snprintf(path, sizeof path, "%s/file-%016llx", dir, (unsigned long long)key) < 4096 &&
        (access(path, F_OK) == 0 || make(dir, path, whole) == 0)) {
        const int fd = open(path, O_RDWR | O_CLOEXEC);
        void *at = fd < 0 ? MAP_FAILED
                          : mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (fd >= 0) close(fd);
        if (at != MAP_FAILED && table_put(&states, key, at) == 0) state = at;
    }
    pthread_mutex_unlock(&lock);
    return state;
}

void virtual_grow(struct profile_before *state, int64_t end)
{
    int64_t now = __atomic_load_n(&state->size, __ATOMIC_RELAXED);
    while (end > now && !__atomic_compare_exchange_n(&state->size, &now, end, true,
                                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

bool virtual_path(const char *dir, const struct profile_before *state, char path[4096])
{
    if (access(state->name, F_OK) == 0) {
        snprintf(path, 4096, "%s", state->name);
        return false;
    }
    snprintf(path, 4096, "%s/instead-%016llx", dir, (unsigned long long)table_hash(state->name));
    return true;
}
