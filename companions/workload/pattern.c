/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/workload/pattern.h"

#include "base/err.h"
#include "base/num.h"
#include "companions/workload/random.h"

static const struct {
    const char *name, *title;
} patterns[WORKLOAD_PATTERNS] = {
    [WORKLOAD_SIMPLE] = {"simple-strided", "Simple Strided"},
    [WORKLOAD_NESTED] = {"nested-strided", "Nested Strided"},
    [WORKLOAD_RANDOM] = {"random-strided", "Random Strided"},
    [WORKLOAD_SEQUENTIAL] = {"sequential", "Sequential"},
    [WORKLOAD_SEGMENTED] = {"segmented", "Segmented"},
    [WORKLOAD_TILED] = {"tiled", "Tiled"},
    [WORKLOAD_FLASH] = {"flash", "FLASH I/O"},
    [WORKLOAD_MESH] = {"mesh", "Unstructured Mesh"},
};

const char *workload_pattern_name(enum workload_pattern p)
{
    return patterns[p].name;
}

const char *workload_pattern_title(enum workload_pattern p)
{
    return patterns[p].title;
}

/* --- nested: the grid ----------------------------------------------------------------------- */

/* P = *px * *py, as near to a square as divisors allow, *px >= *py. */
static void grid(int procs, int *px, int *py)
{
    *py = 1;
    for (int d = 2; d * d <= procs; d++)
        if (procs % d == 0) *py = d;
    *px = procs / *py;
}

/* --- random --------------------------------------------------------------------------------- */

/* Size of the turn of a rank in a round. */
static int64_t turn_bytes(const struct workload_shape *s, int rank, int64_t round)
{
    const int64_t r = s->record_bytes;
    if (round == s->n - 1 && s->n % 2 == 1) return r;
    const uint64_t pair = random_mix(s->seed, (uint64_t)(round / 2));
    struct random numbers = random_begin(pair, (uint64_t)rank);
    const int64_t first = 1 + random_below(&numbers, 2 * r - 1);
    return round % 2 == 0 ? first : 2 * r - first;
}

static struct workload_extent random_turn(const struct workload_shape *s, int rank, int64_t round)
{
    int64_t at = round / 2 * 2 * s->procs * s->record_bytes;
    if (round % 2 == 1)
        for (int r = 0; r < s->procs; r++)
            at += turn_bytes(s, r, round - 1);
    for (int r = 0; r < rank; r++)
        at += turn_bytes(s, r, round);
    return (struct workload_extent){at, turn_bytes(s, rank, round)};
}

/* --- a record ------------------------------------------------------------------------------ */

/* Bytes of an access, of patterns whose accesses are all of one size. */
static int64_t record_bytes(const struct workload_shape *s)
{
    switch (s->pattern) {
    case WORKLOAD_TILED:
        return num_product(s->columns, s->element_bytes);
    case WORKLOAD_MESH:
        return num_product(s->values, sizeof(double));
    default:
        return s->record_bytes;
    }
}

/* --- tiled ---------------------------------------------------------------------------------- */

/* Elements in a direction with so many tiles of a size. */
static int64_t tiled_extent(int64_t tiles, int64_t size, int64_t overlap)
{
    return num_sum(num_product(tiles, size - overlap), overlap);
}

static struct workload_extent tile_row(const struct workload_shape *s, int rank, int64_t i)
{
    int gx, gy;
    grid(s->procs, &gx, &gy);
    const int64_t width = tiled_extent(gx, s->columns, s->overlap_columns);
    const int64_t height = tiled_extent(gy, s->rows, s->overlap_rows);
    const int64_t frame = i / s->rows;
    const int64_t row = rank / gx * (s->rows - s->overlap_rows) + i % s->rows;
    const int64_t column = rank % gx * (s->columns - s->overlap_columns);
    return (struct workload_extent){((frame * height + row) * width + column) * s->element_bytes,
                                    record_bytes(s)};
}

static int64_t frame_bytes(const struct workload_shape *s)
{
    int gx, gy;
    grid(s->procs, &gx, &gy);
    const int64_t width = tiled_extent(gx, s->columns, s->overlap_columns);
    const int64_t height = tiled_extent(gy, s->rows, s->overlap_rows);
    return num_product(num_product(width, height), s->element_bytes);
}

/* --- FLASH ---------------------------------------------------------------------------------- */

static int64_t rank_blocks(const struct workload_shape *s, int rank)
{
    return num_sum(s->blocks, rank % s->vary);
}

static int64_t blocks_before(const struct workload_shape *s, int rank)
{
    const int64_t rounds = rank / s->vary, rest = rank % s->vary;
    /* What the ranks have beyond `blocks`: less than rank^2. */
    const int64_t more = rounds * (s->vary * (s->vary - 1) / 2) + rest * (rest - 1) / 2;
    return num_sum(num_product(rank, s->blocks), more);
}

static int64_t cube(int64_t x)
{
    return num_product(x, num_product(x, x));
}

/* Bytes of one variable in one block, in the checkpoint or the plotfile. */
static int64_t block_bytes(const struct workload_shape *s, bool plot)
{
    return num_product(cube(s->cells), plot ? sizeof(float) : sizeof(double));
}

/* Of all variables, in the checkpoint and the plotfile. */
static int64_t all_block_bytes(const struct workload_shape *s)
{
    return num_sum(num_product(s->variables, block_bytes(s, false)),
                   num_product(s->plot, block_bytes(s, true)));
}

static int64_t dump_bytes(const struct workload_shape *s)
{
    return num_product(blocks_before(s, s->procs), all_block_bytes(s));
}

static struct workload_extent flash_variable(const struct workload_shape *s, int rank, int64_t i)
{
    const int64_t all = blocks_before(s, s->procs), per_dump = s->variables + s->plot;
    const int64_t v = i % per_dump;
    const bool plot = v >= s->variables;
    int64_t at =
        i / per_dump * dump_bytes(s) + (plot ? s->variables : v) * all * block_bytes(s, false);
    if (plot) at += (v - s->variables) * all * block_bytes(s, true);
    return (struct workload_extent){at + blocks_before(s, rank) * block_bytes(s, plot),
                                    rank_blocks(s, rank) * block_bytes(s, plot)};
}

/* --- mesh ----------------------------------------------------------------------------------- */

/* A permutation of 0 .. count - 1: four rounds of a Feistel network on the next even power of two,
 * walked along until it is in range again. */
static int64_t permuted(uint64_t seed, int64_t x, int64_t count)
{
    int half = 1;
    while (INT64_C(1) << 2 * half < count)
        half++;
    const uint64_t mask = (UINT64_C(1) << half) - 1;
    uint64_t v = (uint64_t)x;
    do {
        uint64_t left = v >> half, right = v & mask;
        for (uint64_t round = 0; round < 4; round++) {
            const uint64_t mixed = left ^ (random_mix(seed + round, right) & mask);
            left = right;
            right = mixed;
        }
        v = left << half | right;
    } while (v >= (uint64_t)count);
    return (int64_t)v;
}

static struct workload_extent vertex(const struct workload_shape *s, int rank, int64_t i)
{
    const int64_t place = permuted(s->seed, rank * s->n + i, s->n * s->procs);
    return (struct workload_extent){place * record_bytes(s), record_bytes(s)};
}

/* --- all patterns --------------------------------------------------------------------------- */

int64_t workload_shape_accesses(const struct workload_shape *s)
{
    switch (s->pattern) {
    case WORKLOAD_NESTED:
        return num_product(s->n, s->inner);
    case WORKLOAD_TILED:
        return num_product(s->n, s->rows);
    case WORKLOAD_FLASH:
        return num_product(s->n, num_sum(s->variables, s->plot));
    default:
        return s->n;
    }
}

/* Where an access of the pattern itself lies, not packed. */
static struct workload_extent natural_extent(const struct workload_shape *s, int rank, int64_t i)
{
    const int64_t r = s->record_bytes;
    int px, py;
    switch (s->pattern) {
    case WORKLOAD_SIMPLE:
        return (struct workload_extent){(i * s->procs + rank) * r, r};
    case WORKLOAD_NESTED:
        grid(s->procs, &px, &py);
        return (struct workload_extent){
            ((i / s->inner * py + rank / px) * s->inner + i % s->inner) * px * r + rank % px * r,
            r};
    case WORKLOAD_RANDOM:
        return random_turn(s, rank, i);
    case WORKLOAD_SEQUENTIAL:
        return (struct workload_extent){i * r, r};
    case WORKLOAD_SEGMENTED:
        return (struct workload_extent){(rank * s->n + i) * r, r};
    case WORKLOAD_TILED:
        return tile_row(s, rank, i);
    case WORKLOAD_FLASH:
        return flash_variable(s, rank, i);
    case WORKLOAD_MESH:
    case WORKLOAD_PATTERNS:
        break;
    }
    ERR_ASSERT(s->pattern == WORKLOAD_MESH);
    return vertex(s, rank, i);
}

int64_t workload_shape_first_bytes(const struct workload_shape *s, int rank, int64_t i)
{
    int64_t v, sum;
    switch (s->pattern) {
    case WORKLOAD_RANDOM:
        sum = num_product(i / 2 * 2, s->record_bytes);
        return i % 2 == 1 ? num_sum(sum, turn_bytes(s, rank, i - 1)) : sum;
    case WORKLOAD_FLASH:
        v = i % (s->variables + s->plot);
        sum = num_product(i / (s->variables + s->plot), all_block_bytes(s));
        sum = num_sum(sum, num_product(num_min(v, s->variables), block_bytes(s, false)));
        sum = num_sum(sum, num_product(num_max(v - s->variables, 0), block_bytes(s, true)));
        return num_product(rank_blocks(s, rank), sum);
    default:
        return num_product(i, record_bytes(s));
    }
}

int64_t workload_shape_rank_bytes(const struct workload_shape *s, int rank)
{
    /* Rounds of random turns: two by two, the last one alone. */
    if (s->pattern == WORKLOAD_RANDOM) return num_product(s->n, s->record_bytes);
    return workload_shape_first_bytes(s, rank, workload_shape_accesses(s));
}

static int64_t ranks_before(const struct workload_shape *s, int rank)
{
    int64_t sum = 0;
    for (int r = 0; r < rank; r++)
        sum = num_sum(sum, workload_shape_rank_bytes(s, r));
    return sum;
}

int64_t workload_shape_bytes(const struct workload_shape *s)
{
    return ranks_before(s, s->procs);
}

struct workload_extent workload_shape_extent(const struct workload_shape *s, int rank, int64_t i)
{
    struct workload_extent e = natural_extent(s, rank, i);
    if (s->packed) e.offset = ranks_before(s, rank) + workload_shape_first_bytes(s, rank, i);
    return e;
}

int64_t workload_shape_length(const struct workload_shape *s)
{
    if (s->packed) return workload_shape_bytes(s);
    switch (s->pattern) {
    case WORKLOAD_SEQUENTIAL:
        return num_product(s->n, s->record_bytes);
    case WORKLOAD_TILED:
        return num_product(s->n, frame_bytes(s));
    default:
        return workload_shape_bytes(s);
    }
}

bool workload_shape_gapless(const struct workload_shape *s)
{
    return s->packed || s->procs == 1 || s->pattern == WORKLOAD_SEQUENTIAL ||
           s->pattern == WORKLOAD_SEGMENTED;
}

bool workload_shape_overlaps(const struct workload_shape *s)
{
    return !s->packed && s->procs > 1 &&
           (s->pattern == WORKLOAD_SEQUENTIAL ||
            (s->pattern == WORKLOAD_TILED && (s->overlap_rows > 0 || s->overlap_columns > 0)));
}

void workload_shape_period(const struct workload_shape *s, int rank, int64_t *accesses,
                           int64_t *bytes)
{
    int px, py;
    *accesses = 1;
    *bytes = s->record_bytes;
    if (s->pattern == WORKLOAD_FLASH) {
        *accesses = s->variables + s->plot;
        *bytes = s->packed ? workload_shape_first_bytes(s, rank, *accesses) : dump_bytes(s);
    } else if (s->pattern == WORKLOAD_RANDOM || (s->pattern == WORKLOAD_MESH && !s->packed)) {
        *accesses = workload_shape_accesses(s);
        *bytes = workload_shape_length(s);
    } else if (s->packed) {
        *bytes = workload_shape_first_bytes(s, rank, 1);
    } else if (s->pattern == WORKLOAD_SIMPLE) {
        *bytes = s->procs * s->record_bytes;
    } else if (s->pattern == WORKLOAD_NESTED) {
        grid(s->procs, &px, &py);
        *accesses = s->inner;
        *bytes = s->inner * s->procs * s->record_bytes;
    } else if (s->pattern == WORKLOAD_TILED) {
        *accesses = s->rows;
        *bytes = frame_bytes(s);
    }
}

/* --- memory --------------------------------------------------------------------------------- */

static bool has_guards(const struct workload_shape *s, const struct workload_memory *m)
{
    return s->pattern == WORKLOAD_FLASH && m->strided;
}

int64_t workload_shape_longest(const struct workload_shape *s, int rank)
{
    switch (s->pattern) {
    case WORKLOAD_RANDOM:
        return num_product(2, s->record_bytes);
    case WORKLOAD_FLASH:
        return num_product(rank_blocks(s, rank), block_bytes(s, false));
    default:
        return record_bytes(s);
    }
}

int64_t workload_memory_group(const struct workload_shape *s, const struct workload_memory *m)
{
    return has_guards(s, m) ? s->variables + s->plot : 1;
}

/* The blocks of a rank with guard cells and all variables. */
static int64_t guarded_bytes(const struct workload_shape *s, int rank)
{
    const int64_t cells = cube(num_sum(s->cells, num_product(2, s->guard)));
    const int64_t values = num_product(cells, num_product(s->variables, sizeof(double)));
    return num_product(rank_blocks(s, rank), values);
}

int64_t workload_memory_slot_bytes(const struct workload_shape *s, const struct workload_memory *m,
                                   int rank)
{
    if (has_guards(s, m))
        return num_sum(
            guarded_bytes(s, rank),
            num_product(rank_blocks(s, rank), num_product(s->plot, block_bytes(s, true))));
    return m->strided ? num_product(2, num_sum(workload_shape_longest(s, rank), m->block_bytes))
                      : workload_shape_longest(s, rank);
}

int64_t workload_memory_pieces(const struct workload_shape *s, const struct workload_memory *m,
                               int rank, int64_t i)
{
    if (has_guards(s, m))
        return i % (s->variables + s->plot) < s->variables
                   ? num_product(rank_blocks(s, rank), cube(s->cells))
                   : 1;
    if (!m->strided) return 1;
    return num_quotient_up(natural_extent(s, rank, i).bytes, m->block_bytes);
}

struct workload_extent workload_memory_piece(const struct workload_shape *s,
                                             const struct workload_memory *m, int rank, int64_t i,
                                             int64_t k)
{
    if (has_guards(s, m)) {
        const int64_t v = i % (s->variables + s->plot), c = s->cells, g = s->guard, w = c + 2 * g;
        if (v >= s->variables) {
            const int64_t bytes = rank_blocks(s, rank) * block_bytes(s, true);
            return (struct workload_extent){guarded_bytes(s, rank) + (v - s->variables) * bytes,
                                            bytes};
        }
        const int64_t block = k / cube(c), z = k / (c * c) % c, y = k / c % c, x = k % c;
        const int64_t cell = ((block * w + z + g) * w + y + g) * w + x + g;
        return (struct workload_extent){(cell * s->variables + v) * (int64_t)sizeof(double),
                                        sizeof(double)};
    }
    const int64_t bytes = natural_extent(s, rank, i).bytes;
    if (!m->strided) return (struct workload_extent){0, bytes};
    const int64_t left = bytes - k * m->block_bytes;
    return (struct workload_extent){2 * k * m->block_bytes,
                                    left < m->block_bytes ? left : m->block_bytes};
}
