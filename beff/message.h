/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFF_MESSAGE_H
#define BEFF_MESSAGE_H
/* Floor 2, free of MPI. What is in the messages, so that a wrong one is found. The content of a
 * send buffer follows from the sender's rank and the place in the buffer and is written once.
 * Messages are laid out at multiples of 8 bytes and received at the same place of the receive
 * buffer, so the receiver knows every byte. All functions are local; none is called while the clock
 * runs. */
#include <stdint.h>

/* Bytes from one message to the next: its size rounded up to 8. */
int64_t beff_message_stride(int64_t bytes);

/* How many messages fit into a buffer; the next one starts at its beginning again. */
int64_t beff_message_places(int64_t buffer_bytes, int64_t bytes);

/* Writes the content of a rank's buffer. bytes: a multiple of 8. */
void beff_message_fill(unsigned char *buffer, int64_t bytes, int rank);

/* Makes the first and last 8 bytes of the message at a place wrong, so that one that never arrives
 * is not taken for the one that lay there before. */
void beff_message_spoil(unsigned char *buffer, int64_t at_bytes, int64_t bytes, int sender);

/* Compare a received message with what the sender's buffer holds at that place: its first and last
 * 8 bytes, or all of it. Return the index of the first wrong byte, -1 when there is none. */
int64_t beff_message_check_ends(const unsigned char *buffer, int64_t at_bytes, int64_t bytes,
                                int sender);
int64_t beff_message_check_all(const unsigned char *buffer, int64_t at_bytes, int64_t bytes,
                               int sender);

/* The byte that belongs at a place of a sender's buffer. */
unsigned char beff_message_byte(int sender, int64_t at_bytes);

#endif
