/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "verify/locate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/mem.h"

#define AXES    4 /* words by i, j, k, m */
#define BAD_MAX 8 /* planes of one axis that are tried one by one */

static const char axis_letter[AXES] = {'i', 'j', 'k', 'm'};

/* A plane index and by how much its word is off. */
struct wrong_planes {
    int64_t count; /* all of them; the first BAD_MAX are listed */
    int64_t index[BAD_MAX];
};

struct search {
    const struct locate *l;
    uint64_t *diff; /* computed minus written, digest_words(n) words */
    struct wrong_planes bad[AXES];
    char name[LOCATE_NAME];
};

/* A guess: undoing it changes the words of this place by delta. m is -1 for a whole cell whose
 * components are not told apart. */
struct cell_change {
    struct place at;
    uint64_t delta;
};

const char *locate_name(const struct manifest *m, int64_t dump, char buf[LOCATE_NAME])
{
    const int64_t step = manifest_step(m, dump);
    if (step >= 0)
        snprintf(buf, LOCATE_NAME, "dump %" PRId64 " (step %" PRId64 ")", dump, step);
    else
        snprintf(buf, LOCATE_NAME, "dump %" PRId64, dump);
    return buf;
}

static const uint64_t *written(const struct locate *l)
{
    return l->manifest->dump[l->dump].digest;
}

bool locate_agrees(const struct locate *l)
{
    return memcmp(l->digest, written(l), (size_t)digest_words(l->shape->n) * 8) == 0;
}

static int64_t axis_length(const struct search *w, int axis)
{
    return axis < 3 ? w->l->shape->n : BT_NCOMP;
}

static uint64_t *diff_word(const struct search *w, int axis, int64_t index)
{
    return &w->diff[axis * w->l->shape->n + index];
}

static int64_t place_index(const struct place *at, int axis)
{
    const int64_t index[AXES] = {at->i, at->j, at->k, at->m};
    return index[axis];
}

static void apply(const struct search *w, const struct cell_change *fix, int count, bool undo)
{
    for (int f = 0; f < count; f++)
        for (int a = 0; a < AXES; a++)
            *diff_word(w, a, place_index(&fix[f].at, a)) += undo ? -fix[f].delta : fix[f].delta;
}

/* True when no word is off once the guess is undone. All places of fixes are in bad planes. */
static bool explains(const struct search *w, const struct cell_change *fix, int count)
{
    bool zero = true;
    apply(w, fix, count, false);
    for (int a = 0; a < AXES; a++)
        for (int64_t b = 0; zero && b < w->bad[a].count; b++)
            zero = *diff_word(w, a, w->bad[a].index[b]) == 0;
    apply(w, fix, count, true);
    return zero;
}

static int read_bits(const struct search *w, const struct place *at, uint64_t *bits)
{
    return shape_read(w->l->file, w->l->shape, w->l->dump, at, bits);
}

static uint64_t hash_at(const struct search *w, uint64_t bits, const struct place *at)
{
    return digest_hash(bits, shape_rank(w->l->shape->n, at));
}

/* Data of another dump of the run, as a whole. Returns 1 when it is. */
static int explain_stale(struct search *w, struct findings *f)
{
    const struct manifest *m = w->l->manifest;
    char other[LOCATE_NAME];
    for (int64_t d = 0; d < m->dumps_n; d++) {
        if (d == w->l->dump || !m->dump[d].digest) continue;
        if (memcmp(w->l->digest, m->dump[d].digest, (size_t)digest_words(m->shape.n) * 8)) continue;
        finding_add(f, "stale", w->l->dump, "%s holds the data of %s", w->name,
                    locate_name(m, d, other));
        return 1;
    }
    return 0;
}

/* "3..5, 17" for the planes that are off. */
static void ranges(const struct search *w, int axis, char *buf, size_t size)
{
    size_t used = 0;
    int64_t from = -1, listed = 0;
    buf[0] = '\0';
    for (int64_t x = 0; x <= axis_length(w, axis) && used < size - 1; x++) {
        const bool off = x < axis_length(w, axis) && *diff_word(w, axis, x);
        if (off && from < 0) from = x;
        if (off || from < 0) continue;
        if (listed++ == 6) {
            snprintf(buf + used, size - used, ", ...");
            return;
        }
        used += (size_t)snprintf(buf + used, size - used, "%s%" PRId64, used ? ", " : "", from);
        if (x - 1 > from && used < size - 1)
            used += (size_t)snprintf(buf + used, size - used, "..%" PRId64, x - 1);
        from = -1;
    }
}

/* All planes of one direction that are off hold what they held in another dump. */
static int explain_stale_planes(struct search *w, struct findings *f)
{
    char planes[96], name[LOCATE_NAME];
    const struct manifest *m = w->l->manifest;
    const int64_t n = w->l->shape->n;
    for (int a = 2; a >= 0; a--)
        for (int64_t d = 0; d < m->dumps_n; d++) {
            const uint64_t *other = m->dump[d].digest;
            bool stale = other && d != w->l->dump && w->bad[a].count > 0;
            for (int64_t x = 0; stale && x < n; x++)
                stale = *diff_word(w, a, x) == 0 || w->l->digest[a * n + x] == other[a * n + x];
            if (!stale) continue;
            ranges(w, a, planes, sizeof planes);
            finding_add(f, "stale", w->l->dump, "%s: planes %c = %s hold the data of %s", w->name,
                        axis_letter[a], planes, locate_name(m, d, name));
            return 1;
        }
    return 0;
}

/* What undoing a swap of two values does. */
static int swap_fix(const struct search *w, const struct place *a, const struct place *b,
                    struct cell_change fix[2])
{
    uint64_t x, y;
    TRY(read_bits(w, a, &x));
    TRY(read_bits(w, b, &y));
    fix[0] = (struct cell_change){*a, hash_at(w, y, a) - hash_at(w, x, a)};
    fix[1] = (struct cell_change){*b, hash_at(w, x, b) - hash_at(w, y, b)};
    return 0;
}

static void place_text(const struct place *at, char *buf, size_t size)
{
    snprintf(buf, size, "(i,j,k) = (%" PRId64 ",%" PRId64 ",%" PRId64 ")", at->i, at->j, at->k);
}

/* The c-th of the cells where bad planes of i, j and k meet (8 at most are asked for). */
static struct place candidate(const struct search *w, int64_t c)
{
    const int64_t ni = w->bad[0].count, nj = w->bad[1].count;
    return (struct place){w->bad[0].index[c % ni], w->bad[1].index[c / ni % nj],
                          w->bad[2].index[c / ni / nj], -1};
}

/* Tries two cells, whole first, then component by component. Returns 1 when a swap explains all. */
static int try_swap(struct search *w, struct findings *f, struct place a, struct place b)
{
    struct cell_change fix[2 * BT_NCOMP];
    char ta[96], tb[96];
    struct finding *item;
    for (int m = 0; m < BT_NCOMP; m++) {
        a.m = b.m = m;
        TRY(swap_fix(w, &a, &b, fix + 2 * m));
    }
    const bool whole = explains(w, fix, 2 * BT_NCOMP);
    bool found = whole;
    for (int p = 0; !found && p < BT_NCOMP * BT_NCOMP; p++) {
        a.m = p / BT_NCOMP;
        b.m = p % BT_NCOMP;
        TRY(swap_fix(w, &a, &b, fix));
        found = explains(w, fix, 2);
    }
    if (!found) return 0;
    if (whole) a.m = b.m = -1;
    place_text(&a, ta, sizeof ta);
    place_text(&b, tb, sizeof tb);
    if (whole)
        item = finding_add(f, "digest", w->l->dump, "%s: the cells %s and %s are swapped", w->name,
                           ta, tb);
    else
        item = finding_add(f, "digest", w->l->dump, "%s: U_%d at %s and U_%d at %s are swapped",
                           w->name, a.m, ta, b.m, tb);
    finding_place(item, &a);
    finding_place(item, &b);
    return 1;
}

/* Two swapped cells or values touch one or two planes of each direction. */
static int explain_swap(struct search *w, struct findings *f)
{
    int64_t cells = 1;
    for (int a = 0; a < 3; a++) {
        if (w->bad[a].count > 2) return 0;
        cells *= w->bad[a].count;
    }
    for (int64_t x = 0; x < cells; x++)
        for (int64_t y = cells == 1 ? x : x + 1; y < cells; y++) {
            const int rc = try_swap(w, f, candidate(w, x), candidate(w, y));
            if (rc != 0) return rc;
        }
    return 0;
}

/* The only plane of a direction that is off by delta, or the only one that is off at all; -1 when
 * that does not single one out. */
static int64_t match(const struct search *w, int axis, uint64_t delta)
{
    const struct wrong_planes *bad = &w->bad[axis];
    int64_t found = -1;
    if (bad->count == 1) return bad->index[0];
    for (int64_t b = 0; b < bad->count; b++) {
        if (*diff_word(w, axis, bad->index[b]) != delta) continue;
        if (found >= 0) return -1;
        found = bad->index[b];
    }
    return found;
}

/* Pairs planes to cells. Returns their number, 0 when the planes do not determine them. */
static int64_t pair(const struct search *w, struct cell_change cell[BAD_MAX])
{
    /* The direction with the most bad planes: one per wrong cell when the cells lie apart. */
    int axis = 0;
    for (int a = 1; a < 3; a++)
        if (w->bad[a].count > w->bad[axis].count) axis = a;
    const int64_t count = w->bad[axis].count;
    if (count > BAD_MAX) return 0;
    for (int64_t c = 0; c < count; c++) {
        const uint64_t delta = *diff_word(w, axis, w->bad[axis].index[c]);
        int64_t at[3];
        for (int a = 0; a < 3; a++)
            at[a] = a == axis ? w->bad[a].index[c] : match(w, a, delta);
        if (at[0] < 0 || at[1] < 0 || at[2] < 0) return 0;
        cell[c] = (struct cell_change){{at[0], at[1], at[2], (int)match(w, 3, delta)}, delta};
    }
    return count;
}

/* Looks for the one bit whose flip explains a cell's difference. Returns 1 and sets at->m. */
static int find_flip(const struct search *w, struct place *at, uint64_t delta, uint64_t *is,
                     uint64_t *was)
{
    struct place p = *at;
    for (p.m = 0; p.m < BT_NCOMP; p.m++) {
        TRY(read_bits(w, &p, is));
        for (int bit = 0; bit < 64; bit++) {
            *was = *is ^ UINT64_C(1) << bit;
            if (hash_at(w, *is, &p) - hash_at(w, *was, &p) != delta) continue;
            *at = p;
            return 1;
        }
    }
    return 0;
}

static int report_cell(struct search *w, struct findings *f, struct cell_change *cell)
{
    char at[96];
    uint64_t is = 0, was = 0;
    place_text(&cell->at, at, sizeof at);
    const int flip = find_flip(w, &cell->at, cell->delta, &is, &was);
    if (flip < 0) return flip;
    struct finding *item;
    if (flip > 0) {
        item = finding_add(f, "digest", w->l->dump,
                           "%s: U_%d at %s is %.17g and was written as %.17g: bit %d is flipped",
                           w->name, cell->at.m, at, shape_double(is), shape_double(was),
                           __builtin_ctzll(is ^ was));
    } else if (cell->at.m < 0) {
        item = finding_add(f, "digest", w->l->dump, "%s: the values of the cell %s are wrong",
                           w->name, at);
    } else {
        TRY(read_bits(w, &cell->at, &is));
        item = finding_add(f, "digest", w->l->dump,
                           "%s: U_%d at %s is %.17g, which is not what was written", w->name,
                           cell->at.m, at, shape_double(is));
    }
    finding_place(item, &cell->at);
    return 0;
}

static int explain_cells(struct search *w, struct findings *f)
{
    struct cell_change cell[BAD_MAX];
    const int64_t count = pair(w, cell);
    for (int64_t c = 0; c < count; c++)
        TRY(report_cell(w, f, &cell[c]));
    return count > 0;
}

/* Where nothing better is found: the planes between which the wrong values lie. */
static int explain_box(struct search *w, struct findings *f)
{
    char planes[AXES][96], zeros[96] = "";
    const int64_t n = w->l->shape->n;
    for (int a = 0; a < AXES; a++)
        ranges(w, a, planes[a], sizeof planes[a]);
    if (w->l->zeros_n > 0)
        snprintf(zeros, sizeof zeros, "; %" PRId64 " values are zero bytes, as in a hole",
                 w->l->zeros_n);
    if (w->bad[0].count == n && w->bad[1].count == n && w->bad[2].count == n)
        finding_add(f, "digest", w->l->dump,
                    "%s: no plane agrees with the manifest: data of another run or another time%s",
                    w->name, zeros);
    else
        finding_add(f, "digest", w->l->dump,
                    "%s: wrong values within the planes i = %s; j = %s; k = %s; m = %s%s", w->name,
                    planes[0], planes[1], planes[2], planes[3], zeros);
    return 1;
}

/* From the most to the least telling explanation; each returns 1 when it holds. */
static int (*const explanations[])(struct search *, struct findings *) = {
    explain_stale, explain_stale_planes, explain_swap, explain_cells, explain_box,
};

int locate_explain(const struct locate *l, struct findings *f)
{
    const int64_t words = digest_words(l->shape->n);
    struct search w = {.l = l};
    int rc = 0;
    locate_name(l->manifest, l->dump, w.name);
    w.diff = mem_new(words * 8, 1, "a digest");
    if (!w.diff) return ERR_NOMEM;
    for (int64_t x = 0; x < words; x++)
        w.diff[x] = l->digest[x] - written(l)[x];
    for (int a = 0; a < AXES; a++)
        for (int64_t x = 0; x < axis_length(&w, a); x++)
            /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Branch): the axes together have digest_words() planes */
            if (*diff_word(&w, a, x) && w.bad[a].count++ < BAD_MAX)
                w.bad[a].index[w.bad[a].count - 1] = x;
    for (size_t e = 0; rc == 0 && e < sizeof explanations / sizeof *explanations; e++)
        rc = explanations[e](&w, f);
    free(w.diff);
    return rc < 0 ? rc : 0;
}
