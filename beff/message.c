/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beff/message.h"

#include <string.h>

enum { WORD = 8 };

/* The word at index i of a sender's buffer: a hash of the place, xor the rank in every byte, so
 * that no two ranks that differ mod 256 have a byte in common. */
static uint64_t word_of(int sender, int64_t i)
{
    uint64_t w = ((uint64_t)i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    w ^= w >> 32;
    return w ^ (uint64_t)(sender & 255) * UINT64_C(0x0101010101010101);
}

/* Byte b of a word as memory holds it, whatever the byte order. */
static unsigned char byte_of(uint64_t word, int64_t b)
{
    unsigned char bytes[WORD];
    memcpy(bytes, &word, WORD);
    return bytes[b];
}

unsigned char beff_message_byte(int sender, int64_t at_bytes)
{
    return byte_of(word_of(sender, at_bytes / WORD), at_bytes % WORD);
}

int64_t beff_message_stride(int64_t bytes)
{
    return (bytes + WORD - 1) / WORD * WORD;
}

int64_t beff_message_places(int64_t buffer_bytes, int64_t bytes)
{
    return buffer_bytes / beff_message_stride(bytes);
}

void beff_message_fill(unsigned char *buffer, int64_t bytes, int rank)
{
    for (int64_t i = 0; i < bytes / WORD; i++) {
        const uint64_t w = word_of(rank, i);
        memcpy(buffer + i * WORD, &w, WORD);
    }
}

/* Where the last 8 bytes of a message begin that the first 8 do not hold. */
static int64_t tail_of(int64_t bytes)
{
    return bytes > 2 * WORD ? bytes - WORD : WORD;
}

void beff_message_spoil(unsigned char *buffer, int64_t at_bytes, int64_t bytes, int sender)
{
    for (int64_t b = 0; b < bytes; b++) {
        if (b == WORD) b = tail_of(bytes);
        if (b < bytes)
            buffer[at_bytes + b] = (unsigned char)~beff_message_byte(sender, at_bytes + b);
    }
}

int64_t beff_message_check_ends(const unsigned char *buffer, int64_t at_bytes, int64_t bytes,
                                int sender)
{
    for (int64_t b = 0; b < bytes; b++) {
        if (b == WORD) b = tail_of(bytes);
        if (b < bytes && buffer[at_bytes + b] != beff_message_byte(sender, at_bytes + b)) return b;
    }
    return -1;
}

int64_t beff_message_check_all(const unsigned char *buffer, int64_t at_bytes, int64_t bytes,
                               int sender)
{
    int64_t b = 0;
    for (; b + WORD <= bytes; b += WORD) {
        const uint64_t want = word_of(sender, (at_bytes + b) / WORD);
        if (memcmp(buffer + at_bytes + b, &want, WORD) != 0) break;
    }
    for (; b < bytes; b++)
        if (buffer[at_bytes + b] != beff_message_byte(sender, at_bytes + b)) return b;
    return -1;
}
