/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/workload/data.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

#define WORDS   (WORKLOAD_PERIOD_BYTES / 8)
#define MASK_56 ((UINT64_C(1) << 56) - 1)
#define FACTOR  UINT64_C(0x9e3779b97f4a7d) /* odd, bits without a pattern */

int workload_data_make(struct workload_data *d, int generation, int64_t longest_bytes)
{
    if (d->master && generation == d->generation && longest_bytes <= d->longest_bytes) return 0;
    if (longest_bytes < d->longest_bytes) longest_bytes = d->longest_bytes;
    const int64_t bytes = (WORKLOAD_PERIOD_BYTES + longest_bytes + 7) / 8 * 8;
    unsigned char *master = mem_grow(d->master, bytes, 1, "%lld bytes of data", (long long)bytes);
    if (!master) return ERR_NOMEM;
    d->master = master;
    d->longest_bytes = longest_bytes;
    d->generation = generation;
    for (int64_t q = 0; q < bytes / 8; q++) {
        const uint64_t word = (uint64_t)(q % WORDS) * FACTOR & MASK_56;
        for (int b = 0; b < 7; b++) /* little endian, whatever the machine is */
            master[8 * q + b] = (unsigned char)(word >> 8 * b);
        master[8 * q + 7] = workload_generation_byte(generation);
    }
    return 0;
}

void workload_data_free(struct workload_data *d)
{
    free(d->master);
    *d = (struct workload_data){.master = NULL};
}

void workload_data_copy(const struct workload_data *d, unsigned char *to, int64_t offset,
                        int64_t bytes)
{
    for (int64_t done = 0; done < bytes;) {
        const int64_t n = bytes - done < d->longest_bytes ? bytes - done : d->longest_bytes;
        memcpy(to + done, workload_data_at(d, offset + done), (size_t)n);
        done += n;
    }
}

/* Whether a generation that is allowed has the byte: the first one that has it, from the first
 * allowed on, comes no later than the last. */
static bool is_allowed(unsigned char got, struct workload_allowed allowed)
{
    const int turn = WORKLOAD_GENERATIONS - 1;
    if (got <= WORKLOAD_LAID_OUT) return got >= allowed.from && got <= allowed.to;
    if (got > WORKLOAD_GENERATIONS) return false;
    const int from = allowed.from > WORKLOAD_LAID_OUT ? allowed.from : WORKLOAD_LAID_OUT + 1;
    return from + (got - workload_generation_byte(from) + turn) % turn <= allowed.to;
}

static bool is_expected_byte(unsigned char got, unsigned char expected, int64_t at,
                             struct workload_allowed allowed)
{
    if (allowed.floating && got == WORKLOAD_FLOATING) return true;
    if (at % 8 != 7) return got == expected;
    return is_allowed(got, allowed);
}

int64_t workload_data_check(const struct workload_data *d, const unsigned char *got, int64_t offset,
                            int64_t bytes, struct workload_allowed allowed)
{
    for (int64_t done = 0; done < bytes;) {
        int64_t n = bytes - done;
        if (n > d->longest_bytes) n = d->longest_bytes;
        const unsigned char *expected = workload_data_at(d, offset + done);
        const bool exact = allowed.from <= d->generation && d->generation <= allowed.to;
        if (!exact || memcmp(got + done, expected, (size_t)n) != 0)
            for (int64_t i = 0; i < n; i++)
                if (!is_expected_byte(got[done + i], expected[i], offset + done + i, allowed))
                    return done + i;
        done += n;
    }
    return -1;
}

/* The factor's inverse mod 2^56 (Newton: every step doubles the number of right bits). */
static uint64_t inverse(void)
{
    uint64_t x = FACTOR;
    for (int i = 0; i < 6; i++)
        x *= 2 - FACTOR * x;
    return x & MASK_56;
}

/* The offset in the file, within a period, that the word at `at` encodes; -1: it is no such word. */
static int64_t word_offset(const unsigned char *at)
{
    uint64_t w = 0;
    for (int b = 0; b < 7; b++)
        w |= (uint64_t)at[b] << 8 * b;
    const uint64_t q = w * inverse() & MASK_56;
    return q < (uint64_t)WORDS ? (int64_t)q * 8 : -1;
}

int64_t workload_data_check_anywhere(const struct workload_data *d, const unsigned char *got,
                                     int64_t bytes, struct workload_allowed allowed)
{
    int64_t run = 0; /* bytes that are not floating, up to here */
    for (int64_t i = 0; i < bytes; i++) {
        run = allowed.floating && got[i] == WORKLOAD_FLOATING ? 0 : run + 1;
        if (run < 7) continue;
        const int64_t place = word_offset(got + i - 6);
        /* The first word that encodes an offset gives that of the whole piece. */
        if (place >= 0) {
            const int64_t begin = (place - (i - 6)) % WORKLOAD_PERIOD_BYTES;
            return workload_data_check(d, got, begin + (begin < 0 ? WORKLOAD_PERIOD_BYTES : 0),
                                       bytes, allowed);
        }
        /* So many bytes hold a whole word. */
        if (run >= 15) return i;
    }
    return -1;
}
