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
#include "bt/solver/plan.h"

/* In auto, ranks keep at least this many whole z planes before another axis is cut. */
#define AUTO_PLANES 4

/* Larger factors than this are not believed; three of them multiply without overflow. */
#define FACTOR_MAX 1000000

int64_t bt_decomp_first(int64_t n, int parts, int p)
{
    const int64_t low = (n % parts + 1) / 2; /* parts at the low end that have one cell more */
    const int64_t high = n % parts - low;    /* at the high end */
    return n / parts * p + bt_min64(p, low) + bt_max64(0, p - (parts - high));
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

/* For 3d: of grids with one product the sum of factors is least for the most cubic. */
static int64_t cost_cubic(int64_t n, const int p[3])
{
    (void)n;
    return (int64_t)p[0] + p[1] + p[2];
}

/* For auto: cells in the faces that the largest block exchanges, up to two of each kind. Faces
 * normal to x count four times: their values lie apart in memory, and cutting x shortens the rows
 * that fill SIMD lanes. */
static int64_t cost_surface(int64_t n, const int p[3])
{
    static const int64_t weight[3] = {4, 1, 1};
    int64_t widest[3], cost = 0;
    for (int q = 0; q < 3; q++)
        widest[q] = (n + p[q] - 1) / p[q];
    for (int q = 0; q < 3; q++)
        cost += weight[q] * bt_min64(p[q] - 1, 2) * widest[(q + 1) % 3] * widest[(q + 2) % 3];
    return cost;
}

/* The cheapest factorisation of size that fits; of equal ones the first by PX, then PY. False when
 * none fits. */
static bool cheapest(int64_t n, int size, int64_t (*cost)(int64_t n, const int p[3]), int best[3])
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

/* 1d:z needs no transposed faces and keeps whole planes together; other axes are cut only when
 * ranks would be left with slabs so thin that halos outweigh them. */
static bool make_auto(int64_t n, int size, int p[3])
{
    if (n / size < AUTO_PLANES && size > 1) return cheapest(n, size, cost_surface, p);
    p[0] = p[1] = 1;
    p[2] = size;
    return true;
}

/* Says what would work instead: auto's choice, or fewer ranks when nothing does. Always fails. */
static int no_fit(const char *option, const char *text, int64_t n, int size)
{
    int p[3];
    long long cells = (long long)n;
    if (make_auto(n, size, p))
        return err_set(ERR_USAGE,
                       "%s %s leaves some of the %d ranks without a cell: N = %lld, so at most "
                       "%lld parts along an axis; %s auto (%dx%dx%d) works",
                       option, text, size, cells, cells, option, p[0], p[1], p[2]);
    return err_set(ERR_USAGE,
                   "%s %s: %d ranks cannot share %lld^3 cells in blocks, because no three factors "
                   "of %d are all at most N = %lld; start another number of ranks",
                   option, text, size, cells, size, cells);
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

static int make_explicit(const char *option, const char *text, int64_t n, int size, int p[3])
{
    if (!read_factors(text, p))
        return err_set(ERR_USAGE,
                       "%s '%s' is not understood: give %sauto, 1d, 1d:x, 1d:y, 1d:z, 3d or "
                       "PXxPYxPZ such as 2x2x1",
                       option, text, strcmp(option, "--read-decomp") == 0 ? "own, " : "");
    long long product = (long long)p[0] * p[1] * p[2];
    if (product != size)
        return strcmp(option, "--read-decomp") == 0
                   ? err_set(ERR_USAGE,
                             "%s %s has %lld blocks, but the number of ranks that read is %d (all, "
                             "or --read-ranks): the three factors must multiply to that, or let "
                             "%lld ranks read",
                             option, text, product, size, product)
                   : err_set(ERR_USAGE,
                             "%s %s has %lld blocks, but the number of ranks is %d: the three "
                             "factors must multiply to that, or start %lld ranks",
                             option, text, product, size, product);
    return fits(n, p) ? ERR_OK : no_fit(option, text, n, size);
}

int bt_decomp_make(const char *text, int64_t n, int size, int rank, struct bt_decomp *d)
{
    return bt_decomp_of_option("--decomp", text, n, size, rank, d);
}

int bt_decomp_of_option(const char *option, const char *text, int64_t n, int size, int rank,
                        struct bt_decomp *d)
{
    static const char *const slabs[] = {"1d:x", "1d:y", "1d:z", "1d"};
    int axis = 0;
    d->n = n;
    while (axis < 4 && strcmp(text, slabs[axis]) != 0)
        axis++;
    if (axis < 4) {
        for (int q = 0; q < 3; q++)
            d->p[q] = q == bt_min64(axis, 2) ? size : 1;
        if (size > n) return no_fit(option, text, n, size);
    } else if (strcmp(text, "auto") == 0) {
        if (!make_auto(n, size, d->p)) return no_fit(option, text, n, size);
    } else if (strcmp(text, "3d") == 0) {
        if (!cheapest(n, size, cost_cubic, d->p)) return no_fit(option, text, n, size);
    } else {
        TRY(make_explicit(option, text, n, size, d->p));
    }
    d->at[0] = rank % d->p[0];
    d->at[1] = rank / d->p[0] % d->p[1];
    d->at[2] = rank / d->p[0] / d->p[1];
    for (int q = 0; q < 3; q++) {
        d->lo[q] = bt_decomp_first(d->n, d->p[q], d->at[q]);
        d->count[q] = bt_decomp_first(d->n, d->p[q], d->at[q] + 1) - d->lo[q];
    }
    return ERR_OK;
}
