/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/beffio/pattern.h"

#include "base/err.h"
#include "base/num.h"

#define KB INT64_C(1024)
#define MB (KB * KB)
#define M  INT64_C(-1) /* stands for M_PART */

static const struct row {
    int64_t chunk, call; /* l, L; call 0: L = l */
    int u, pos;
} table[] = {
    {MB, 0, 0, 0}, /* 0: type 0 */
    {M, 0, 4, 7},
    {MB, 2 * MB, 4, 8},
    {MB, 0, 4, 5},
    {32 * KB, MB, 2, 3},
    {KB, MB, 2, 1},
    {32 * KB + 8, MB + 256, 2, 4},
    {KB + 8, MB + 8 * KB, 2, 2},
    {MB + 8, 0, 2, 6},
    {MB, 0, 0, 0}, /* 9: type 1 */
    {M, 0, 4, 7},
    {MB, 0, 2, 5},
    {32 * KB, 0, 1, 3},
    {KB, 0, 1, 1},
    {32 * KB + 8, 0, 1, 4},
    {KB + 8, 0, 1, 2},
    {MB + 8, 0, 2, 6},
    {MB, 0, 0, 0}, /* 17: type 2, and 25: type 3, 34: type 4 */
    {M, 0, 2, 7},
    {MB, 0, 2, 5},
    {32 * KB, 0, 1, 3},
    {KB, 0, 1, 1},
    {32 * KB + 8, 0, 1, 4},
    {KB + 8, 0, 1, 2},
    {MB + 8, 0, 2, 6},
    {0, 0, 0, 0}, /* 33 and 42: fill-up */
};
enum { ROW_SEPARATE = 17, ROW_FILL = 25, ROWS_SEGMENTED = 9 };

static const struct {
    const char *name;
    int first;
} type_table[BEFFIO_TYPES + 1] = {
    {"scatter", 0},    {"shared", 9},    {"separate", 17},
    {"segmented", 25}, {"seg_coll", 34}, {"", BEFFIO_PATTERNS},
};

static const struct {
    const char *name;
    int64_t bytes;
    int x;
} position_table[BEFFIO_POSITIONS] = {
    {"1k", KB, 1}, {"1k+8", KB + 8, 2}, {"32k", 32 * KB, 4}, {"32k+8", 32 * KB + 8, 5},
    {"1M", MB, 7}, {"1M+8", MB + 8, 8}, {"M", M, 10},
};

int beffio_type_first(enum beffio_type type)
{
    return type_table[type].first;
}

int beffio_type_end(enum beffio_type type)
{
    return type_table[type + 1].first;
}

const char *beffio_type_name(enum beffio_type type)
{
    return type_table[type].name;
}

int64_t beffio_position_bytes(int pos, int64_t m_part_bytes)
{
    const int64_t bytes = position_table[pos - 1].bytes;
    return bytes == M ? m_part_bytes : bytes;
}

const char *beffio_position_name(int pos)
{
    return position_table[pos - 1].name;
}

int beffio_position_x(int pos)
{
    return position_table[pos - 1].x;
}

static enum beffio_type type_of(int no)
{
    int type = 0;
    while (no >= beffio_type_end((enum beffio_type)type))
        type++;
    return (enum beffio_type)type;
}

struct beffio_pattern beffio_pattern(int no, int64_t m_part_bytes)
{
    ERR_ASSERT(no >= 0 && no < BEFFIO_PATTERNS);
    const enum beffio_type type = type_of(no);
    const int row = type <= BEFFIO_SEPARATE ? no : ROW_SEPARATE + no - beffio_type_first(type);
    const struct row *t = &table[row];
    struct beffio_pattern p = {.type = type, .u = t->u, .pos = t->pos};
    p.fill = row == ROW_FILL;
    p.chunk_bytes = t->chunk == M ? m_part_bytes : t->chunk;
    p.call_bytes = t->call ? t->call : p.chunk_bytes;
    return p;
}

int64_t beffio_m_part_bytes(int64_t memory_bytes, bool cap)
{
    const int64_t step = 8 * KB, part = memory_bytes / 128 / step * step;
    if (part < 2 * MB) return 2 * MB;
    return cap && part > KB * MB ? KB * MB : part;
}

struct beffio_pattern beffio_layout_pattern(const struct beffio_layout *l, int no)
{
    const bool less = type_of(no) == BEFFIO_SHARED && l->shared_m_part_bytes > 0;
    return beffio_pattern(no, less ? l->shared_m_part_bytes : l->m_part_bytes);
}

/* Bytes that a process moves in all patterns of the type before no. */
static int64_t bytes_before(const struct beffio_layout *l, enum beffio_type type, int no)
{
    int64_t sum = 0;
    for (int q = beffio_type_first(type); q < no; q++)
        sum = num_sum(sum, num_product(l->calls[q], beffio_layout_pattern(l, q).call_bytes));
    return sum;
}

struct beffio_place beffio_place(const struct beffio_layout *l, int no)
{
    const struct beffio_pattern pat = beffio_layout_pattern(l, no);
    const int64_t before = bytes_before(l, pat.type, no);
    const int64_t chunk = pat.fill ? l->segment_bytes - before : pat.chunk_bytes;
    struct beffio_place p = {.chunk_bytes = chunk,
                             .chunks_per_call = pat.fill ? 1 : pat.call_bytes / chunk,
                             .calls_n = l->calls[no],
                             .base_bytes = before,
                             .step_bytes = chunk};
    if (pat.type <= BEFFIO_SHARED) {
        p.base_bytes = before * l->procs;
        p.rank_step_bytes = chunk;
        p.step_bytes = chunk * l->procs;
    } else if (pat.type >= BEFFIO_SEGMENTED) {
        p.rank_step_bytes = l->segment_bytes;
    }
    return p;
}

int64_t beffio_file_bytes(const struct beffio_layout *l, enum beffio_type type)
{
    if (type >= BEFFIO_SEGMENTED) return num_product(l->procs, l->segment_bytes);
    const int64_t mine = bytes_before(l, type, beffio_type_end(type));
    return type == BEFFIO_SEPARATE ? mine : num_product(mine, l->procs);
}

int64_t beffio_layout_bytes(const struct beffio_layout *l)
{
    int64_t sum = 0;
    for (int t = 0; t < BEFFIO_TYPES; t++)
        sum = num_sum(sum, num_product(beffio_file_bytes(l, (enum beffio_type)t),
                                       t == BEFFIO_SEPARATE ? l->procs : 1));
    return sum;
}

/* Calls of the k-th pattern, 1 to 7, of types 3 and 4. */
static int64_t segment_calls(const struct beffio_layout *l, int k)
{
    const int no0 = k == 1 ? 1 : k + 1;
    const struct beffio_pattern p0 = beffio_layout_pattern(l, no0);
    int64_t r = num_product(l->calls[no0], p0.call_bytes / p0.chunk_bytes);
    const int64_t r1 = num_product(10, l->calls[beffio_type_first(BEFFIO_SHARED) + k]);
    const int64_t r2 = l->calls[beffio_type_first(BEFFIO_SEPARATE) + k];
    if (r1 < r) r = r1;
    return r2 < r ? r2 : r;
}

void beffio_layout_segments(struct beffio_layout *l)
{
    const int first3 = beffio_type_first(BEFFIO_SEGMENTED);
    const int first4 = beffio_type_first(BEFFIO_SEG_COLL), fill = ROWS_SEGMENTED - 1;
    for (int k = 0; k < fill; k++)
        l->calls[first3 + k] = l->calls[first4 + k] = k == 0 ? 1 : segment_calls(l, k);
    const int64_t used = bytes_before(l, BEFFIO_SEGMENTED, first3 + fill);
    l->segment_bytes = num_product(num_quotient_up(used, MB), MB);
    l->calls[first3 + fill] = l->calls[first4 + fill] = used < l->segment_bytes ? 1 : 0;
}
