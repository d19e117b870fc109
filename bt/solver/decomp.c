/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An axis of n cells in P parts: every part has n / P cells, and the n mod P cells that are left
 * over go one each to the outermost parts, which have the least to compute (boundary planes are
 * never advanced): n = 14, P = 4 gives
 *
 *     | 0 1 2 3 | 4 5 6 | 7 8 9 | 10 11 12 13 |
 */
#include "bt/solver/decomp.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* In auto, ranks keep at least this many whole z planes before another axis is cut. */
#define AUTO_PLANES 4

/* Larger factors than this are not believed; three of them multiply without overflow. */
#define FACTOR_MAX 1000000

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Parts at the low end that have one cell more; the high end has the other n mod parts of them. */
static int64_t extra_low(int64_t n, int parts)
{
    return (n % parts + 1) / 2;
}

int64_t bt_decomp_first(int64_t n, int parts, int p)
{
    int64_t low = extra_low(n, parts);
    int64_t high = n % parts - low;
    return n / parts * p + min64(p, low) + max64(0, p - (parts - high));
}

int bt_decomp_owner(int64_t n, int parts, int64_t i)
{
    int64_t q = n / parts, low = extra_low(n, parts);
    int64_t middle = parts - n % parts;
    int64_t past_low = i - low * (q + 1);
    int64_t past_middle = past_low - middle * q;
    if (past_low < 0) return (int)(i / (q + 1));
    if (past_middle < 0) return (int)(low + past_low / q);
    return (int)(low + middle + past_middle / (q + 1));
}

int bt_decomp_rank(const struct bt_decomp *d, const int at[3])
{
    return at[0] + d->p[0] * (at[1] + d->p[1] * at[2]);
}

void bt_decomp_name(const struct bt_decomp *d, char *out)
{
    snprintf(out, 40, "%dx%dx%d", d->p[0], d->p[1], d->p[2]);
}

/* True when every rank of the grid p gets a cell. */
static bool fits(int64_t n, const int p[3])
{
    return p[0] <= n && p[1] <= n && p[2] <= n;
}

/* Cells along an axis in the largest part. */
static int64_t widest(int64_t n, int parts)
{
    return (n + parts - 1) / parts;
}

/* For 3d: of grids with one product the sum of factors is least for the most cubic. */
static int64_t cost_cubic(int64_t n, const int p[3])
{
    (void)n;
    return (int64_t)p[0] + p[1] + p[2];
}

/* Faces that a rank in the middle of parts has to others. */
static int64_t faces(int parts)
{
    return min64(parts - 1, 2);
}

/* For auto: cells in the faces that the largest block exchanges. Faces normal to x count four
 * times: their values lie apart in memory, and cutting x shortens the rows that fill SIMD lanes. */
static int64_t cost_surface(int64_t n, const int p[3])
{
    int64_t x = widest(n, p[0]), y = widest(n, p[1]), z = widest(n, p[2]);
    return 4 * faces(p[0]) * y * z + faces(p[1]) * x * z + faces(p[2]) * x * y;
}

typedef int64_t cost_fn(int64_t n, const int p[3]);

/* The cheapest factorisation of size that fits; of equal ones the first by PX, then PY. False when
 * none fits. */
static bool cheapest(int64_t n, int size, cost_fn *cost, int best[3])
{
    int64_t least = INT64_MAX;
    for (int px = 1; px <= size; px++) {
        for (int py = 1; size % px == 0 && py <= size / px; py++) {
            int p[3] = {px, py, size / px / py};
            if (size / px % py != 0 || !fits(n, p) || cost(n, p) >= least) continue;
            least = cost(n, p);
            memcpy(best, p, sizeof p);
        }
    }
    return least < INT64_MAX;
}

static bool make_cubic(int64_t n, int size, int p[3])
{
    return cheapest(n, size, cost_cubic, p);
}

/* 1d:z needs no transposed faces and keeps whole planes together; other axes are cut only when
 * ranks would be left with slabs so thin that halos outweigh them. */
static bool make_auto(int64_t n, int size, int p[3])
{
    if (n / size < AUTO_PLANES && size > 1) return cheapest(n, size, cost_surface, p);
    p[0] = p[1] = 1;
    p[2] = size;
    return true;
}

static bool make_slabs(int64_t n, int size, int axis, int p[3])
{
    for (int q = 0; q < 3; q++)
        p[q] = q == axis ? size : 1;
    return size <= n;
}

static bool make_x(int64_t n, int size, int p[3])
{
    return make_slabs(n, size, 0, p);
}

static bool make_y(int64_t n, int size, int p[3])
{
    return make_slabs(n, size, 1, p);
}

static bool make_z(int64_t n, int size, int p[3])
{
    return make_slabs(n, size, 2, p);
}

static const struct {
    const char *name;
    bool (*make)(int64_t n, int size, int p[3]);
} schemes[] = {
    {"auto", make_auto}, {"1d", make_z},   {"1d:x", make_x},
    {"1d:y", make_y},    {"1d:z", make_z}, {"3d", make_cubic},
};

/* Says what would work instead: auto's choice, or fewer ranks when nothing does. Always fails. */
static int no_fit(const char *text, int64_t n, int size)
{
    int p[3];
    long long cells = (long long)n;
    if (make_auto(n, size, p))
        return err_set(ERR_USAGE,
                       "--decomp %s leaves some of the %d ranks without a cell: N = %lld, so at "
                       "most %lld parts along an axis; --decomp auto (%dx%dx%d) works",
                       text, size, cells, cells, p[0], p[1], p[2]);
    return err_set(ERR_USAGE,
                   "--decomp %s: %d ranks cannot share %lld^3 cells in blocks, because no three "
                   "factors of %d are all at most N = %lld; start another number of ranks",
                   text, size, cells, size, cells);
}

static int make_scheme(const char *text, int64_t n, int size, int p[3], bool *known)
{
    *known = true;
    for (size_t s = 0; s < sizeof schemes / sizeof schemes[0]; s++)
        if (strcmp(text, schemes[s].name) == 0)
            return schemes[s].make(n, size, p) ? ERR_OK : no_fit(text, n, size);
    *known = false;
    return ERR_OK;
}

/* Reads "PXxPYxPZ", nothing more and nothing less. */
static bool read_factors(const char *text, int p[3])
{
    for (int q = 0; q < 3; q++) {
        char *end;
        if (*text < '0' || *text > '9') return false;
        long value = strtol(text, &end, 10);
        if (value < 1 || value > FACTOR_MAX || *end != (q < 2 ? 'x' : '\0')) return false;
        p[q] = (int)value;
        text = end + 1;
    }
    return true;
}

static int make_explicit(const char *text, int64_t n, int size, int p[3])
{
    if (!read_factors(text, p))
        return err_set(ERR_USAGE,
                       "--decomp '%s' is not understood: give auto, 1d, 1d:x, 1d:y, 1d:z, 3d or "
                       "PXxPYxPZ such as 2x2x1",
                       text);
    long long product = (long long)p[0] * p[1] * p[2];
    if (product != size)
        return err_set(ERR_USAGE,
                       "--decomp %s has %lld blocks, but there are %d ranks: the three factors "
                       "must multiply to %d, or start %lld ranks",
                       text, product, size, size, product);
    return fits(n, p) ? ERR_OK : no_fit(text, n, size);
}

/* Fills in what depends on the rank. */
static void place(struct bt_decomp *d, int rank)
{
    d->at[0] = rank % d->p[0];
    d->at[1] = rank / d->p[0] % d->p[1];
    d->at[2] = rank / d->p[0] / d->p[1];
    for (int q = 0; q < 3; q++) {
        d->lo[q] = bt_decomp_first(d->n, d->p[q], d->at[q]);
        d->count[q] = bt_decomp_first(d->n, d->p[q], d->at[q] + 1) - d->lo[q];
    }
}

int bt_decomp_make(const char *text, int64_t n, int size, int rank, struct bt_decomp *d)
{
    bool known;
    d->n = n;
    TRY(make_scheme(text, n, size, d->p, &known));
    if (!known) TRY(make_explicit(text, n, size, d->p));
    place(d, rank);
    return ERR_OK;
}
