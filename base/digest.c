/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/err.h"

/* The row is hashed by one loop that the compiler vectorises, compiled once per instruction set.
 * Integers only: all give the same words. */
#if defined(__x86_64__) && defined(__GNUC__) && defined(__gnu_linux__)
#ifdef __clang__ /* does not know the preference, and warns */
#define FOR_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl")))
#else
#define FOR_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl,prefer-vector-width=512")))
#endif
#define FOR_OTHERS __attribute__((target_clones("avx2", "default")))
#define HAS_AVX512 (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
#else
#define FOR_AVX512
#define FOR_OTHERS
#define HAS_AVX512 0
#endif

enum { NCOMP = 5, READ_BYTES = 1 << 20 };

/* Adds the hash of row[i] to plane[i] and returns the sum of the hashes. */
static inline __attribute__((always_inline)) uint64_t
hash_values(uint64_t *restrict plane, const double *restrict row, int64_t len, uint64_t place)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < len; i++) {
        uint64_t bits;
        memcpy(&bits, &row[i], sizeof bits);
        uint64_t h = digest_hash(bits, place + NCOMP * (uint64_t)i);
        plane[i] += h;
        sum += h;
    }
    return sum;
}

FOR_AVX512 static uint64_t hash_wide(uint64_t *plane, const double *row, int64_t len,
                                     uint64_t place)
{
    return hash_values(plane, row, len, place);
}

FOR_OTHERS static uint64_t hash_row(uint64_t *plane, const double *row, int64_t len, uint64_t place)
{
    return hash_values(plane, row, len, place);
}

void digest_row(uint64_t *w, int64_t n, int64_t i0, int64_t len, int64_t j, int64_t k, int m,
                const double *row)
{
    uint64_t place = (uint64_t)(((k * n + j) * n + i0) * NCOMP + m);
    const bool wide = HAS_AVX512;
    const uint64_t sum =
        wide ? hash_wide(w + i0, row, len, place) : hash_row(w + i0, row, len, place);
    w[n + j] += sum;
    w[2 * n + k] += sum;
    w[3 * n + m] += sum;
}

uint64_t digest_total(const uint64_t *w, int64_t n)
{
    uint64_t total = 0;
    for (int m = 0; m < NCOMP; m++) {
        total += w[3 * n + m];
    }
    return total;
}

static int hash_stream(int fd, const char *path, XXH3_state_t *state, char *buf)
{
    for (;;) {
        ssize_t got = read(fd, buf, READ_BYTES);
        if (got == 0) return 0;
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return err_set_errno(ERR_IO, errno, "%s: read failed", path);
        XXH3_128bits_update(state, buf, (size_t)got);
    }
}

/* The canonical form: big-endian, as the usual command-line tools print it. */
static void print_hex(XXH128_hash_t h, char hex[33])
{
    XXH128_canonical_t c;
    XXH128_canonicalFromHash(&c, h);
    for (size_t b = 0; b < sizeof c.digest; b++) {
        snprintf(hex + 2 * b, 3, "%02x", c.digest[b]);
    }
}

int digest_file(const char *path, char hex[33])
{
    int rc = 0;
    XXH3_state_t *state = XXH3_createState();
    char *buf = malloc(READ_BYTES);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        rc = err_set_errno(ERR_IO, errno, "%s: cannot open for reading", path);
    } else if (!state || !buf) {
        rc = err_set(ERR_NOMEM, "%s: no memory for a read buffer of %d bytes", path, READ_BYTES);
    } else {
        XXH3_128bits_reset(state);
        rc = hash_stream(fd, path, state, buf);
        if (rc == 0) print_hex(XXH3_128bits_digest(state), hex);
    }
    if (fd >= 0) close(fd);
    free(buf);
    XXH3_freeState(state);
    return rc;
}
