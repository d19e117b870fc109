/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Staging and hashing in one pass: eight cells at a time are loaded once, hashed (base/digest.h) and put into
 * file order in registers, five vectors of one component each becoming five of cells one behind the other. A
 * large buffer is written by whole lines past the caches, from a block in which the rows are put together;
 * a row's own length is no multiple of a line. */
#include "base/digest.h"
#include "io/view.h"

#if defined(__x86_64__) && defined(__GNUC__) && defined(__gnu_linux__)
#include <immintrin.h>
#include <string.h>

#include "base/num.h"
#include "io/stream.h"

#define WIDE __attribute__((target("avx512f,avx512dq,avx512vl")))

enum {
    LANES = 8,
    LINE = 64,
    CELL = IO_NCOMP * IO_WORD_BYTES,
    CHUNK = 4 * LANES,  /* cells at most that are put into the block at a time */
    BLOCK = 2 << 10,    /* of the core's own first cache */
    ROWS_AHEAD = 4,     /* fetched before they are taken */
    OUT_AHEAD = 2 << 10 /* bytes of the buffer that are fetched before they are written */
};

/* Eight cells of a row at a time. */
struct batch {
    __m512i hash[IO_NCOMP];  /* of all rows, summed up by component */
    __m512i row;             /* of all components, summed up over a row */
    __m512i place[IO_NCOMP]; /* (place + 1) DIGEST_STEP of the next values */
};

WIDE static inline __m512i hash8(__m512i bits, __m512i place)
{
    __m512i x = _mm512_add_epi64(bits, place);
    x = _mm512_xor_si512(x, _mm512_srli_epi64(x, DIGEST_SHIFT_1));
    x = _mm512_mullo_epi64(x, _mm512_set1_epi64((int64_t)DIGEST_FACTOR_1));
    x = _mm512_xor_si512(x, _mm512_srli_epi64(x, DIGEST_SHIFT_2));
    x = _mm512_mullo_epi64(x, _mm512_set1_epi64((int64_t)DIGEST_FACTOR_2));
    return _mm512_xor_si512(x, _mm512_srli_epi64(x, DIGEST_SHIFT_3));
}

/* Lane q of vector o of file order is value 8 o + q of eight cells: component (8 o + q) % 5 of cell (8 o + q) / 5. */
#define CELLS(o)                                                                                   \
    _mm512_set_epi64((8 * (o) + 7) / 5, (8 * (o) + 6) / 5, (8 * (o) + 5) / 5, (8 * (o) + 4) / 5,   \
                     (8 * (o) + 3) / 5, (8 * (o) + 2) / 5, (8 * (o) + 1) / 5, (8 * (o)) / 5)
#define IS(o, m, q) (unsigned)((8 * (o) + (q)) % 5 == (m)) << (q)
#define LANES_OF(o, m)                                                                             \
    (__mmask8)(IS(o, m, 0) | IS(o, m, 1) | IS(o, m, 2) | IS(o, m, 3) | IS(o, m, 4) | IS(o, m, 5) | \
               IS(o, m, 6) | IS(o, m, 7))

/* The same, components 0 and 1 from two tables of eight. */
#define BOTH(o) _mm512_add_epi64(CELLS(o), _mm512_maskz_set1_epi64(LANES_OF(o, 1), LANES))

#define FILE_ORDER(o)                                                                              \
    _mm512_mask_permutexvar_epi64(                                                                 \
        _mm512_mask_permutexvar_epi64(                                                             \
            _mm512_mask_permutexvar_epi64(_mm512_permutex2var_epi64(v[0], BOTH(o), v[1]),          \
                                          LANES_OF(o, 2), CELLS(o), v[2]),                         \
            LANES_OF(o, 3), CELLS(o), v[3]),                                                       \
        LANES_OF(o, 4), CELLS(o), v[4])

/* Cells of a row, the mask's of up to eight. plane: words of their i planes. ahead: bytes from out to fetch. */
WIDE static inline void take8(struct batch *b, const double *row, int64_t sm, int64_t next,
                              __mmask8 mask, uint64_t *plane, char *out, int64_t ahead, bool whole)
{
    __m512i v[IO_NCOMP], sum = _mm512_setzero_si512();
    const __m512i step = _mm512_set1_epi64((int64_t)(DIGEST_STEP * LANES * IO_NCOMP));
    for (int m = 0; m < IO_NCOMP; m++) {
        _mm_prefetch((const char *)(row + m * sm + next), _MM_HINT_T0);
        __builtin_prefetch(out + ahead + LINE * m, 1);
        v[m] =
            whole ? _mm512_loadu_si512(row + m * sm) : _mm512_maskz_loadu_epi64(mask, row + m * sm);
        __m512i h = hash8(v[m], b->place[m]);
        if (!whole) h = _mm512_maskz_mov_epi64(mask, h);
        b->place[m] = _mm512_add_epi64(b->place[m], step);
        b->hash[m] = _mm512_add_epi64(b->hash[m], h);
        sum = _mm512_add_epi64(sum, h);
    }
    b->row = _mm512_add_epi64(b->row, sum);
    const __m512i in_order[IO_NCOMP] = {FILE_ORDER(0), FILE_ORDER(1), FILE_ORDER(2), FILE_ORDER(3),
                                        FILE_ORDER(4)};
    if (whole) {
        _mm512_storeu_si512(plane, _mm512_add_epi64(_mm512_loadu_si512(plane), sum));
        for (int o = 0; o < IO_NCOMP; o++)
            _mm512_storeu_si512(out + LINE * o, in_order[o]);
        return;
    }
    _mm512_mask_storeu_epi64(plane, mask,
                             _mm512_add_epi64(_mm512_maskz_loadu_epi64(mask, plane), sum));
    const int values = IO_NCOMP * __builtin_popcount(mask);
    for (int o = 0; o < IO_NCOMP && LANES * o < values; o++) {
        const int lanes = values - LANES * o < LANES ? values - LANES * o : LANES;
        _mm512_mask_storeu_epi64(out + LINE * o, (__mmask8)((1U << lanes) - 1), in_order[o]);
    }
}

/* Cells [i0, i1) of the box, all in one row, to out. */
struct span {
    const double *row;        /* its first cell */
    int64_t sm, next, i0, i1; /* next: to a row that will be taken soon, for prefetching */
    uint64_t place;           /* of the first value of cell i0 */
    uint64_t *plane;          /* of cell i0 */
    int64_t ahead;            /* of the buffer; 0: it is in the cache */
};

/* Not _mm512_reduce_add_epi64, which adds signed numbers, whose overflow is undefined. */
WIDE static inline uint64_t sum_of(__m512i v)
{
    uint64_t lane[LANES], sum = 0;
    _mm512_storeu_si512(lane, v);
    for (int l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

WIDE static void take_span(struct batch *b, const struct span *s, char *out)
{
    const __m512i cells = _mm512_set_epi64(35, 30, 25, 20, 15, 10, 5, 0);
    const int64_t n = s->i1 - s->i0, whole = n / LANES * LANES;
    const double *at = s->row + s->i0;
    b->place[0] =
        _mm512_mullo_epi64(_mm512_add_epi64(cells, _mm512_set1_epi64((int64_t)(s->place + 1))),
                           _mm512_set1_epi64((int64_t)DIGEST_STEP));
    for (int m = 1; m < IO_NCOMP; m++)
        b->place[m] = _mm512_add_epi64(b->place[m - 1], _mm512_set1_epi64((int64_t)DIGEST_STEP));
    for (int64_t i = 0; i < whole; i += LANES)
        take8(b, at + i, s->sm, s->next, 0xff, s->plane + i, out + i * CELL, s->ahead, true);
    if (whole < n)
        take8(b, at + whole, s->sm, s->next, (__mmask8)((1U << (n - whole)) - 1), s->plane + whole,
              out + whole * CELL, s->ahead, false);
}

/* Bytes that go past the caches: [0, fill) of the block, which has the alignment of what they go to. */
struct outlet {
    char *to;
    int64_t skew, fill; /* to % LINE at the beginning; bytes in the block, skew included */
    char block[BLOCK + 2 * LINE] __attribute__((aligned(LINE)));
};

/* Whole lines, and with all what is left as well. */
WIDE static void let_out(struct outlet *o, bool all)
{
    int64_t from = o->skew, end = all ? o->fill : o->fill / LINE * LINE;
    char *to = o->to - o->skew;
    for (; from < end && from % LINE != 0; from += IO_WORD_BYTES)
        memcpy(to + from, o->block + from, IO_WORD_BYTES);
    for (; from + LINE <= end; from += LINE)
        _mm512_stream_si512((__m512i *)(void *)(to + from),
                            _mm512_load_si512((const __m512i *)(const void *)(o->block + from)));
    for (; from < end; from += IO_WORD_BYTES)
        memcpy(to + from, o->block + from, IO_WORD_BYTES);
    if (from == o->skew) return;
    o->to = to + from;
    memmove(o->block, o->block + from, (size_t)(o->fill - from));
    o->fill -= from;
    o->skew = 0;
}

/* The rows of a plane, which follow each other in the buffer, and their sums into the digest. */
WIDE static void take_rows(const struct io_view *v, const struct io_field *from,
                           struct io_rows rows, char *out, bool stream, uint64_t *digest)
{
    const int64_t n = v->n, ni = v->box.n[0], k = v->box.lo[2] + rows.k;
    struct outlet past;
    uint64_t all = 0;
    struct batch b;
    for (int m = 0; m < IO_NCOMP; m++)
        b.hash[m] = _mm512_setzero_si512();
    past.to = out;
    past.skew = past.fill = (int64_t)((uintptr_t)out % LINE);
    for (int64_t j = rows.j0; j < rows.j1; j++) {
        const int64_t at = v->box.lo[1] + j;
        b.row = _mm512_setzero_si512();
        struct span s = {.row = from->u + rows.k * from->sk + j * from->sj,
                         .sm = from->sm,
                         .next = ROWS_AHEAD * from->sj,
                         .ahead = stream ? 0 : OUT_AHEAD};
        for (int64_t i = 0; i < ni; i = s.i1) {
            s.i0 = i;
            s.i1 = stream ? num_min(ni, i + CHUNK) : ni;
            s.place = (uint64_t)(((k * n + at) * n + v->box.lo[0] + i) * IO_NCOMP);
            s.plane = digest + v->box.lo[0] + i;
            if (stream && past.fill + (s.i1 - i) * CELL > BLOCK) let_out(&past, false);
            take_span(&b, &s,
                      stream ? past.block + past.fill : out + ((j - rows.j0) * ni + i) * CELL);
            past.fill += (s.i1 - i) * CELL;
        }
        const uint64_t row = sum_of(b.row);
        digest[n + at] += row;
        all += row;
    }
    digest[2 * n + k] += all;
    for (int m = 0; m < IO_NCOMP; m++)
        digest[3 * n + m] += sum_of(b.hash[m]);
    if (stream) {
        let_out(&past, true);
        stream_end();
    }
}

bool io_view_take_rows(const struct io_view *v, const struct io_field *from, struct io_rows rows,
                       void *buf, uint64_t *digest)
{
    const int64_t row = v->box.n[0] * CELL;
    char *out = (char *)buf + (rows.k * v->box.n[1] + rows.j0) * row;
    if (v->layout != IO_MIJK || (uintptr_t)buf % IO_WORD_BYTES != 0) return false;
    if (!__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl")) return false;
    take_rows(v, from, rows, out, io_view_bytes(v) >= STREAM_BYTES, digest);
    return true;
}

#else
bool io_view_take_rows(const struct io_view *v, const struct io_field *from, struct io_rows rows,
                       void *buf, uint64_t *digest)
{
    (void)v, (void)from, (void)rows, (void)buf, (void)digest;
    return false;
}
#endif
