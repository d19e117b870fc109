/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORKLOAD_DATA_H
#define WORKLOAD_DATA_H
/* Layer 2, free of MPI. What is written, and how it is recognised when it is read.
 *
 * A file's content follows from the position: the word at byte 8 q is
 *
 *     bytes 0..6   (q mod n) m mod 2^56, little endian     m odd, so that q mod n can be found
 * again byte 7       of the generation: which layout or which phase of writing put it there
 *
 * with n a prime, 131 101: the content repeats every 1 048 808 bytes, a length that no stride of a
 * program is a multiple of. So whoever writes at a position, at any alignment, writes the same, and
 * what is to be written lies ready in memory for every position (workload_data_at).
 *
 * What is written with the shared pointer lands at offsets that are not known: it is
 * WORKLOAD_FLOATING in every byte. All functions are local. */
#include <stdbool.h>
#include <stdint.h>

#define WORKLOAD_PERIOD_BYTES (8 * INT64_C(131101))
#define WORKLOAD_FLOATING     0xc3
#define WORKLOAD_LAID_OUT     1 /* generation of what lay there before the first phase */
#define WORKLOAD_GENERATIONS  190

/* Byte 7 of a generation. Those behind the layout have WORKLOAD_GENERATIONS - 1 bytes in turn. */
static inline unsigned char workload_generation_byte(int generation)
{
    const int first = WORKLOAD_LAID_OUT + 1;
    if (generation < first) return (unsigned char)generation;
    return (unsigned char)(first + (generation - first) % (WORKLOAD_GENERATIONS - 1));
}

struct workload_data {
    unsigned char *master; /* period + the longest piece, of the generation; owned */
    int64_t longest_bytes;
    int generation;
};

/* Makes the content of a generation ready, for pieces of at most longest_bytes. Called again, it
 * changes the generation or the room. [in,out] d: zeroed the first time. Returns 0 or ERR_NOMEM. */
int workload_data_make(struct workload_data *d, int generation, int64_t longest_bytes);
void workload_data_free(struct workload_data *d);

/* What stands at a position, longest_bytes of it; to be read only. */
static inline const unsigned char *workload_data_at(const struct workload_data *d, int64_t offset)
{
    return d->master + offset % WORKLOAD_PERIOD_BYTES;
}

/* Copies what stands at [offset, offset + bytes). */
void workload_data_copy(const struct workload_data *d, unsigned char *to, int64_t offset,
                        int64_t bytes);

/* What may stand where something is read. */
struct workload_allowed {
    int from, to; /* generations, both ends; any number of them */
    bool floating;
};

/* The index of the first of bytes that cannot stand at the offset, -1 when all are right. */
int64_t workload_data_check(const struct workload_data *d, const unsigned char *got, int64_t offset,
                            int64_t bytes, struct workload_allowed allowed);

/* The same of bytes from an unknown place: there is a place where they could stand. Pieces of less
 * than 15 bytes can always. */
int64_t workload_data_check_anywhere(const struct workload_data *d, const unsigned char *got,
                                     int64_t bytes, struct workload_allowed allowed);

#endif
