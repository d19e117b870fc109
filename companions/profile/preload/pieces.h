/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_PRELOAD_PIECES_H
#define PROFILE_PRELOAD_PIECES_H
/* Layer 3. How contiguous a data type is, from its constructors, without unfolding it. */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Hidden: none of these names may interpose one of the program's. */
#pragma GCC visibility push(hidden)

struct list;

struct pieces {
    int64_t n;          /* contiguous pieces of one instance, in the order of the type map */
    int64_t bytes;      /* without holes */
    int64_t first, end; /* where the first piece begins, the last one ends */
    int64_t extent;
    bool known;        /* false: a constructor that is not decoded; n is 1 then */
    struct list *list; /* of pieces.c */
};

/* Local. After an error of MPI, for constructors that MPI 3 has removed and for types that are made
 * of more than 1024 others, known is false. */
struct pieces pieces_of(MPI_Datatype type);

/* A contiguous piece of a type, and how many of its bytes lie in those before. */
struct piece {
    int64_t at, bytes, before;
};

/* The pieces of one instance, in the order of the type map. To be freed; NULL: there are more than 65536, or they
 * are not known, or there is no memory for them. Local. */
struct piece *pieces_list(MPI_Datatype type, const struct pieces *of);

/* Pieces in the file of so many bytes through a view of that type, from its beginning on. Local. */
int64_t pieces_in(const struct pieces *view, int64_t bytes);

#pragma GCC visibility pop

#endif
