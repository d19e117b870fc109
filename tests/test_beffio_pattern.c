/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The patterns of b_eff_io against the published table, their places against a bitmap, segments,
 * schedule and space against numbers worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "companions/beffio/pattern.h"
#include "companions/beffio/schedule.h"

static void close_to(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%.9g is not %.9g", value, expected);
}

#define KB INT64_C(1024)
#define MB (KB * KB)
#define GB (KB * MB)

/* [RK01] table 2, row by row: l, L (0: as l), U; -1 is M_PART. */
static const int64_t published[][3] = {
    {1048576, 0, 0},     {-1, 0, 4},         {1048576, 2097152, 4}, {1048576, 0, 4},
    {32768, 1048576, 2}, {1024, 1048576, 2}, {32776, 1048832, 2},   {1032, 1056768, 2},
    {1048584, 0, 2}, /* 0 to 8 */
    {1048576, 0, 0},     {-1, 0, 4},         {1048576, 0, 2},       {32768, 0, 1},
    {1024, 0, 1},        {32776, 0, 1},      {1032, 0, 1},          {1048584, 0, 2}, /* 9 to 16 */
    {1048576, 0, 0},     {-1, 0, 2},         {1048576, 0, 2},       {32768, 0, 1},
    {1024, 0, 1},        {32776, 0, 1},      {1032, 0, 1},          {1048584, 0, 2}, /* 17 to 24 */
};

static void table_is_the_published_one(void **state)
{
    (void)state;
    const int64_t m = 94 * MB;
    for (int no = 0; no < BEFFIO_PATTERNS; no++) {
        const struct beffio_pattern p = beffio_pattern(no, m);
        const bool fill = no == 33 || no == 42;
        assert_int_equal(p.fill, fill);
        if (fill) {
            assert_int_equal(p.u, 0);
            continue;
        }
        const int64_t *row = published[no < 25 ? no : no < 33 ? no - 8 : no - 17];
        const int64_t l = row[0] == -1 ? m : row[0];
        assert_int_equal(p.chunk_bytes, l);
        assert_int_equal(p.call_bytes, row[1] ? row[1] : l);
        assert_int_equal(p.u, row[2]);
    }
}

static void types_begin_where_published(void **state)
{
    (void)state;
    const int first[] = {0, 9, 17, 25, 34, 43}, u[] = {22, 12, 10, 10, 10};
    int all = 0;
    for (int t = 0; t < BEFFIO_TYPES; t++) {
        int sum = 0;
        assert_int_equal(beffio_type_first((enum beffio_type)t), first[t]);
        assert_int_equal(beffio_type_end((enum beffio_type)t), first[t + 1]);
        for (int no = first[t]; no < first[t + 1]; no++) {
            assert_int_equal(beffio_pattern(no, MB).type, t);
            sum += beffio_pattern(no, MB).u;
        }
        assert_int_equal(sum, u[t]);
        all += sum;
    }
    assert_int_equal(all, BEFFIO_U_SUM);
}

/* Each type has each of the seven positions once, and the pattern there has the position's size. */
static void positions_are_complete(void **state)
{
    (void)state;
    const int64_t m = 5 * MB;
    for (int t = 0; t < BEFFIO_TYPES; t++)
        for (int pos = 1; pos <= BEFFIO_POSITIONS; pos++) {
            int found = 0;
            for (int no = beffio_type_first((enum beffio_type)t);
                 no < beffio_type_end((enum beffio_type)t); no++)
                if (beffio_pattern(no, m).pos == pos) {
                    found++;
                    assert_int_equal(beffio_pattern(no, m).chunk_bytes,
                                     beffio_position_bytes(pos, m));
                }
            assert_int_equal(found, 1);
        }
    assert_int_equal(beffio_pattern(2, m).pos, 8);
}

static void m_part_is_a_128th_of_memory(void **state)
{
    (void)state;
    assert_int_equal(beffio_m_part_bytes(GB, false), 8 * MB);
    assert_int_equal(beffio_m_part_bytes(100 * MB, false), 2 * MB);
    assert_int_equal(beffio_m_part_bytes(256 * MB, true), 2 * MB);
    assert_int_equal(beffio_m_part_bytes(257 * MB, true), 8192 * 257);
    assert_int_equal(beffio_m_part_bytes(1024 * GB, true), GB);
    assert_int_equal(beffio_m_part_bytes(1024 * GB, false), 8 * GB);
    assert_int_equal(beffio_m_part_bytes(GB + 5, false) % 8, 0);
}

/* A layout with few, different numbers of calls and a small M_PART. */
static struct beffio_layout small_layout(int procs)
{
    struct beffio_layout l = {.procs = procs, .m_part_bytes = 2 * MB};
    for (int no = 0; no < beffio_type_end(BEFFIO_SEPARATE); no++)
        l.calls[no] = beffio_pattern(no, MB).u == 0 ? 1 : 1 + no * 7 % 3;
    beffio_layout_segments(&l);
    return l;
}

/* Marks the bytes (in words) of all chunks of a type in a map of its file, rank by rank. */
static void mark_type(const struct beffio_layout *l, enum beffio_type type, int rank,
                      unsigned char *map, int64_t words)
{
    for (int no = beffio_type_first(type); no < beffio_type_end(type); no++) {
        const struct beffio_place p = beffio_place(l, no);
        for (int64_t s = 0; s < p.calls_n * p.chunks_per_call; s++) {
            const int64_t at = beffio_chunk_offset(&p, rank, s);
            assert_int_equal(at % BEFFIO_WORD_BYTES, 0);
            for (int64_t w = 0; w < p.chunk_bytes / BEFFIO_WORD_BYTES; w++) {
                assert_in_range(at / BEFFIO_WORD_BYTES + w, 0, words - 1);
                map[at / BEFFIO_WORD_BYTES + w]++;
            }
        }
    }
}

static void every_byte_is_written_once(void **state)
{
    (void)state;
    for (int procs = 1; procs <= 3; procs++) {
        const struct beffio_layout l = small_layout(procs);
        for (int t = 0; t < BEFFIO_TYPES; t++) {
            const int64_t words = beffio_file_bytes(&l, (enum beffio_type)t) / BEFFIO_WORD_BYTES;
            unsigned char *map = calloc((size_t)words, 1);
            for (int r = 0; r < (t == BEFFIO_SEPARATE ? 1 : procs); r++)
                mark_type(&l, (enum beffio_type)t, r, map, words);
            for (int64_t w = 0; w < words; w++)
                if (map[w] != 1) fail_msg("type %d, word %lld: %d times", t, (long long)w, map[w]);
            free(map);
        }
    }
}

/* Chunks of ranks take turns in types 0 and 1: rank 1 begins where chunk 0 of rank 0 ends. */
static void chunks_of_ranks_take_turns(void **state)
{
    (void)state;
    struct beffio_layout l = {.procs = 3, .m_part_bytes = 2 * MB, .calls = {1, 2, 1, 1, 1}};
    const struct beffio_place p = beffio_place(&l, 4);
    assert_int_equal(p.base_bytes, 3 * (MB + 2 * 2 * MB + 2 * MB + MB));
    assert_int_equal(p.chunks_per_call, 32);
    assert_int_equal(beffio_chunk_offset(&p, 1, 0) - p.base_bytes, 32 * KB);
    assert_int_equal(beffio_chunk_offset(&p, 2, 5) - p.base_bytes, (5 * 3 + 2) * 32 * KB);
}

/* r = min(r0 (L0 / l0), 10 r1, r2). */
static void segments_follow_the_first_three_types(void **state)
{
    (void)state;
    struct beffio_layout l = {.procs = 4, .m_part_bytes = 2 * MB};
    for (int no = 0; no < 25; no++)
        l.calls[no] = 1000000;
    l.calls[1] = 3;   /* M: r0 = 3 */
    l.calls[2] = 1;   /* is not looked at */
    l.calls[11] = 4;  /* 1 MB: 10 r1 = 40 */
    l.calls[20] = 50; /* 32 kB: r2 = 50 */
    l.calls[5] = 2;   /* 1 kB: r0 L0/l0 = 2048 */
    l.calls[6] = 2;   /* 32 kB + 8: 64 */
    l.calls[7] = 5;   /* 1 kB + 8: 5120 */
    l.calls[24] = 6;  /* 1 MB + 8: 6 */
    beffio_layout_segments(&l);
    const int64_t r[8] = {1, 3, 40, 50, 2048, 64, 5120, 6};
    int64_t used = 0;
    for (int k = 0; k < 8; k++) {
        assert_int_equal(l.calls[25 + k], r[k]);
        assert_int_equal(l.calls[34 + k], r[k]);
        used += r[k] * beffio_pattern(25 + k, l.m_part_bytes).chunk_bytes;
    }
    assert_int_equal(l.segment_bytes % MB, 0);
    assert_in_range(l.segment_bytes - used, 0, MB - 8);
    assert_int_equal(beffio_place(&l, 33).chunk_bytes, l.segment_bytes - used);
    assert_int_equal(l.calls[33], 1);
    assert_int_equal(beffio_file_bytes(&l, BEFFIO_SEGMENTED), 4 * l.segment_bytes);
}

/* A segment that is full needs no filling up. */
static void a_full_segment_is_not_filled(void **state)
{
    (void)state;
    struct beffio_layout l = {.procs = 2, .m_part_bytes = 2 * MB};
    for (int no = 0; no < 25; no++)
        l.calls[no] = 1;
    l.calls[20] = 32;
    l.calls[21] = 1024;
    l.calls[12] = l.calls[13] = 1000;
    l.calls[4] = l.calls[5] = 100;
    beffio_layout_segments(&l);
    l.calls[30] = l.calls[31] = l.calls[32] = 0; /* what is not wellformed */
    const struct beffio_place p = beffio_place(&l, 33);
    assert_true(p.chunk_bytes > 0);
    assert_int_equal(p.base_bytes + p.chunk_bytes, l.segment_bytes);
}

static void offsets_beyond_32_bits(void **state)
{
    (void)state;
    struct beffio_layout l = {.procs = 1000, .m_part_bytes = 8 * GB};
    for (int no = 0; no < 25; no++)
        l.calls[no] = 5000;
    beffio_layout_segments(&l);
    const struct beffio_place last = beffio_place(&l, 8), seg = beffio_place(&l, 41);
    int64_t before = 0;
    for (int no = 0; no < 8; no++)
        before += 5000 * beffio_pattern(no, l.m_part_bytes).call_bytes;
    assert_int_equal(last.base_bytes, 1000 * before);
    assert_true(l.segment_bytes > 16 * GB);
    assert_int_equal(seg.rank_step_bytes, l.segment_bytes);
    assert_int_equal(beffio_chunk_offset(&seg, 999, 0), 999 * l.segment_bytes + seg.base_bytes);
    assert_int_equal(beffio_file_bytes(&l, BEFFIO_SEG_COLL), 1000 * l.segment_bytes);
}

/* Type 1 alone may have a smaller M_PART, and its file is filled all the same. */
static void a_smaller_m_part_of_type_1(void **state)
{
    (void)state;
    struct beffio_layout l = small_layout(2), less = l;
    less.shared_m_part_bytes = MB;
    for (int no = 0; no < BEFFIO_PATTERNS; no++) {
        const struct beffio_place a = beffio_place(&l, no), b = beffio_place(&less, no);
        const bool changed = no == 10, behind = no > 10 && no < 17;
        assert_int_equal(b.chunk_bytes, changed ? MB : a.chunk_bytes);
        assert_int_equal(a.base_bytes - b.base_bytes, behind ? 2 * l.calls[10] * MB : 0);
    }
    assert_int_equal(beffio_file_bytes(&l, BEFFIO_SHARED) - beffio_file_bytes(&less, BEFFIO_SHARED),
                     2 * l.calls[10] * MB);
}

static void times_of_the_definitions(void **state)
{
    (void)state;
    struct beffio_schedule s = {.definition = BEFFIO_1_X, .t_s = 900, .partitions_n = 3};
    close_to(beffio_pattern_time_s(&s, 0, 4), 900.0 / 3 * 4 / 64, 1e-12);
    s = (struct beffio_schedule){.definition = BEFFIO_2_1, .t_s = 45, .partitions_n = 3};
    close_to(beffio_pattern_time_s(&s, 0, 4), 0.40, 1e-12);
    s = (struct beffio_schedule){
        .definition = BEFFIO_2_1, .t_s = 30, .partitions_n = 1, .all_rewrites = true};
    close_to(beffio_pattern_time_s(&s, 0, 4), 0.625, 1e-12);
    s = (struct beffio_schedule){.definition = BEFFIO_2_1, .t_s = 1801, .partitions_n = 3};
    close_to(beffio_partition_time_s(&s, 0), 600, 0);
    s = (struct beffio_schedule){.definition = BEFFIO_0_5, .t_s = 600}; /* 10 min, then 5 */
    beffio_halves(&s, 7);
    assert_true(s.partitions_n == 2 && s.procs[0] == 7 && s.procs[1] == 3);
    close_to(beffio_partition_time_s(&s, 0), 600, 0);
    close_to(beffio_partition_time_s(&s, 1), 300, 0);
    close_to(beffio_pattern_time_s(&s, 1, 4), 300.0 / 3 * 4 / 64, 1e-12);
    close_to(beffio_run_time_s(&s), 900, 0);
    beffio_halves(&s, 1);
    assert_int_equal(s.partitions_n, 1);
    close_to(beffio_valid_time_s(BEFFIO_0_5), 600, 0);
    close_to(beffio_valid_time_s(BEFFIO_1_X), 900, 0);
    close_to(beffio_valid_time_s(BEFFIO_2_1), 1800, 0);
}

/* Where the default partitions change, as published. */
static void default_partitions(void **state)
{
    (void)state;
    const struct {
        int n, small, medium;
    } at[] = {{5, 2, 4},      {11, 2, 4},      {12, 2, 8},      {19, 2, 8},      {20, 4, 8},
              {31, 4, 8},     {32, 4, 16},     {86, 4, 16},     {87, 4, 32},     {141, 4, 32},
              {142, 8, 32},   {231, 8, 32},    {232, 8, 64},    {624, 8, 64},    {625, 8, 128},
              {1023, 8, 128}, {1024, 16, 128}, {1680, 16, 128}, {1681, 16, 256}, {4523, 16, 512}};
    int p[3];
    assert_int_equal(beffio_default_partitions(1, p), 1);
    assert_int_equal(p[0], 1);
    assert_int_equal(beffio_default_partitions(2, p), 2);
    assert_true(p[0] == 1 && p[1] == 2);
    assert_int_equal(beffio_default_partitions(3, p), 3);
    assert_true(p[0] == 1 && p[1] == 2 && p[2] == 3);
    assert_int_equal(beffio_default_partitions(4, p), 3);
    assert_true(p[0] == 2 && p[1] == 3 && p[2] == 4);
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        assert_int_equal(beffio_default_partitions(at[i].n, p), 3);
        if (p[0] != at[i].small || p[1] != at[i].medium || p[2] != at[i].n)
            fail_msg("n = %d: %d %d %d", at[i].n, p[0], p[1], p[2]);
    }
}

/* A pattern whose calls take one second each: how many are made in limit seconds. */
static int64_t calls_made(double limit_s, bool per_call, int64_t most, int *batches)
{
    int64_t done = 0, next;
    *batches = 0;
    while ((next = beffio_next_batch(done, (double)done, limit_s, most - done, per_call)) > 0) {
        done += next;
        (*batches)++;
    }
    return done;
}

static void batches_end_in_time(void **state)
{
    (void)state;
    int batches;
    const int64_t plenty = INT64_C(1) << 40;
    assert_int_equal(calls_made(0, false, plenty, &batches), 1);
    assert_int_equal(calls_made(0.5, false, plenty, &batches), 1);
    assert_int_equal(calls_made(1.9, false, plenty, &batches), 1);
    assert_int_equal(calls_made(1000, false, plenty, &batches), 1000);
    assert_in_range(batches, 20, 24); /* 1, 1, 2, ... 32, then sixteenths of the time */
    assert_int_equal(calls_made(1000, true, plenty, &batches), 1000);
    assert_int_equal(batches, 1000);
    assert_int_equal(calls_made(1000, false, 77, &batches), 77);
}

/* The cache takes 100 calls a second, the disk ten: a batch that runs into it is over in time. */
static void a_batch_that_slows_down_is_short(void **state)
{
    (void)state;
    double elapsed_s = 0;
    int64_t done = 0, next;
    while ((next = beffio_next_batch(done, elapsed_s, 10, INT64_C(1) << 40, false)) > 0) {
        for (int64_t c = 0; c < next; c++)
            elapsed_s += ++done <= 500 ? 0.01 : 0.1;
    }
    assert_true(elapsed_s > 9 && elapsed_s < 1.6 * 10);
}

static void counted_batches_make_all_calls(void **state)
{
    (void)state;
    int64_t left = 1000, last = 0, batches = 0;
    double last_s = 0;
    for (int64_t next; (next = beffio_next_counted(last, last_s, left)) > 0; batches++) {
        left -= next;
        last = next;
        last_s = 0.01 * (double)next; /* 50 calls in half a second */
        assert_true(next <= 50);
    }
    assert_int_equal(left, 0);
    assert_in_range(batches, 20, 30);
    assert_int_equal(beffio_next_counted(0, 0, 0), 0);
    assert_int_equal(beffio_next_counted(5, 100.0, 7), 1); /* slow calls come one by one */
}

/* Files of a partition whose patterns wish for so many calls and get what the share allows. [out]
 * cut: whether one got less. */
static int64_t written(int procs, int64_t share, const int64_t wish[25], bool evenly, bool *cut)
{
    struct beffio_layout l = {.procs = procs, .m_part_bytes = 2 * MB};
    *cut = false;
    for (int no = 0; no < 25; no++) {
        const int64_t most = beffio_most_calls(&l, share, no, evenly);
        l.calls[no] = wish[no] < most ? wish[no] : most;
        if (wish[no] > most) *cut = true;
    }
    beffio_layout_segments(&l);
    return beffio_layout_bytes(&l);
}

/* However fast the writing, what the limits allow stays within the share, and is nearly all of it. */
static void capped_files_fit_into_their_share(void **state)
{
    (void)state;
    const int64_t shares[] = {GB, 3 * GB, 50 * GB, 7000 * GB};
    int64_t endless[25];
    bool cut;
    for (int no = 0; no < 25; no++)
        endless[no] = INT64_MAX;
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++)
        for (int procs = 1; procs <= 64; procs *= 4)
            for (int evenly = 0; evenly < 2; evenly++) {
                const int64_t share = beffio_least_bytes(procs, 2 * MB) + shares[i];
                const int64_t bytes = written(procs, share, endless, evenly, &cut);
                assert_true(cut && bytes <= share);
                assert_true(bytes > share - 7 * MB * procs);
            }
}

/* One pattern that writes much more than its U leaves room for, and others that write little: as
 * long as all together fit, none is cut short; when they do not, the space is used up. */
static void space_that_others_leave_is_used(void **state)
{
    (void)state;
    for (int fast = 0; fast < 25; fast++) {
        int64_t wish[25];
        bool cut;
        for (int no = 0; no < 25; no++)
            wish[no] = 1;
        if (beffio_pattern(fast, 2 * MB).u == 0) continue;
        wish[fast] = 6 * GB / beffio_pattern(fast, 2 * MB).call_bytes;
        const int64_t all = written(1, INT64_MAX / 2, wish, false, &cut);
        assert_false(cut);
        assert_true(written(1, all, wish, false, &cut) == all && !cut);
        assert_true(written(1, all - 100 * MB, wish, false, &cut) > all - 110 * MB && cut);
    }
}

static void room_of_partitions_goes_on(void **state)
{
    (void)state;
    const struct beffio_schedule s = {.partitions_n = 3, .procs = {1, 2, 4}};
    const int64_t least[] = {beffio_least_bytes(1, 2 * MB), beffio_least_bytes(2, 2 * MB),
                             beffio_least_bytes(4, 2 * MB)};
    assert_true(beffio_room_left(&s, 2 * MB, 10 * GB, 0, 0, false) ==
                10 * GB - least[1] - least[2]);
    assert_true(beffio_room_left(&s, 2 * MB, 10 * GB, 4 * GB, 2, false) == 6 * GB);
    assert_true(beffio_room_left(&s, 2 * MB, 10 * GB, 4 * GB, 2, true) == 6 * GB);
    assert_true(beffio_room_left(&s, 2 * MB, 10 * GB, 0, 0, true) < 4 * GB);
    assert_true(beffio_room_left(&s, 2 * MB, 10 * GB, 10 * GB, 2, false) == least[2]);
}

static void room_is_shared(void **state)
{
    (void)state;
    const struct beffio_schedule s = {.partitions_n = 2, .procs = {1, 4}};
    const int64_t one = beffio_least_bytes(1, 2 * MB), four = beffio_least_bytes(4, 2 * MB);
    int64_t share[BEFFIO_PARTITIONS_MAX];
    assert_int_equal(beffio_room_share(&s, 2 * MB, 10 * GB, false, share), 0);
    assert_true(share[0] == 10 * GB && share[1] == 10 * GB);
    assert_int_equal(beffio_room_share(&s, 2 * MB, 10 * GB, true, share), 0);
    assert_true(share[0] + share[1] <= 10 * GB && share[0] > one && share[1] > four);
    assert_int_equal(beffio_room_share(&s, 2 * MB, four - 5, false, share), 5);
    assert_int_equal(beffio_room_share(&s, 2 * MB, four, true, share), one);
}

static void room_leaves_something(void **state)
{
    (void)state;
    struct beffio_room r = {.free_bytes = 1000, .memory_bytes = 600};
    assert_int_equal(beffio_room_bytes(&r), 100); /* a tenth, unless more is said */
    r.limit_bytes = 5000;
    assert_int_equal(beffio_room_bytes(&r), 950);
    r.in_memory = true;
    assert_int_equal(beffio_room_bytes(&r), 300);
    r.limit_bytes = 70;
    assert_int_equal(beffio_room_bytes(&r), 70);
    assert_int_equal(beffio_probe_bytes(INT64_C(100) * GB, 1), 512 * MB);
    assert_int_equal(beffio_probe_bytes(INT64_C(100) * GB, 157), GB / 157);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_the_published_one),
        cmocka_unit_test(types_begin_where_published),
        cmocka_unit_test(positions_are_complete),
        cmocka_unit_test(m_part_is_a_128th_of_memory),
        cmocka_unit_test(every_byte_is_written_once),
        cmocka_unit_test(chunks_of_ranks_take_turns),
        cmocka_unit_test(segments_follow_the_first_three_types),
        cmocka_unit_test(a_full_segment_is_not_filled),
        cmocka_unit_test(offsets_beyond_32_bits),
        cmocka_unit_test(a_smaller_m_part_of_type_1),
        cmocka_unit_test(times_of_the_definitions),
        cmocka_unit_test(default_partitions),
        cmocka_unit_test(batches_end_in_time),
        cmocka_unit_test(a_batch_that_slows_down_is_short),
        cmocka_unit_test(counted_batches_make_all_calls),
        cmocka_unit_test(capped_files_fit_into_their_share),
        cmocka_unit_test(space_that_others_leave_is_used),
        cmocka_unit_test(room_of_partitions_goes_on),
        cmocka_unit_test(room_is_shared),
        cmocka_unit_test(room_leaves_something),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
