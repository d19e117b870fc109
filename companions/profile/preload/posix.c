/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stdio writes by functions of the C library that no preloaded write stands before. They are reached by the
 * table that every FILE of the GNU C library goes through, whose entry for writing is exchanged. Where
 * there is no such table what stdio writes is not seen. */
#include "companions/profile/preload/posix.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static bool (*is_outside)(void);
static void (*add_bytes)(int fd, int64_t bytes);

void posix_end(void)
{
    __atomic_store_n(&add_bytes, NULL, __ATOMIC_RELEASE);
}

/* Counts what a call has written, if that was to a file. Leaves errno alone. */
static ssize_t counted(int fd, ssize_t bytes)
{
    void (*const add)(int, int64_t) = __atomic_load_n(&add_bytes, __ATOMIC_ACQUIRE);
    const int kept = errno;
    struct stat st;
    if (add && bytes > 0 && fd > STDERR_FILENO && is_outside() && fstat(fd, &st) == 0 &&
        S_ISREG(st.st_mode))
        add(fd, bytes);
    errno = kept;
    return bytes;
}

#define WRITING(name, arguments, ...)                                                              \
    ssize_t name(int fd, __VA_ARGS__)                                                              \
    {                                                                                              \
        static void *found;                                                                        \
        ssize_t (*real)(int, __VA_ARGS__);                                                         \
        void *at = __atomic_load_n(&found, __ATOMIC_RELAXED);                                      \
        if (!at) __atomic_store_n(&found, at = dlsym(RTLD_NEXT, #name), __ATOMIC_RELAXED);         \
        *(void **)&real = at;                                                                      \
        return counted(fd, real arguments);                                                        \
    }
WRITING(write, (fd, from, n), const void *from, size_t n)
WRITING(pwrite, (fd, from, n, at_byte), const void *from, size_t n, off_t at_byte)
WRITING(pwrite64, (fd, from, n, at_byte), const void *from, size_t n, off64_t at_byte)
WRITING(writev, (fd, from, n), const struct iovec *from, int n)
WRITING(pwritev, (fd, from, n, at_byte), const struct iovec *from, int n, off_t at_byte)
WRITING(pwritev64, (fd, from, n, at_byte), const struct iovec *from, int n, off64_t at_byte)
WRITING(pwritev2, (fd, from, n, at_byte, how), const struct iovec *from, int n, off_t at_byte,
        int how)
WRITING(pwritev64v2, (fd, from, n, at_byte, how), const struct iovec *from, int n, off64_t at_byte,
        int how)
WRITING(sendfile, (fd, in, at_byte, n), int in, off_t *at_byte, size_t n)
WRITING(sendfile64, (fd, in, at_byte, n), int in, off64_t *at_byte, size_t n)

ssize_t copy_file_range(int in, off64_t *in_at, int fd, off64_t *at_byte, size_t n, unsigned how)
{
    static void *found;
    ssize_t (*real)(int, off64_t *, int, off64_t *, size_t, unsigned);
    void *at = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (!at) __atomic_store_n(&found, at = dlsym(RTLD_NEXT, "copy_file_range"), __ATOMIC_RELAXED);
    *(void **)&real = at;
    return counted(fd, real(in, in_at, fd, at_byte, n, how));
}

/* --- stdio ---------------------------------------------------------------------------------- */

static ssize_t (*file_write)(FILE *, const void *, ssize_t);

static ssize_t counted_file_write(FILE *file, const void *from, ssize_t n)
{
    return counted(fileno_unlocked(file), file_write(file, from, n));
}

/* Exchanges the entry for writing in a table of functions of FILE, which is read-only memory. */
static void exchange(const char *table)
{
    enum { ENTRIES = 21 };
    void **entry = dlsym(RTLD_DEFAULT, table);
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; entry && i < ENTRIES; i++) {
        void *const ours =
            *(void **)&(ssize_t(*)(FILE *, const void *, ssize_t)){counted_file_write};
        if (entry[i] != *(void **)&file_write) continue;
        const uintptr_t begin = (uintptr_t)&entry[i] / page * page;
        const size_t bytes = (uintptr_t)(&entry[i] + 1) - begin;
        if (mprotect((void *)begin, bytes, PROT_READ | PROT_WRITE) < 0) return;
        entry[i] = ours;
        mprotect((void *)begin, bytes, PROT_READ);
    }
}

void posix_begin(bool (*outside)(void), void (*add)(int fd, int64_t bytes))
{
    is_outside = outside;
    __atomic_store_n(&add_bytes, add, __ATOMIC_RELEASE);
    if (file_write) return;
    *(void **)&file_write = dlsym(RTLD_DEFAULT, "_IO_file_write");
    if (!file_write) return;
    exchange("_IO_file_jumps");
    exchange("_IO_wfile_jumps");
}
