/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/profile/preload/pieces.h"

#include <stdlib.h>

#define TYPES_MAX 1024  /* that are taken apart of a type and its parts */
#define LIST_MAX  65536 /* pieces of a type that are listed */

/* A list of pieces that is being made: every one is handed on to what the type is a part of, and all are freed
 * in the end. */
struct list {
    struct list *made_before;
    int64_t n, room; /* n -1: it is not known */
    struct piece *piece;
};

/* The lists of the type that this thread takes apart; NULL: nobody asks for them. */
static _Thread_local struct list *made;
static _Thread_local bool listing;

static struct list *list_new(void)
{
    struct list *l = listing ? calloc(1, sizeof *l) : NULL;
    if (l) l->made_before = made;
    if (l) made = l;
    return l;
}

/* Adds a piece; one that touches the last makes that longer. */
static void list_add(struct list *l, int64_t at, int64_t bytes)
{
    if (!l || l->n < 0 || bytes == 0) return;
    struct piece *last = l->n > 0 ? &l->piece[l->n - 1] : NULL;
    if (last && last->at + last->bytes == at) {
        last->bytes += bytes;
        return;
    }
    if (l->n == l->room) {
        const int64_t room = l->room ? 2 * l->room : 16;
        struct piece *more =
            room <= LIST_MAX ? realloc(l->piece, (size_t)room * sizeof *more) : NULL;
        if (!more) {
            l->n = -1;
            return;
        }
        l->piece = more;
        l->room = room;
    }
    l->piece[l->n++] = (struct piece){.at = at, .bytes = bytes};
}

/* Adds those of another one, displaced. */
static void list_append(struct list *l, const struct list *what, int64_t at)
{
    if (l && (!what || what->n < 0)) l->n = -1;
    for (int64_t i = 0; l && l->n >= 0 && i < what->n; i++)
        list_add(l, at + what->piece[i].at, what->piece[i].bytes);
}

/* Appends one thing to another, displaced: pieces that touch are one. */
static void append(struct pieces *to, struct pieces what, int64_t at)
{
    to->known = to->known && what.known;
    if (what.bytes == 0) return;
    if (!to->list) to->list = list_new();
    list_append(to->list, what.list, at);
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
    if (count == 1) return all;
    all.list = list_new();
    for (int64_t i = 0; i < count && all.list && all.list->n >= 0; i++)
        list_append(all.list, what.list, i * apart);
    return all;
}

/* A thing elsewhere. */
static struct pieces displace(struct pieces what, int64_t by)
{
    struct pieces all = what;
    all.first += by;
    all.end += by;
    if (by == 0) return all;
    all.list = list_new();
    list_append(all.list, what.list, by);
    return all;
}

/* What a type was made of: the numbers that its constructor was given, MPI's integers first, then
 * large counts, then addresses; this order is that of the arguments, whichever form of the
 * constructor was called (MPI_Type_vector or MPI_Type_vector_c), but for sub- and distributed
 * arrays. */
struct type_contents {
    int combiner;
    MPI_Count ints, larges, addresses, types;
};

static bool made_of(MPI_Datatype type, struct type_contents *m)
{
#ifdef HAVE_LARGE_COUNT
    return PMPI_Type_get_envelope_c(type, &m->ints, &m->addresses, &m->larges, &m->types,
                                    &m->combiner) == MPI_SUCCESS;
#else
    int ints = 0, addresses = 0, types = 0;
    const int rc = PMPI_Type_get_envelope(type, &ints, &addresses, &types, &m->combiner);
    m->ints = ints;
    m->addresses = addresses;
    m->larges = 0;
    m->types = types;
    return rc == MPI_SUCCESS;
#endif
}

/* A type of the language: nothing to take apart, and nothing to free. */
static bool is_basic(const struct type_contents *m)
{
    return m->combiner == MPI_COMBINER_NAMED || m->combiner == MPI_COMBINER_F90_REAL ||
           m->combiner == MPI_COMBINER_F90_COMPLEX || m->combiner == MPI_COMBINER_F90_INTEGER;
}

/* A subarray, dimension by dimension from the one that varies fastest. */
static struct pieces subarray(const int64_t *n, bool large, struct pieces element)
{
    const int dims = (int)n[0];
    const int64_t order = n[large ? 1 : 1 + 3 * dims];
    const int64_t *sizes = n + (large ? 2 : 1), *part = sizes + dims, *start = part + dims;
    struct pieces all = element;
    int64_t stride = element.extent;
    for (int k = 0; k < dims; k++) {
        const int d = order == MPI_ORDER_FORTRAN ? k : dims - 1 - k;
        all = displace(repeat(all, part[d], stride), start[d] * stride);
        stride *= sizes[d];
    }
    return all;
}

/* An array that is dealt out to a grid of processes, blocks of each dimension in turns: one that is
 * cut in as many blocks as there are processes, or not at all, is dealt out in one turn. */
static struct pieces distributed(const int64_t *n, bool large, struct pieces element)
{
    const int dims = (int)n[2];
    const int64_t *sizes = large ? n + 4 + 3 * dims : n + 3, *how = n + 3 + (large ? 0 : dims);
    const int64_t *asked = how + dims, *grid = asked + dims, order = grid[dims];
    struct pieces all = element;
    int64_t stride = element.extent;
    for (int k = 0; k < dims; k++) {
        const int d = order == MPI_ORDER_FORTRAN ? k : dims - 1 - k;
        int64_t me = n[1], block = asked[d];
        for (int faster = d + 1; faster < dims; faster++)
            me /= grid[faster];
        if (block == MPI_DISTRIBUTE_DFLT_DARG)
            block = how[d] == MPI_DISTRIBUTE_CYCLIC ? 1 : (sizes[d] + grid[d] - 1) / grid[d];
        const int64_t first = me % grid[d] * block, turn = grid[d] * block;
        const int64_t turns = first < sizes[d] ? (sizes[d] - first + turn - 1) / turn : 0;
        const int64_t at = first + (turns - 1) * turn; /* of the last block, a short one perhaps */
        const int64_t last = turns == 0 ? 0 : sizes[d] - at < block ? sizes[d] - at : block;
        struct pieces line = {.known = true};
        append(&line, repeat(repeat(all, block, stride), turns - 1, turn * stride), first * stride);
        append(&line, repeat(all, last, stride), at * stride);
        all = line;
        stride *= sizes[d];
    }
    return all;
}

/* The type map of a constructor: n its numbers, part the types it is made of. */
static struct pieces decode(const struct type_contents *m, const int64_t *n,
                            const struct pieces *part)
{
    struct pieces all = {.known = true};
    const struct pieces p = part[0];
    switch (m->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        return p;
    case MPI_COMBINER_CONTIGUOUS:
        return repeat(p, n[0], p.extent);
    case MPI_COMBINER_VECTOR:
        return repeat(repeat(p, n[1], p.extent), n[0], n[2] * p.extent);
    case MPI_COMBINER_HVECTOR:
        return repeat(repeat(p, n[1], p.extent), n[0], n[2]);
    case MPI_COMBINER_INDEXED:
        for (int64_t b = 0; b < n[0]; b++)
            append(&all, repeat(p, n[1 + b], p.extent), n[1 + n[0] + b] * p.extent);
        return all;
    case MPI_COMBINER_HINDEXED:
        for (int64_t b = 0; b < n[0]; b++)
            append(&all, repeat(p, n[1 + b], p.extent), n[1 + n[0] + b]);
        return all;
    case MPI_COMBINER_INDEXED_BLOCK:
        for (int64_t b = 0; b < n[0]; b++)
            append(&all, repeat(p, n[1], p.extent), n[2 + b] * p.extent);
        return all;
    case MPI_COMBINER_HINDEXED_BLOCK:
        for (int64_t b = 0; b < n[0]; b++)
            append(&all, repeat(p, n[1], p.extent), n[2 + b]);
        return all;
    case MPI_COMBINER_STRUCT:
        for (int64_t b = 0; b < n[0]; b++)
            append(&all, repeat(part[b], n[1 + b], part[b].extent), n[1 + n[0] + b]);
        return all;
    case MPI_COMBINER_SUBARRAY:
        return subarray(n, m->larges > 0, p);
    case MPI_COMBINER_DARRAY:
        return distributed(n, m->larges > 0, p);
    default:
        all.known = false;
        return all;
    }
}

/* The constructor's numbers in one row, and its types. Returns whether MPI gave them. */
static bool contents(MPI_Datatype type, const struct type_contents *m, int64_t *n, MPI_Datatype *t)
{
    int *i = calloc((size_t)m->ints + 1, sizeof *i);
    MPI_Aint *a = calloc((size_t)m->addresses + 1, sizeof *a);
    MPI_Count *large = calloc((size_t)m->larges + 1, sizeof *large);
    bool ok = i && a && large;
#ifdef HAVE_LARGE_COUNT
    ok = ok && PMPI_Type_get_contents_c(type, m->ints, m->addresses, m->larges, m->types, i, a,
                                        large, t) == MPI_SUCCESS;
#else
    ok = ok && PMPI_Type_get_contents(type, (int)m->ints, (int)m->addresses, (int)m->types, i, a,
                                      t) == MPI_SUCCESS;
#endif
    for (MPI_Count k = 0; ok && k < m->ints; k++)
        *n++ = i[k];
    for (MPI_Count k = 0; ok && k < m->larges; k++)
        *n++ = large[k];
    for (MPI_Count k = 0; ok && k < m->addresses; k++)
        *n++ = a[k];
    free(i);
    free(a);
    free(large);
    return ok;
}

/* left: types that may still be taken apart, those of the language not counted. Where a type is part of another twice, MPI gives two
 * handles that cannot be told to be the same, so that nested types would take for ever. */
static struct pieces take_apart(MPI_Datatype type, int *left)
{
    struct type_contents m, of;
    MPI_Count size = 0;
    MPI_Aint lb = 0, extent = 0;
    PMPI_Type_size_x(type, &size);
    PMPI_Type_get_extent(type, &lb, &extent);
    const struct pieces whole = {.n = 1, .bytes = size, .end = size, .extent = extent};
    struct pieces out = whole;
    if (!made_of(type, &m)) return whole;
    if (is_basic(&m)) {
        out.known = true;
        out.list = list_new();
        list_add(out.list, 0, size);
        return out;
    }
    if (*left == 0) return whole;
    (*left)--;
    int64_t *n = calloc((size_t)(m.ints + m.larges + m.addresses) + 1, sizeof *n);
    MPI_Datatype *t = calloc((size_t)m.types + 1, sizeof(MPI_Datatype));
    struct pieces *part = calloc((size_t)m.types + 1, sizeof *part);
    if (n && t && part && contents(type, &m, n, t)) {
        for (MPI_Count k = 0; k < m.types; k++) {
            part[k] = take_apart(t[k], left);
            if (made_of(t[k], &of) && !is_basic(&of)) PMPI_Type_free(&t[k]);
        }
        out = decode(&m, n, part);
    }
    free(n);
    free(t);
    free(part);
    if (!out.known) return whole;
    out.extent = extent;
    return out;
}

struct pieces pieces_of(MPI_Datatype type)
{
    int left = TYPES_MAX;
    return take_apart(type, &left);
}

struct piece *pieces_list(MPI_Datatype type, const struct pieces *of)
{
    struct piece *piece = NULL;
    if (!of->known || of->bytes <= 0 || of->n > LIST_MAX) return NULL;
    listing = true;
    const struct pieces all = pieces_of(type);
    listing = false;
    if (all.list && all.list->n == of->n) {
        piece = all.list->piece;
        all.list->piece = NULL;
    }
    int64_t before = 0;
    for (int64_t i = 0; piece && i < of->n; before += piece[i++].bytes)
        piece[i].before = before;
    while (made) {
        struct list *const l = made;
        made = l->made_before;
        free(l->piece);
        free(l);
    }
    return piece;
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
