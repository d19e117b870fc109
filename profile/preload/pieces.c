/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/preload/pieces.h"

#include <stdlib.h>

/* Appends one thing to another, displaced: pieces that touch are one. */
static void append(struct pieces *to, struct pieces what, int64_t at)
{
    to->known = to->known && what.known;
    if (what.bytes == 0) return;
    if (to->bytes == 0)
        to->first = at + what.first;
    else if (to->end == at + what.first)
        what.n--;
    to->n += what.n;
    to->bytes += what.bytes;
    to->end = at + what.end;
}

/* count copies of a thing, a distance apart. */
static struct pieces repeat(struct pieces what, int64_t count, int64_t apart)
{
    struct pieces all = what;
    if (count <= 0 || what.bytes == 0) return (struct pieces){.known = what.known};
    const bool touch = what.end == what.first + apart;
    all.n = what.n * count - (touch ? count - 1 : 0);
    all.bytes = what.bytes * count;
    all.end = what.end + (count - 1) * apart;
    return all;
}

static bool is_named(MPI_Datatype type)
{
    int ints, addresses, types, combiner;
    return PMPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner) == MPI_SUCCESS &&
           combiner == MPI_COMBINER_NAMED;
}

/* A subarray, dimension by dimension from the one that varies fastest. */
static struct pieces subarray(const int *i, struct pieces element)
{
    const int dims = i[0], order = i[1 + 3 * dims];
    const int *sizes = i + 1, *part = sizes + dims, *start = part + dims;
    struct pieces all = element;
    int64_t stride = element.extent;
    for (int k = 0; k < dims; k++) {
        const int d = order == MPI_ORDER_FORTRAN ? k : dims - 1 - k;
        all = repeat(all, part[d], stride);
        all.first += start[d] * stride;
        all.end += start[d] * stride;
        stride *= sizes[d];
    }
    return all;
}

/* The type map of a constructor: i integers, a addresses, parts the types it is made of. */
static struct pieces decode(int combiner, const int *i, const MPI_Aint *a,
                            const struct pieces *part)
{
    struct pieces all = {.known = true};
    const struct pieces p = part[0];
    switch (combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        return p;
    case MPI_COMBINER_CONTIGUOUS:
        return repeat(p, i[0], p.extent);
    case MPI_COMBINER_VECTOR:
        return repeat(repeat(p, i[1], p.extent), i[0], (int64_t)i[2] * p.extent);
    case MPI_COMBINER_HVECTOR:
        return repeat(repeat(p, i[1], p.extent), i[0], a[0]);
    case MPI_COMBINER_INDEXED:
        for (int b = 0; b < i[0]; b++)
            append(&all, repeat(p, i[1 + b], p.extent), (int64_t)i[1 + i[0] + b] * p.extent);
        return all;
    case MPI_COMBINER_HINDEXED:
        for (int b = 0; b < i[0]; b++)
            append(&all, repeat(p, i[1 + b], p.extent), a[b]);
        return all;
    case MPI_COMBINER_INDEXED_BLOCK:
        for (int b = 0; b < i[0]; b++)
            append(&all, repeat(p, i[1], p.extent), (int64_t)i[2 + b] * p.extent);
        return all;
    case MPI_COMBINER_HINDEXED_BLOCK:
        for (int b = 0; b < i[0]; b++)
            append(&all, repeat(p, i[1], p.extent), a[b]);
        return all;
    case MPI_COMBINER_STRUCT:
        for (int b = 0; b < i[0]; b++)
            append(&all, repeat(part[b], i[1 + b], part[b].extent), a[b]);
        return all;
    case MPI_COMBINER_SUBARRAY:
        return subarray(i, p);
    default:
        all.known = false;
        return all;
    }
}

struct pieces pieces_of(MPI_Datatype type)
{
    int ints = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED, size = 0;
    MPI_Aint lb = 0, extent = 0;
    struct pieces out = {.n = 1, .known = true};
    PMPI_Type_size(type, &size);
    PMPI_Type_get_extent(type, &lb, &extent);
    PMPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner);
    if (combiner == MPI_COMBINER_NAMED)
        return (struct pieces){
            .n = 1, .bytes = size, .first = 0, .end = size, .extent = extent, .known = true};

    int *i = calloc((size_t)ints + 1, sizeof *i);
    MPI_Aint *a = calloc((size_t)addresses + 1, sizeof *a);
    MPI_Datatype *t = calloc((size_t)types + 1, sizeof(MPI_Datatype));
    struct pieces *part = calloc((size_t)types + 1, sizeof *part);
    out.known = i && a && t && part &&
                PMPI_Type_get_contents(type, ints, addresses, types, i, a, t) == MPI_SUCCESS;
    if (out.known) {
        for (int k = 0; k < types; k++) {
            part[k] = pieces_of(t[k]);
            if (!is_named(t[k])) PMPI_Type_free(&t[k]);
        }
        out = decode(combiner, i, a, part);
    }
    free(i);
    free(a);
    free(t);
    free(part);
    if (!out.known) {
        out.n = 1;
        out.bytes = size;
    }
    out.extent = extent;
    return out;
}

int64_t pieces_in(const struct pieces *view, int64_t bytes)
{
    if (bytes <= 0) return 0;
    if (view->bytes <= 0 || (view->n == 1 && view->bytes == view->extent)) return 1;
    const int64_t whole = bytes / view->bytes, rest = bytes % view->bytes;
    const bool touch = view->end == view->first + view->extent;
    const int64_t tiles = whole + (rest > 0);
    int64_t n = whole * view->n;
    if (rest > 0) n += (view->n * rest + view->bytes - 1) / view->bytes;
    return n - (touch ? tiles - 1 : 0);
}
