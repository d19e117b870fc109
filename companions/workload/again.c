/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/workload/again.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/par.h"

static int by_place(const void *a, const void *b)
{
    const struct workload_piece *x = a, *y = b;
    if (x->file != y->file) return x->file < y->file ? -1 : 1;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Whether a piece of this rank meets one of rank from. piece: [n] in order, apart from each other. [out] meet: stays true. */
static int meets(MPI_Comm comm, int from, const struct workload_piece *piece, int64_t n, int *meet)
{
    struct workload_piece other[1024];
    int rank, m;
    int64_t others = n, mine = 0;
    TRY_MPI(MPI_Comm_rank(comm, &rank));
    TRY_MPI(MPI_Bcast(&others, 1, MPI_INT64_T, from, comm));
    for (int64_t at = 0; at < others; at += m) {
        m = (int)num_min(others - at, (int64_t)(sizeof other / sizeof *other));
        if (rank == from) memcpy(other, piece + at, (size_t)m * sizeof *other);
        TRY_MPI(MPI_Bcast(other, m * (int)sizeof *other, MPI_BYTE, from, comm));
        for (const struct workload_piece *o = other; rank != from && o < other + m; o++) {
            while (mine < n && (piece[mine].file < o->file ||
                                (piece[mine].file == o->file && piece[mine].end <= o->begin)))
                mine++;
            *meet |= mine < n && piece[mine].file == o->file && piece[mine].begin < o->end;
        }
    }
    return 0;
}

int workload_moves_again(MPI_Comm comm, struct workload_piece *piece, int64_t n, bool *again)
{
    int size, twice = 0;
    int64_t spans = 0;
    TRY_MPI(MPI_Comm_size(comm, &size));
    if (n > 0) qsort(piece, (size_t)n, sizeof *piece, by_place);
    for (int64_t i = 0; i < n; i++) {
        struct workload_piece *last = spans > 0 ? &piece[spans - 1] : NULL;
        if (last && last->file == piece[i].file && last->end >= piece[i].begin) {
            twice |= last->end > piece[i].begin;
            last->end = num_max(last->end, piece[i].end);
        } else {
            piece[spans++] = piece[i];
        }
    }
    for (int from = 0;; from++) {
        TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &twice, 1, MPI_INT, MPI_MAX, comm));
        *again = twice;
        if (twice || from == size) return 0;
        TRY(meets(comm, from, piece, spans, &twice));
    }
}
