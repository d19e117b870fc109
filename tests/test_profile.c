/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From what the ranks of a profiled program have left to a result. */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "companions/profile/merge.h"
#include "companions/profile/preload/timeline.h"
#include "companions/profile/timeline.h"

#define BIN_S 0.015625

/* The counters of a rank, or (rank -1) of the one process beside the ranks. */
static void name_map(const char *dir, int rank, char path[256])
{
    if (rank >= 0)
        snprintf(path, 256, "%s/rank-%d", dir, rank);
    else
        snprintf(path, 256, "%s/process-1-1", dir);
}

/* A rank that wrote at times after its start, a byte more each time, and ended with the last one. */
static void leave(const char *dir, int rank, int size, double init_s, const double *at, int n)
{
    char path[256];
    struct profile_map *m;
    name_map(dir, rank, path);
    /* Mapped, as a rank does it: nearly all of it is never touched. */
    const int to = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_true(to >= 0);
    assert_int_equal(ftruncate(to, sizeof *m), 0);
    m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_SHARED, to, 0);
    assert_ptr_not_equal(m, MAP_FAILED);
    close(to);
    m->magic = PROFILE_MAGIC;
    m->rank = rank;
    m->size = size;
    m->state = PROFILE_FINALIZED;
    m->bin_s = BIN_S;
    m->init_s = m->bins_s = init_s;
    m->last_s = init_s + at[n - 1];
    for (int i = 0; i < n; i++)
        m->bin_bytes[1][(int)(at[i] / BIN_S)] += (uint64_t)i + 1;
    munmap(m, sizeof *m);
}

/* Ranks that begin at different times: the last bin of a late one ends after the last bin of all. */
static void the_timeline_has_every_byte(void **state)
{
    (void)state;
    /* The last write is early in its bin, so that the bin's middle lies after the end of the run. */
    static const double at[] = {0.5 * BIN_S, 3.7 * BIN_S, 6.1 * BIN_S};
    for (int late = 0; late < 10; late++) {
        char dir[] = "/tmp/test_profile.XXXXXX", path[256];
        struct profile_run run;
        double sum = 0;
        assert_non_null(mkdtemp(dir));
        for (int r = 0; r < 3; r++)
            leave(dir, r, 3, 1e9 + 0.1 * late * r * BIN_S, at, 3);
        assert_int_equal(profile_load(dir, 1, &run), 0);
        assert_int_equal(run.ranks_n, 3);
        json_t *o = profile_json(&run);
        const json_t *written = json_object_get(json_object_get(o, "timeline"), "written_bytes");
        for (size_t b = 0; b < json_array_size(written); b++)
            sum += json_real_value(json_array_get(written, b));
        if (fabs(sum - 18) > 1e-9) fail_msg("%g bytes of 18, %d tenths of a bin late", sum, late);
        json_decref(o);
        profile_free(&run);
        for (int r = 0; r < 3; r++) {
            snprintf(path, sizeof path, "%s/rank-%d", dir, r);
            unlink(path);
        }
        rmdir(dir);
    }
}

/* More ranks than rows, which begin at different times, with bins of different widths, some of them missing. */
static void rows_have_every_byte(void **state)
{
    (void)state;
    enum { MOST = 4096, BINS = 3 };
    static const int sizes[] = {1, 2, 64, 65, 512, MOST};
    static struct profile_map *of[MOST];
    unsigned short seed[3] = {1, 2, 3};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        const int n = sizes[s];
        const int ranks_n = (n + 1) / 2; /* the others were started by them */
        int64_t bytes[2] = {0}, sum[2] = {0};
        double inside_s = 0, share_s = 0;
        int next = 0, seen_n = 0;
        /* What is never touched takes no memory. */
        for (int r = 0; r < n; r++) {
            of[r] = NULL;
            if (n > 2 && r % 7 == 3) continue;
            of[r] = mmap(NULL, sizeof *of[r], PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            assert_ptr_not_equal(of[r], MAP_FAILED);
            of[r]->bins_s = of[r]->init_s = 1e9 + erand48(seed);
            of[r]->bin_s = ldexp(BIN_S, (int)(nrand48(seed) % 5));
            of[r]->last_s = of[r]->bins_s + PROFILE_BINS * of[r]->bin_s * erand48(seed);
            for (int i = 0; i < BINS; i++)
                for (int d = 0; d < 2; d++) {
                    const int64_t b = nrand48(seed);
                    of[r]->bin_bytes[d][nrand48(seed) % PROFILE_BINS] += (uint64_t)b;
                    bytes[d] += b;
                }
            const uint64_t ns = (uint64_t)nrand48(seed);
            of[r]->bin_ns[nrand48(seed) % PROFILE_BINS] = ns;
            if (r < ranks_n) inside_s += 1e-9 * (double)ns;
            seen_n += r < ranks_n;
        }
        json_t *o = timeline_json((const struct profile_map *const *)of, n, ranks_n, 1e9);
        json_t *row, *value;
        const json_t *rows = json_object_get(json_object_get(o, "by_rank"), "rows");
        size_t i, c;
        assert_in_range(json_array_size(rows), 1, TIMELINE_ROWS_MAX);
        json_array_foreach(rows, i, row)
        {
            assert_int_equal(json_integer_value(json_object_get(row, "first_rank")), next);
            next += (int)json_integer_value(json_object_get(row, "ranks_n"));
            for (int d = 0; d < 2; d++) {
                json_t *list = json_object_get(row, d ? "written_bytes" : "read_bytes");
                assert_in_range(json_array_size(list), 1, TIMELINE_COLUMNS_MAX);
                json_array_foreach(list, c, value) sum[d] += json_integer_value(value);
            }
        }
        json_array_foreach(json_object_get(o, "inside_share"), c, value) share_s +=
            json_real_value(value) * json_real_value(json_object_get(o, "bin_s"));
        assert_true(fabs(share_s * seen_n - inside_s) <= 1e-9 * inside_s);
        assert_int_equal(next, n);
        assert_int_equal(sum[0], bytes[0]);
        assert_int_equal(sum[1], bytes[1]);
        json_decref(o);
        for (int r = 0; r < n; r++)
            if (of[r]) munmap(of[r], sizeof *of[r]);
    }
}

/* Runs of any length, calls of any: the bins have all bytes and all the time, in their places. */
static void bins_that_double_have_every_byte(void **state)
{
    (void)state;
    static struct profile_map m;
    unsigned short seed[3] = {4, 5, 6};
    for (int run = 0; run < 300; run++) {
        uint64_t bytes[2] = {0}, sum[2] = {0};
        double at = 1e9 * erand48(seed), inside = 0, counted = 0;
        const double longest = ldexp(1, (int)(nrand48(seed) % 30) - 20);
        memset(&m, 0, sizeof m);
        timeline_begin(&m, at);
        for (int c = 0; c < 300; c++) {
            const int write = (int)(nrand48(seed) % 2);
            const int64_t n = c % 5 ? nrand48(seed) : 0;
            /* The first ones began before the timeline. */
            const double from = at - (c < 2 ? longest : 0), to = from + longest * erand48(seed);
            timeline_add(&m, write, n, from, to);
            bytes[write] += (uint64_t)n;
            inside += to > m.bins_s ? to - fmax(from, m.bins_s) : 0;
            at = fmax(at, to) + longest * erand48(seed);
        }
        assert_true(at - m.bins_s <= (PROFILE_BINS * m.bin_s + longest) &&
                    (m.bin_s == BIN_S || 2 * (at - m.bins_s) > PROFILE_BINS * m.bin_s));
        for (int b = 0; b < PROFILE_BINS; b++) {
            sum[0] += m.bin_bytes[0][b];
            sum[1] += m.bin_bytes[1][b];
            counted += 1e-9 * (double)m.bin_ns[b];
        }
        assert_int_equal(sum[0], bytes[0]);
        assert_int_equal(sum[1], bytes[1]);
        assert_true(fabs(counted - inside) < 1e-6 * inside + 1e-6);
    }
}

/* A call of four seconds that moves 400 bytes: 100 in each second, however wide the bins. */
static void a_long_call_is_spread_over_its_bins(void **state)
{
    (void)state;
    static struct profile_map m;
    timeline_begin(&m, 100);
    timeline_add(&m, 1, 400, 101, 105);
    for (int b = 0; b < PROFILE_BINS; b++)
        assert_in_range(m.bin_bytes[1][b], b >= 64 && b < 5 * 64 ? 1 : 0,
                        b >= 64 && b < 5 * 64 ? 2 : 0);
    timeline_add(&m, 1, 0, 100 + 500, 100 + 511); /* bins of a second */
    for (int b = 0; b < PROFILE_BINS; b++)
        assert_int_equal(m.bin_bytes[1][b], b >= 1 && b < 5 ? 100 : 0);
}

/* A program that writes over its counters: its rank counts as one without any. */
static void counters_that_nobody_can_have_counted(void **state)
{
    (void)state;
    static const double at[] = {BIN_S};
    char dir[] = "/tmp/test_profile.XXXXXX", path[256];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/rank-0", dir);
    for (int what = 0; what < 4; what++) {
        struct profile_run run;
        leave(dir, 0, 1, 1e9, at, 1);
        const int fd = open(path, O_RDWR);
        struct profile_map *m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        assert_ptr_not_equal(m, MAP_FAILED);
        close(fd);
        m->files_n = m->phases_n = m->phase[0].comm_size = 1;
        if (what == 0) m->phase[0].kind[0].bytes = UINT64_MAX;
        if (what == 1) m->phase[0].kind[0].n = UINT64_C(1) << 63;
        if (what == 2) m->last_s = 1e308; /* of the timeline there would be no end */
        munmap(m, sizeof *m);
        assert_int_equal(profile_load(dir, 1, &run), 0);
        assert_int_equal(run.ranks_n, what == 3); /* nothing is wrong with the last */
        profile_free(&run);
        unlink(path);
    }
    rmdir(dir);
}

/* The second phase of a file has what no description can say: nht1-workload would refuse all of it. */
static void a_point_that_cannot_be_replayed_is_left_out(void **state)
{
    (void)state;
    static const double at[] = {BIN_S};
    char dir[] = "/tmp/test_profile.XXXXXX", path[256], why[ERR_MESSAGE_MAX];
    struct profile_run run;
    struct workload w;
    int left_out;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/rank-0", dir);
    leave(dir, 0, 1, 1e9, at, 1);
    const int fd = open(path, O_RDWR);
    struct profile_map *m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(m, MAP_FAILED);
    close(fd);
    m->files_n = 1;
    m->phases_n = 3;
    for (int p = 0; p < 3; p++) {
        m->phase[p].comm_size = 1;
        m->phase[p].ordinal = p;
        m->phase[p].begin_s = m->phase[p].end_s = 1e9 + p;
        m->phase[p].kind[0].n = m->phase[p].pieces = 8;
        m->phase[p].kind[0].bytes = 80;
    }
    m->phase[0].kind[0].bytes = 4; /* half a byte a call */
    m->phase[1].kind[0].n = m->phase[1].pieces = (UINT64_C(1) << 30) + 1;
    m->phase[1].kind[0].bytes = UINT64_C(1) << 32;
    munmap(m, sizeof *m);
    assert_int_equal(profile_load(dir, 1, &run), 0);
    assert_int_equal(profile_workload(&run, &w, &left_out, why), 0);
    assert_int_equal(left_out, 1);
    assert_int_equal(w.points_n, 2);
    assert_non_null(strstr(why, "working point 2: "));
    for (int i = 0; i < w.points_n; i++)
        assert_int_equal(workload_point_check(&w.point[i], w.separate, ""), 0);
    workload_free(&w);
    profile_free(&run);
    unlink(path);
    rmdir(dir);
}

/* What leave() has left, mapped to be changed. */
static struct profile_map *open_map(const char *dir, int rank)
{
    char path[256];
    name_map(dir, rank, path);
    const int fd = open(path, O_RDWR);
    struct profile_map *m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(m, MAP_FAILED);
    close(fd);
    return m;
}

static void remove_all(const char *dir, int n)
{
    char path[256];
    for (int r = -1; r < n; r++) {
        name_map(dir, r, path);
        unlink(path);
    }
    rmdir(dir);
}

#define TICK_S 1e-9
#define TICKS  (1 << 20)

/* Calls of some processes, of up to two threads each, against a list of all moments; and with so little room that they are joined. */
static void time_in_which_a_process_is_inside(void **state)
{
    (void)state;
    static bool inside[TICKS];
    unsigned short seed[3] = {7, 8, 9};
    int exact = 0, at_most = 0;
    for (int trial = 0; trial < 60; trial++) {
        char dir[] = "/tmp/test_profile.XXXXXX";
        struct profile_run run;
        const int n = 1 + (int)(nrand48(seed) % 4), room = trial % 3 ? PROFILE_BURSTS_MAX : 64;
        const bool threads = trial % 2;
        const int calls = 1 << (nrand48(seed) % 14);
        const double at[] = {TICKS * TICK_S};
        bool joined = false;
        double all_s = 0;
        int oracle = 0;
        memset(inside, 0, sizeof inside);
        assert_non_null(mkdtemp(dir));
        for (int r = 0; r < n; r++) {
            leave(dir, r, n, 1e9, at, 1);
            struct profile_map *m = open_map(dir, r);
            for (int c = 0, now = 0; c < calls; c++) {
                const int each = TICKS / calls;
                const int back = threads ? (int)(nrand48(seed) % each) : 0;
                const int from = now > back ? now - back : 0,
                          to = now + (int)(nrand48(seed) % each);
                memset(inside + from, true, (size_t)(to - from));
                all_s += (to - from) * TICK_S;
                timeline_burst(m, room, UINT64_C(1000000000000000000) + (uint64_t)from,
                               UINT64_C(1000000000000000000) + (uint64_t)to);
                assert_true(m->bursts_n <= room);
                now = to + (int)(nrand48(seed) % each);
                if (now >= TICKS - each) break;
            }
            joined |= m->burst_gap_ns > 0;
            munmap(m, sizeof *m);
        }
        assert_int_equal(profile_load(dir, 1, &run), 0);
        for (int t = 0; t < TICKS; t++)
            oracle += inside[t];
        if (!joined || (n == 1 && !threads)) {
            assert_true(fabs(run.io_any_s - oracle * TICK_S) < 1e-12);
            exact++;
        } else {
            assert_true(run.io_any_s > oracle * TICK_S - 1e-12);
            at_most += run.io_any_s > oracle * TICK_S + 1e-12;
        }
        assert_true(run.io_any_s < all_s + 1e-12);
        profile_free(&run);
        remove_all(dir, n);
    }
    assert_true(exact > 20 && at_most > 5);
}

#define CALLS_MAX 3000
#define BEGIN_NS  UINT64_C(1000000000000000000)

/* Calls that n ranks make together; what they give. */
struct together {
    uint64_t begin[4][CALLS_MAX], end[4][CALLS_MAX];
    uint64_t behind; /* from when the last rank has begun each, summed */
    double wait;     /* until then, mean over ranks */
};

static void make_together(struct together *t, int n, int calls, unsigned short seed[3])
{
    uint64_t now = BEGIN_NS;
    t->behind = 0;
    t->wait = 0;
    for (int c = 0; c < calls; c++) {
        uint64_t last = 0, left = 0;
        for (int r = 0; r < n; r++) {
            t->begin[r][c] = now + (uint64_t)(nrand48(seed) % 1000);
            last = t->begin[r][c] > last ? t->begin[r][c] : last;
        }
        for (int r = 0; r < n; r++) {
            t->end[r][c] = last + (uint64_t)(r == (c / 2) % n ? nrand48(seed) % 1000 : 1);
            left = t->end[r][c] > left ? t->end[r][c] : left;
            t->wait += (double)(last - t->begin[r][c]) / n;
        }
        t->behind += left - last;
        now = left + 1;
    }
}

/* Each from when the last rank has begun it, against the calls themselves; with too little room for all it is no
 * less. */
static void a_call_of_all_ranks_counts_from_when_the_last_has_begun_it(void **state)
{
    (void)state;
    static struct together t;
    unsigned short seed[3] = {10, 11, 12};
    for (int trial = 0; trial < 40; trial++) {
        char dir[] = "/tmp/test_profile.XXXXXX";
        struct profile_run run;
        const double at[] = {1};
        const int n = 2 + (int)(nrand48(seed) % 3), room = trial % 2 ? CALLS_MAX : 64;
        const int calls = 1 + (int)(nrand48(seed) % (trial % 4 < 2 ? 60 : CALLS_MAX));
        make_together(&t, n, calls, seed);
        assert_non_null(mkdtemp(dir));
        for (int r = 0; r < n; r++) {
            leave(dir, r, n, 1e9, at, 1);
            struct profile_map *m = open_map(dir, r);
            /* Ranks need not have as much room: what one of them has not kept is among the bursts. */
            for (int c = 0; c < calls; c++)
                if (r > 0 || c < room)
                    m->together[m->together_n++] =
                        (struct profile_together){.begin_ns = t.begin[r][c], .end_ns = t.end[r][c]};
                else
                    timeline_burst(m, PROFILE_BURSTS_MAX, t.begin[r][c], t.end[r][c]);
            munmap(m, sizeof *m);
        }
        assert_int_equal(profile_load(dir, 1, &run), 0);
        if (calls <= room) {
            assert_true(fabs(run.io_any_s - 1e-9 * (double)t.behind) < 1e-12);
            assert_true(fabs(run.io_wait_s - 1e-9 * t.wait) < 1e-12);
        } else {
            assert_true(run.io_any_s > 1e-9 * (double)t.behind - 1e-12);
            assert_true(run.io_wait_s < 1e-9 * t.wait + 1e-12);
        }
        profile_free(&run);
        remove_all(dir, n);
    }
}

/* Whether the summary has it. */
static bool tells(const struct profile_run *run, const char *what)
{
    char *text;
    size_t size;
    FILE *const to = open_memstream(&text, &size);
    assert_non_null(to);
    profile_print(run, to);
    fclose(to);
    const bool is = strstr(text, what) != NULL;
    free(text);
    return is;
}

/* Calls of all ranks beside others, against a list of all moments: what some do at the same time counts once, and a rank that has
 * left its call before the last one began it has not waited. */
static void what_is_done_beside_a_call_of_all_ranks_counts_once(void **state)
{
    (void)state;
    enum { CALLS = 50, EACH = 1000, RANKS = 4 };
    static bool inside[(CALLS + 2) * EACH];
    static struct profile_together call[RANKS];
    const double at[] = {1};
    unsigned short seed[3] = {13, 14, 15};
    for (int trial = 0; trial < 20; trial++) {
        char dir[] = "/tmp/test_profile.XXXXXX";
        struct profile_map *m[RANKS];
        struct profile_run run;
        double wait = 0;
        int oracle = 0;
        memset(inside, 0, sizeof inside);
        assert_non_null(mkdtemp(dir));
        for (int r = 0; r < RANKS; r++) {
            leave(dir, r, RANKS, 1e9, at, 1);
            m[r] = open_map(dir, r);
        }
        for (int c = 0; c < CALLS; c++) {
            uint64_t last = 0, end = 0;
            for (int r = 0; r < RANKS; r++) {
                call[r].begin_ns = (uint64_t)(c * EACH + nrand48(seed) % EACH);
                call[r].end_ns = call[r].begin_ns + (uint64_t)(nrand48(seed) % EACH);
                last = call[r].begin_ns > last ? call[r].begin_ns : last;
                end = call[r].end_ns > end ? call[r].end_ns : end;
            }
            memset(inside + last, true, end - last);
            for (int r = 0; r < RANKS; r++) {
                if (call[r].end_ns < last)
                    memset(inside + call[r].begin_ns, true, call[r].end_ns - call[r].begin_ns);
                else
                    wait += (double)(last - call[r].begin_ns) / RANKS;
                call[r].begin_ns += BEGIN_NS;
                call[r].end_ns += BEGIN_NS;
                m[r]->together[m[r]->together_n++] = call[r];
            }
            const uint64_t own = (uint64_t)(c * EACH + nrand48(seed) % EACH);
            memset(inside + own, true, EACH / 2);
            timeline_burst(m[c % RANKS], PROFILE_BURSTS_MAX, BEGIN_NS + own,
                           BEGIN_NS + own + EACH / 2);
        }
        for (int r = 0; r < RANKS; r++)
            munmap(m[r], sizeof *m[r]);
        assert_int_equal(profile_load(dir, 1, &run), 0);
        for (int t = 0; t < (CALLS + 2) * EACH; t++)
            oracle += inside[t];
        assert_true(fabs(run.io_any_s - 1e-9 * oracle) < 1e-12);
        assert_true(fabs(run.io_wait_s - 1e-9 * wait) < 1e-12);
        /* That a rank waited nobody has seen. */
        assert_true(tells(&run, " per rank in collective calls that the last rank had not begun: "
                                "waiting or, in OMPIO, perhaps writing\n"));
        profile_free(&run);
        remove_all(dir, RANKS);
    }
}

/* One collective flush is not twice as long as the time in which a rank is inside. */
static void flushes_are_told_as_the_time_inside_is(void **state)
{
    (void)state;
    char dir[] = "/tmp/test_profile.XXXXXX";
    const double at[] = {1};
    struct profile_run run;
    assert_non_null(mkdtemp(dir));
    for (int r = 0; r < 2; r++) {
        leave(dir, r, 2, 1e9, at, 1);
        struct profile_map *m = open_map(dir, r);
        m->other[PROFILE_SYNC] = (struct profile_calls){.n = 1, .ns = 57000000};
        munmap(m, sizeof *m);
    }
    assert_int_equal(profile_load(dir, 1, &run), 0);
    assert_true(tells(&run, "57.0 ms per rank on average in flushing, 2 calls in all"));
    profile_free(&run);
    leave(dir, -1, 0, 1e9, at, 1); /* which a rank has started */
    struct profile_map *m = open_map(dir, -1);
    m->other[PROFILE_SYNC] = (struct profile_calls){.n = 1, .ns = 30000000};
    munmap(m, sizeof *m);
    assert_int_equal(profile_load(dir, 1, &run), 0);
    assert_true(tells(
        &run, "57.0 ms per rank on average and 30.0 ms in all processes beside them together in "
              "flushing, 3 calls in all"));
    profile_free(&run);
    remove_all(dir, 2);
}

/* Two threads that flush at the same time are not twice as long inside I/O without a word; one thread has none. */
static void what_threads_do_at_once_is_told_as_that(void **state)
{
    (void)state;
    const double at[] = {2};
    for (int threads = 1; threads <= 2; threads++) {
        char dir[] = "/tmp/test_profile.XXXXXX";
        struct profile_run run;
        assert_non_null(mkdtemp(dir));
        leave(dir, -1, 0, 1e9, at, 1);
        struct profile_map *m = open_map(dir, -1);
        for (int i = 0; i < threads; i++) {
            m->other[PROFILE_SYNC].n++;
            m->other[PROFILE_SYNC].ns += 500000000;
            timeline_burst(m, PROFILE_BURSTS_MAX, BEGIN_NS, BEGIN_NS + 500000000);
        }
        munmap(m, sizeof *m);
        assert_int_equal(profile_load(dir, 2, &run), 0);
        assert_true(fabs(run.io_max_s - 0.5 * threads) < 1e-9);
        assert_true(fabs(run.io_max_any_s - 0.5) < 1e-9);
        assert_int_equal(
            tells(&run, "of all threads of a process together; 500 ms with at least one thread "
                        "of the slowest process inside (25.0 %)"),
            threads == 2);
        profile_free(&run);
        remove_all(dir, 0);
    }
}

/* A file that a process had by itself, and wrote once. */
static void write_own(const char *dir, int rank)
{
    struct profile_map *m = open_map(dir, rank);
    m->files_n = m->phases_n = m->file[0].phases_n = 1;
    snprintf(m->file[0].name, sizeof m->file[0].name, "/own.%d", rank);
    m->file[0].interface = PROFILE_POSIX;
    m->file[0].comm_size = m->phase[0].comm_size = 1;
    m->phase[0].begin_s = m->phase[0].end_s = 1e9;
    m->phase[0].kind[1].n = m->phase[0].pieces = 1;
    m->phase[0].kind[1].bytes = 1000;
    munmap(m, sizeof *m);
}

/* A `sync` beside the ranks leaves them a file each, at once; what another process writes has no place in such a workload. */
static void a_file_per_rank_stays_one_beside_processes_that_only_flush(void **state)
{
    (void)state;
    const double at[] = {1};
    for (int writes = 0; writes < 2; writes++) {
        char dir[] = "/tmp/test_profile.XXXXXX", why[ERR_MESSAGE_MAX];
        struct profile_run run;
        struct workload w;
        int left_out;
        assert_non_null(mkdtemp(dir));
        for (int r = -1; r < 2; r++) {
            leave(dir, r, r < 0 ? 0 : 2, 1e9, at, 1);
            if (r >= 0 || writes) write_own(dir, r);
        }
        assert_int_equal(profile_load(dir, 1, &run), 0);
        assert_int_equal(run.size, 3);
        assert_int_equal(profile_workload(&run, &w, &left_out, why), 0);
        assert_int_equal(left_out, 0);
        assert_int_equal(w.separate, !writes);
        assert_int_equal(w.points_n, writes ? 3 : 1);
        assert_int_equal(w.point[0].process_num, writes ? 1 : 2);
        assert_int_equal(tells(&run, "the ranks' own files are replayed one after the other"),
                         writes);
        workload_free(&w);
        profile_free(&run);
        remove_all(dir, 2);
    }
}

/* Nor has a log of one rank: their files come one after the other, which is told. A file of one rank alone has nothing beside it. */
static void a_log_of_one_rank_beside_files_of_all_is_told(void **state)
{
    (void)state;
    const double at[] = {1};
    for (int owners = 1; owners <= 2; owners++) {
        char dir[] = "/tmp/test_profile.XXXXXX";
        struct profile_run run;
        assert_non_null(mkdtemp(dir));
        for (int r = 0; r < 2; r++) {
            leave(dir, r, 2, 1e9, at, 1);
            if (r < owners) write_own(dir, r);
        }
        struct profile_map *m = open_map(dir, 0);
        m->file[1] = m->file[0];
        m->files_n = 2;
        snprintf(m->file[1].name, sizeof m->file[1].name, "/log");
        munmap(m, sizeof *m);
        assert_int_equal(profile_load(dir, 1, &run), 0);
        assert_int_equal(tells(&run, "files that not all ranks have opened are replayed one "
                                     "after the other, as not every "),
                         owners == 2);
        profile_free(&run);
        remove_all(dir, 2);
    }
}

/* Rank r of `size`, dealt round `nodes` nodes, writes a file that has one name on all of them. */
static void write_scratch(const char *dir, int r, int size, int nodes, int local)
{
    const double at[] = {1};
    leave(dir, r, size, 1e9, at, 1);
    write_own(dir, r);
    struct profile_map *m = open_map(dir, r);
    snprintf(m->file[0].name, sizeof m->file[0].name, "/scratch/own");
    snprintf(m->host, sizeof m->host, "node%d", r % nodes);
    m->file[0].local = local;
    munmap(m, sizeof *m);
}

/* A file of one name on two nodes is one, unless it lies on local file systems. */
static void files_of_one_name_on_two_nodes_are_one_if_they_are_not_local(void **state)
{
    (void)state;
    for (int nodes = 1; nodes <= 2; nodes++)
        for (int local = 0; local <= 1; local++) {
            char dir[] = "/tmp/test_profile.XXXXXX", why[ERR_MESSAGE_MAX];
            struct profile_run run;
            struct workload w;
            int left_out;
            assert_non_null(mkdtemp(dir));
            for (int r = 0; r < 2; r++)
                write_scratch(dir, r, 2, nodes, local);
            assert_int_equal(profile_load(dir, 1, &run), 0);
            assert_int_equal(profile_workload(&run, &w, &left_out, why), 0);
            assert_int_equal(w.separate, nodes == 2 && local);
            workload_free(&w);
            profile_free(&run);
            remove_all(dir, 2);
        }
}

/* Ranks are dealt round two nodes, each of which has a file of one name on a local file system. */
static void ranks_of_a_node_that_share_a_local_file_have_none_of_their_own(void **state)
{
    (void)state;
    char dir[] = "/tmp/test_profile.XXXXXX", why[ERR_MESSAGE_MAX];
    struct profile_run run;
    struct workload w;
    int left_out;
    assert_non_null(mkdtemp(dir));
    for (int r = 0; r < 4; r++)
        write_scratch(dir, r, 4, 2, 1);
    assert_int_equal(profile_load(dir, 1, &run), 0);
    assert_int_equal(profile_workload(&run, &w, &left_out, why), 0);
    assert_false(w.separate);
    assert_true(
        tells(&run, "files that not all ranks have opened are replayed one after the other"));
    workload_free(&w);
    profile_free(&run);
    remove_all(dir, 4);
}

/* A phase of one call that writes the file that all have opened. */
static void write_phase(struct profile_map *m, double begin_us, double end_us, uint64_t bytes)
{
    struct profile_phase *p = &m->phase[m->phases_n];
    p->ordinal = m->file[0].phases_n++;
    p->comm_size = 1;
    p->begin_s = 1e9 + 1e-6 * begin_us;
    p->end_s = 1e9 + 1e-6 * end_us;
    p->kind[1].n = p->pieces = 1;
    p->kind[1].bytes = bytes;
    m->phases_n++;
}

/* In each of four steps rank 0 writes a header, then those that have data write them; rank 0 comes to its data late, when the others
 * have ended; rank 2 has data in the first step alone. */
static void ranks_with_not_as_many_phases_are_joined_by_what_they_did_when(void **state)
{
    (void)state;
    enum { STEPS = 4 };
    const double at[] = {1};
    char dir[] = "/tmp/test_profile.XXXXXX", why[ERR_MESSAGE_MAX];
    struct profile_run run;
    struct workload w;
    int left_out;
    assert_non_null(mkdtemp(dir));
    for (int r = 0; r < 3; r++) {
        leave(dir, r, 3, 1e9, at, 1);
        struct profile_map *m = open_map(dir, r);
        m->files_n = m->by_direction = 1;
        snprintf(m->file[0].name, sizeof m->file[0].name, "/common");
        m->file[0].interface = PROFILE_POSIX;
        m->file[0].comm_size = 1;
        for (int k = 0; k < STEPS; k++) {
            const double t = 1000 * k;
            if (r == 0) write_phase(m, t, t + 10, 4096);
            if (r == 0) write_phase(m, t + 500, t + 600, 1 << 20);
            if (r == 1 || (r == 2 && k == 0)) write_phase(m, t + 20, t + 120, 1 << 20);
        }
        munmap(m, sizeof *m);
    }
    assert_int_equal(profile_load(dir, 1, &run), 0);
    assert_int_equal(profile_workload(&run, &w, &left_out, why), 0);
    assert_int_equal(left_out, 0);
    assert_int_equal(w.points_n, 2 * STEPS);
    for (int k = 0; k < STEPS; k++) {
        assert_true(w.point[2 * k].unique_bytes == 4096);
        assert_true(w.point[2 * k + 1].unique_bytes == (k == 0 ? 3 : 2) * (1 << 20));
    }
    workload_free(&w);
    profile_free(&run);
    remove_all(dir, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_timeline_has_every_byte),
        cmocka_unit_test(rows_have_every_byte),
        cmocka_unit_test(bins_that_double_have_every_byte),
        cmocka_unit_test(a_long_call_is_spread_over_its_bins),
        cmocka_unit_test(counters_that_nobody_can_have_counted),
        cmocka_unit_test(time_in_which_a_process_is_inside),
        cmocka_unit_test(a_call_of_all_ranks_counts_from_when_the_last_has_begun_it),
        cmocka_unit_test(what_is_done_beside_a_call_of_all_ranks_counts_once),
        cmocka_unit_test(flushes_are_told_as_the_time_inside_is),
        cmocka_unit_test(what_threads_do_at_once_is_told_as_that),
        cmocka_unit_test(a_point_that_cannot_be_replayed_is_left_out),
        cmocka_unit_test(a_file_per_rank_stays_one_beside_processes_that_only_flush),
        cmocka_unit_test(a_log_of_one_rank_beside_files_of_all_is_told),
        cmocka_unit_test(ranks_of_a_node_that_share_a_local_file_have_none_of_their_own),
        cmocka_unit_test(ranks_with_not_as_many_phases_are_joined_by_what_they_did_when),
        cmocka_unit_test(files_of_one_name_on_two_nodes_are_one_if_they_are_not_local),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
