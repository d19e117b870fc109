/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORKLOAD_FUNCTION_H
#define WORKLOAD_FUNCTION_H
/* Layer 2, free of MPI and of every library. The data access functions of MPI-IO [MPI31, 13.4]: a
 * call is one of 28 kinds, in 34 functions, because a split collective call is two (..._begin and
 * ..._end). 30 of the functions are those of Table 1 of [V]; four came with MPI 3.1, the
 * nonblocking collective calls that end with a wait: iread_at_all, iwrite_at_all, iread_all,
 * iwrite_all.
 *
 *     kind = ((position * 2 + coordination) * 3 + synchronism) * 2 + direction
 *
 * Two combinations are no call of MPI: independent calls are never SPLIT, independent nonblocking
 * ones are REQUEST; and there is no ordered REQUEST. */
#include <stdbool.h>

enum workload_position { WORKLOAD_EXPLICIT, WORKLOAD_INDIVIDUAL, WORKLOAD_SHARED };
enum workload_synchronism { WORKLOAD_BLOCKING, WORKLOAD_REQUEST, WORKLOAD_SPLIT };

/* Room for every combination, those that do not exist too. */
#define WORKLOAD_KINDS 36

/* The index of a kind, written as its four properties: a constant. */
#define WORKLOAD_KIND(position, collective, sync, write)                                           \
    (((WORKLOAD_##position * 2 + (collective)) * 3 + WORKLOAD_##sync) * 2 + (write))

struct workload_kind {
    enum workload_position position;
    bool collective;
    enum workload_synchronism sync;
    bool write;
};

/* Local, pure. */
static inline int workload_kind_index(struct workload_kind k)
{
    return (((int)k.position * 2 + k.collective) * 3 + (int)k.sync) * 2 + k.write;
}

static inline struct workload_kind workload_kind_of(int index)
{
    return (struct workload_kind){.position = (enum workload_position)(index / 12),
                                  .collective = index / 6 % 2,
                                  .sync = (enum workload_synchronism)(index / 2 % 3),
                                  .write = index % 2};
}

/* "MPI_File_write_at_all", "MPI_File_read_ordered_begin" (for the pair): the function of a kind;
 * and its name without "MPI_File_", as in a workload's file. NULL where there is none. Static
 * text. */
const char *workload_kind_call(int index);
const char *workload_kind_name(int index);

/* The inverse. Returns the index, or -1 for a name that is none. */
int workload_kind_find(const char *name);

#endif
