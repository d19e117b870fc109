/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beff/beff_ring.h"

#include <stdint.h>

#include "base/num.h"

static int larger(int a, int b)
{
    return a > b ? a : b;
}

int beff_ring_standard(int i, int n)
{
    const int size[BEFF_RINGS_N] = {2, 4, 8, larger(16, n / 4), larger(32, n / 2), n};
    return size[i] < n ? size[i] : n;
}

/* Number of rings: n / standard, rounded up from 0.6 on, but every ring has two processes. */
static int count(enum beff_definition definition, int n, int standard)
{
    const int64_t near = (10 * (int64_t)n + 4 * (int64_t)standard) / (10 * (int64_t)standard);
    /* The paper says so in words for the second pattern; the rule alone would give 4 + 3. */
    if (definition == BEFF_PAPER && standard == 4 && n <= 7) return 1;
    const int64_t most = n / 2;
    return (int)(near < 1 ? 1 : near < most ? near : most);
}

struct beff_rings beff_rings_of(enum beff_definition definition, int n, int standard)
{
    const int rings = count(definition, n, standard);
    const int low = n / rings, high_n = n % rings;
    if (high_n == 0) return (struct beff_rings){n, rings, low, 0, 0};
    /* The even size comes first. */
    if (low % 2) return (struct beff_rings){n, high_n, low + 1, rings - high_n, low};
    return (struct beff_rings){n, rings - high_n, low, high_n, low + 1};
}

int beff_ring_at(const struct beff_rings *r, int position, int *start)
{
    const int border = r->first_n * r->first;
    if (position < border) {
        *start = position - position % r->first;
        return r->first;
    }
    *start = position - (position - border) % r->second;
    return r->second;
}

const char *beff_ring_name(const struct beff_rings *r, char out[BEFF_NAME_MAX])
{
    const char *others = r->second_n == 0 ? "fix" : r->second > r->first ? "&+1" : "&-1";
    num_print(out, BEFF_NAME_MAX, "ring-%d*%d%s", r->first_n, r->first, others);
    return out;
}
