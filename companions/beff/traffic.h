/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEFF_TRAFFIC_H
#define BEFF_TRAFFIC_H
/* Layer 2. Sending messages: their buffers, and the three methods. Source: [RK01]
 * section 4, "On communication methods". */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "companions/beff/pattern.h"

enum beff_method { BEFF_SENDRECV, BEFF_ALLTOALLV, BEFF_NONBLOCKING };

/* "sendrecv", "alltoallv", "nonblocking". */
const char *beff_method_name(int method);

/* Arguments of one MPI_Alltoallv: n entries each, zero but for the partners. */
struct beff_counts {
    int *send_n, *send_at, *recv_n, *recv_at;
};

#define BEFF_ROOM 6 /* largest messages in a buffer */

/* Send and receive buffers have room for six of the largest messages. One message after the other
 * is laid out in them, from the beginning again when the end is reached, so that short messages
 * come from memory that was not just used, and long ones are not served from cache. */
struct beff_traffic {
    MPI_Comm comm; /* borrowed */
    int n, rank;
    int64_t buffer_bytes;
    int64_t wrong_at; /* place of the first tag that was wrong inside the clock; -1: none */
    int wrong_from;   /* and who sent it */
    unsigned char *send, *recv;
    void *memory[2];     /* that they lie in */
    int offset_bytes[2]; /* from a page where buffers begin: least and most of all ranks */
    struct beff_counts counts[BEFF_CALLS_MAX];
    int64_t place; /* of the next message, the same on all ranks; counts up without end */
};

/* Bytes of memory that the buffers of one rank take. room: of how many messages; BEFF_ROOM, or at
 * least the slots of a pattern. Local. */
int64_t beff_traffic_bytes(int64_t lmax_bytes, int room);

/* Makes the buffers, with the content described below. offset: bytes from a page where they begin,
 * or BUFFER_MALLOC (base/buffer.h). Collective over comm. [out] t: to be freed by beff_traffic_free,
 * also after an error. Returns 0, ERR_MPI or ERR_NOMEM. */
int beff_traffic_make(MPI_Comm comm, int64_t lmax_bytes, int room, int offset,
                      struct beff_traffic *t);
void beff_traffic_free(struct beff_traffic *t);

/* One measurement: a pattern, by one method, at one size. */
struct beff_exchange {
    const struct beff_pattern *pattern;
    int method;
    int64_t bytes; /* of a message, up to lmax_bytes */
    int64_t loop;  /* iterations */
    bool warm_up;  /* with one iteration before the clock */
    bool tagged;   /* as release 3.6: first and last byte are set and compared inside the clock */
};

/* Times an exchange: barrier, clock, loop, clock, barrier; then the ends of messages are checked.
 * Collective over the traffic's comm, but errors are not agreed on: every rank goes through all
 * steps, and returns 0, ERR_MPI or ERR_VERIFY (a message was not what its sender had sent) for
 * itself. [out] time_s: of this rank's loop. */
int beff_traffic_time(struct beff_traffic *t, const struct beff_exchange *ex, double *time_s);

/* One iteration of an exchange without a clock, of which every byte is checked. As
 * beff_traffic_time. */
int beff_traffic_verify(struct beff_traffic *t, const struct beff_exchange *ex);

/* --- what is in the messages, so that a wrong one is found ---
 *
 * The content of a send buffer follows from the sender's rank and the place in the buffer and is
 * written once. Messages are laid out at multiples of 8 bytes and received at the same place of the
 * receive buffer, so the receiver knows every byte. All functions are local; but for beff_message_byte
 * none is called while the clock runs. */

/* Bytes from one message to the next: its size rounded up to 8. */
int64_t beff_message_stride(int64_t bytes);

/* How many messages fit into a buffer; the next one starts at its beginning again. */
int64_t beff_message_places(int64_t buffer_bytes, int64_t bytes);

/* Writes the content of a rank's buffer. bytes: a multiple of 8. */
void beff_message_fill(unsigned char *buffer, int64_t bytes, int rank);

/* Makes the first and last 8 bytes of the message at a place wrong, so that one that never arrives
 * is not taken for the one that lay there before. */
void beff_message_poison(unsigned char *buffer, int64_t at_bytes, int64_t bytes, int sender);

/* Compare a received message with what the sender's buffer holds at that place: its first and last
 * 8 bytes, or all of it. Return the index of the first wrong byte, -1 when there is none. */
int64_t beff_message_check_ends(const unsigned char *buffer, int64_t at_bytes, int64_t bytes,
                                int sender);
int64_t beff_message_check_all(const unsigned char *buffer, int64_t at_bytes, int64_t bytes,
                               int sender);

/* The byte that belongs at a place of a sender's buffer. */
unsigned char beff_message_byte(int sender, int64_t at_bytes);

#endif
