/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact intervals and sequential plans against enumeration, published tables and GSL. That the error
 * is kept on noise of many kinds: tests/sequential.bats. */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/rank.h"
#include "base/sequential.h"

enum { N_MAX = 12, TAILS_MAX = RANK_VALUES_MAX * (RANK_VALUES_MAX + 1) / 2 + 1 };

static double tail[TAILS_MAX];

static void about(double got, double want, double within)
{
    if (!(fabs(got - want) <= within)) fail_msg("%.17g is not %.17g", got, want);
}

/* T+ of every assignment of signs to the ranks 1 .. n. */
static void signed_ranks_are_those_of_all_signs(void **state)
{
    (void)state;
    for (int n = 1; n <= N_MAX; n++) {
        int count[N_MAX * (N_MAX + 1) / 2 + 1] = {0};
        for (int signs = 0; signs < 1 << n; signs++) {
            int sum = 0;
            for (int i = 0; i < n; i++)
                sum += signs >> i & 1 ? i + 1 : 0;
            count[sum]++;
        }
        rank_tails(RANK_SIGNED, n, tail);
        for (int k = 0, below = 0; k <= n * (n + 1) / 2; k++) {
            below += count[k];
            assert_true(tail[k] == ldexp(below, -n)); /* powers of two: no rounding */
        }
    }
}

static void signed_ranks_of_many_values(void **state)
{
    (void)state;
    for (int n = 50; n <= RANK_VALUES_MAX; n += 150) {
        const int most = rank_max(RANK_SIGNED, n);
        rank_tails(RANK_SIGNED, n, tail);
        about(tail[most], 1, 1e-12);
        if (n < 1000) about(tail[0] * pow(2, n), 1, 1e-12);
        for (int k = 0; k < most; k += 997)
            about(tail[k] + tail[most - 1 - k], 1, 1e-12); /* as many below as above */
        /* Half of the probability of each value belongs to either side of the normal one. */
        const double sd = sqrt(n * (n + 1.0) * (2 * n + 1) / 24);
        about(tail[(int)(most / 2.0 - 2 * sd)], gsl_cdf_ugaussian_P(-2), 2e-3);
    }
}

/* Largest T at which a two-sided test rejects: R. L. McCornack, "Extended tables of the Wilcoxon
 * matched pair signed rank statistic", Journal of the American Statistical Association 60, 1965. */
static void published_critical_values_of_t(void **state)
{
    (void)state;
    static const struct {
        int n, t[3]; /* 5, 2, 1 % */
    } rows[] = {{6, {0, -1, -1}},      {7, {2, 0, -1}},      {8, {3, 1, 0}},     {9, {5, 3, 1}},
                {10, {8, 5, 3}},       {11, {10, 7, 5}},     {12, {13, 9, 7}},   {13, {17, 12, 9}},
                {14, {21, 15, 12}},    {15, {25, 19, 15}},   {16, {29, 23, 19}}, {17, {34, 27, 23}},
                {18, {40, 32, 27}},    {19, {46, 37, 32}},   {20, {52, 43, 37}}, {25, {89, 76, 68}},
                {30, {137, 120, 109}}, {50, {434, 397, 373}}};
    static const double level[] = {0.05, 0.02, 0.01};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int j = 0; j < 3; j++) {
            int cut;
            double attained;
            assert_int_equal(rank_cut(RANK_SIGNED, rows[i].n, level[j] / 2, &cut, &attained), 0);
            if (cut != rows[i].t[j]) fail_msg("n = %d, %g: %d", rows[i].n, level[j], cut);
            assert_true(cut < 0 ? attained == 0 : attained > 0 && attained <= level[j] / 2);
        }
}

static void sign_test_is_binomial(void **state)
{
    (void)state;
    int cut;
    double attained;
    for (int n = 1; n <= RANK_VALUES_MAX; n += n < 20 ? 1 : 60) {
        rank_tails(RANK_SIGN, n, tail);
        for (int k = 0; k <= n; k++)
            about(tail[k], gsl_cdf_binomial_P((unsigned)k, 0.5, (unsigned)n), 1e-11);
        assert_int_equal(rank_cut(RANK_SIGN, n, 0.025, &cut, &attained), 0);
        assert_true((cut >= 0) == (n >= 6));
        if (cut >= 0) assert_true(tail[cut] <= 0.025 && tail[cut + 1] > 0.025);
    }
}

/* Differences of depression scores, M. Hollander and D. A. Wolfe, table 3.1: T+ = 40 of 45, p = 0.039
 * two-sided, estimate 0.46. */
static const double depression[] = {0.952, -0.147, 1.022,  0.430, 0.620,
                                    0.590, 0.490,  -0.080, 0.010};

static void interval_and_p_of_published_values(void **state)
{
    (void)state;
    double centre, lo, hi, p;
    int cut;
    double attained;
    assert_int_equal(rank_cut(RANK_SIGNED, 9, 0.025, &cut, &attained), 0);
    assert_int_equal(cut, 5);
    about(1 - 2 * attained, 0.9609375, 1e-12);
    assert_int_equal(rank_interval(RANK_SIGNED, depression, 9, cut, &centre, &lo, &hi), 0);
    about(centre, 0.46, 1e-12);
    about(lo, 0.01, 1e-12);
    about(hi, 0.786, 1e-12);
    assert_int_equal(rank_p(RANK_SIGNED, depression, 9, 0, 1, &p), 0);
    about(p, 0.0390625, 1e-12);
    assert_int_equal(rank_p(RANK_SIGN, depression, 9, 0, 1, &p), 0);
    about(p, 2 * 46.0 / 512, 1e-12); /* 2 of 9 are negative */
    assert_int_equal(rank_interval(RANK_SIGN, depression, 9, 1, &centre, &lo, &hi), 0);
    assert_true(centre == 0.49 && lo == -0.08 && hi == 0.952);
}

/* Every pattern of signs of values with ties and zeros, which are symmetric about 0: intervals miss
 * 0, and p falls below a level, at most as often as is said. */
static void ties_and_zeros_miss_no_more_often(void **state)
{
    (void)state;
    static const double sizes[][10] = {{0, 0, 1, 1, 1, 2, 2, 3, 3, 3},
                                       {1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                                       {0, 0, 0, 0, 0, 0, 0, 1, 2, 3},
                                       {1, 2, 4, 8, 16, 32, 64, 128, 256, 512}};
    for (size_t row = 0; row < sizeof sizes / sizeof sizes[0]; row++)
        for (int method = 0; method < RANK_METHODS; method++) {
            int cut, missed = 0, significant = 0;
            double attained, x[10], centre, lo, hi, p;
            assert_int_equal(rank_cut((enum rank_method)method, 10, 0.05, &cut, &attained), 0);
            for (int signs = 0; signs < 1 << 10; signs++) {
                for (int i = 0; i < 10; i++)
                    x[i] = signs >> i & 1 ? sizes[row][i] : -sizes[row][i];
                rank_interval((enum rank_method)method, x, 10, cut, &centre, &lo, &hi);
                rank_p((enum rank_method)method, x, 10, 0, 1, &p);
                missed += lo > 0 || hi < 0;
                significant += p <= 2 * attained;
                assert_true((lo > 0 || hi < 0) == (p <= 2 * attained)); /* one and the same */
            }
            assert_true(missed <= 2 * attained * (1 << 10));
            if (row == 3) assert_true(missed == 2 * attained * (1 << 10));
            assert_int_equal(missed, significant);
        }
}

static void widening_spans_more_values(void **state)
{
    (void)state;
    double p, wider_p;
    assert_int_equal(rank_widen(RANK_SIGN, 20, 5, 1), 5);
    assert_int_equal(rank_widen(RANK_SIGN, 20, 5, 2), 0); /* 9.5 - 2 * 4.5, rounded down */
    assert_int_equal(rank_widen(RANK_SIGN, 20, 5, 2.2), -1);
    assert_int_equal(rank_widen(RANK_SIGN, 8, 0, 1.01), -1);
    assert_int_equal(rank_widen(RANK_SIGN, 8, -1, 3), -1);
    rank_p(RANK_SIGNED, depression, 9, 0, 1, &p);
    rank_p(RANK_SIGNED, depression, 9, 0, 1.5, &wider_p);
    assert_true(wider_p > p && wider_p <= 1);
}

static void skew_is_seen(void **state)
{
    (void)state;
    double x[20], p, mirrored;
    const double few[] = {0, 0, 0, 0, 9};
    for (int i = 0; i < 20; i++)
        x[i] = 2.385 * (i - 9.5);
    assert_int_equal(rank_skew(x, 20, &p), 0);
    assert_true(p == 1);
    for (int i = 0; i < 20; i++)
        x[i] = -log((i + 0.5) / 20);
    assert_int_equal(rank_skew(x, 20, &p), 0);
    assert_true(p < 0.02);
    for (int i = 0; i < 20; i++)
        x[i] = -x[i];
    assert_int_equal(rank_skew(x, 20, &mirrored), 0);
    assert_true(p == mirrored);
    assert_int_equal(rank_skew(few, 5, &p), 0);
    assert_true(p == 1);
}

static void all_orders(int *place, int n, int fixed, double *sum, int *count)
{
    if (fixed == n) {
        double x[8];
        struct rank_order o;
        for (int i = 0; i < n; i++)
            x[i] = 2.385 * place[i];
        rank_order(x, n, &o);
        sum[0] += o.serial;
        sum[1] += 4 * o.serial * o.serial;
        sum[2] += o.trend;
        sum[3] += o.trend * o.trend;
        (*count)++;
        return;
    }
    for (int i = fixed; i < n; i++) {
        const int swap = place[fixed];
        place[fixed] = place[i];
        place[i] = swap;
        all_orders(place, n, fixed + 1, sum, count);
        place[i] = place[fixed];
        place[fixed] = swap;
    }
}

/* Mean and variance over all orders of 7 values are those of the formulas. */
static void order_statistics_of_all_orders(void **state)
{
    (void)state;
    int place[] = {0, 1, 2, 3, 4, 5, 6}, count = 0;
    double sum[4] = {0}, n = 7;
    all_orders(place, 7, 0, sum, &count);
    assert_int_equal(count, 5040);
    about(sum[0] / count, 0, 1e-12);
    about(sum[1] / count,
          4 * (n - 2) * (5 * n * n - 2 * n - 9) / (5 * n * (n + 1) * (n - 1) * (n - 1)), 1e-12);
    about(sum[2] / count, 0, 1e-12);
    about(sum[3] / count, 1 / (n - 1), 1e-12);
    const double up[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, same[] = {3, 3, 3, 3};
    struct rank_order o;
    rank_order(up, 10, &o);
    assert_true(o.trend == 1 && o.trend_p < 0.01 && o.serial > 0.9 && o.serial_p < 0.01);
    rank_order(same, 4, &o);
    assert_true(o.serial == 0 && o.trend_p == 1 && o.serial_p == 1);
}

/* How often, of all patterns of signs of values whose sizes come in this order, the lower end of the
 * interval of some look lies above 0. */
static double share_above(const struct sequential_plan *p, enum rank_method method,
                          const double *size, int n)
{
    int above = 0;
    for (int signs = 0; signs < 1 << n; signs++) {
        double x[N_MAX], centre, lo = -1, hi;
        for (int i = 0; i < n; i++)
            x[i] = signs >> i & 1 ? size[i] : -size[i];
        for (int k = 0; k < p->n && lo <= 0; k++)
            if (p->cut[method][k] >= 0)
                rank_interval(method, x, p->rounds[k], p->cut[method][k], &centre, &lo, &hi);
        above += lo > 0;
    }
    return ldexp(above, -n);
}

static void error_of_all_looks_together(void **state)
{
    (void)state;
    static const double sizes[][N_MAX] = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12.5},
                                          {12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1.5},
                                          {3, 12, 1, 7, 5, 2, 11, 4, 9, 6, 10, 8.5}};
    static const int rounds[] = {4, 6, 9, 12};
    static const double errors[] = {0.4, 0.15, 0.05, 0.01};
    for (size_t e = 0; e < sizeof errors / sizeof errors[0]; e++) {
        struct sequential_plan p;
        assert_int_equal(sequential_plan_at(errors[e], rounds, 4, &p), 0);
        for (size_t row = 0; row < sizeof sizes / sizeof sizes[0]; row++) {
            /* The sign test's is computed, that of signed ranks is not above what is said. */
            about(share_above(&p, RANK_SIGN, sizes[row], 12), p.spent[RANK_SIGN][3], 1e-15);
            assert_true(share_above(&p, RANK_SIGNED, sizes[row], 12) <= p.spent[RANK_SIGNED][3]);
        }
        for (int method = 0; method < RANK_METHODS; method++) {
            assert_true(p.spent[method][3] <= errors[e] / 2);
            for (int k = 0; k + 1 < p.n; k++)
                assert_true(p.spent[method][k] <=
                            errors[e] / 2 * log(1 + (exp(1) - 1) * rounds[k] / 12));
        }
    }
}

/* How often, of values that are independent, the interval of some look lies above the centre or below, by the sign
 * test. */
static double share_wrong(const struct sequential_plan *p)
{
    static double share[SEQUENTIAL_ROUNDS_MAX + 2];
    double wrong = 0;
    memset(share, 0, sizeof share);
    share[0] = 1;
    for (int k = 0, n = 0; k < p->n; k++) {
        for (; n < p->rounds[k]; n++)
            for (int s = n + 1; s >= 0; s--)
                share[s] = 0.5 * (share[s] + (s > 0 ? share[s - 1] : 0));
        for (int s = 0; s <= n; s++)
            if (s <= p->cut[RANK_SIGN][k] || n - s <= p->cut[RANK_SIGN][k]) {
                wrong += share[s];
                share[s] = 0;
            }
    }
    return wrong;
}

static void plans_that_go_on_spend_what_is_left(void **state)
{
    (void)state;
    enum { STAGES = 4 };
    static const struct sequential_stage going_on[][STAGES] = {
        {{8, 8}, {0, 64}},
        {{20, 20}, {0, 64}},
        {{8, 8}, {16, 16}, {32, 32}, {0, 64}},
        {{5, 8}, {0, 16}},
        {{64, 64}, {128, 0}},
        {{64, 64}, {0, 128}},
        {{7, 0}, {0, 64}},
        {{20, 0}, {60, 0}},
        {{6, 0}, {20, 0}, {40, 64}, {500, 0}},
        {{8, 8}, {86, 0}},
        {{30, 0}, {31, 0}, {32, 0}, {33, 0}}};
    for (size_t i = 0; i < sizeof going_on / sizeof going_on[0]; i++) {
        struct sequential_plan p = {0}, before;
        int n = 0;
        while (n < STAGES && (going_on[i][n].rounds || going_on[i][n].rounds_max)) {
            struct sequential_stage so_far[STAGES];
            before = p;
            memcpy(so_far, going_on[i], sizeof so_far);
            if (so_far[n].rounds_max > 0) so_far[n].rounds = 0; /* nobody knew */
            assert_int_equal(sequential_plan_stages(0.05, so_far, ++n, &p), 0);
            /* What has been looked at stays as it was. */
            for (int k = 0; n > 1 && k < before.n && before.rounds[k] <= going_on[i][n - 2].rounds;
                 k++)
                assert_int_equal(p.cut[RANK_SIGN][k], before.cut[RANK_SIGN][k]);
            for (int method = 0; method < RANK_METHODS; method++)
                assert_true(p.spent[method][p.n - 1] <= 0.025);
        }
        assert_true(share_wrong(&p) <= 0.05);
        assert_true(share_wrong(&p) > 0.02);
        assert_true(p.cut[RANK_SIGN][p.n - 1] >= 0);
    }
    /* One stage is the plan, or the look, that there is without stages. */
    struct sequential_plan stage, plan;
    assert_int_equal(sequential_plan_stages(0.05, &(struct sequential_stage){0, 64}, 1, &stage), 0);
    assert_int_equal(sequential_plan(0.05, 64, &plan), 0);
    assert_memory_equal(stage.cut, plan.cut, sizeof plan.cut);
    assert_memory_equal(stage.rounds, plan.rounds, sizeof plan.rounds);
}

static void looks_of_a_plan(void **state)
{
    (void)state;
    static const int usual[] = {8, 11, 15, 20, 27, 36, 48, 64};
    struct sequential_plan p;
    assert_int_equal(sequential_plan(0.05, 64, &p), 0);
    assert_int_equal(p.n, 8);
    for (int k = 0; k < p.n; k++) {
        assert_int_equal(p.rounds[k], usual[k]);
        assert_true(p.cut[RANK_SIGN][k] >= 0 && p.cut[RANK_SIGNED][k] >= 0);
    }
    for (int n = SEQUENTIAL_ROUNDS_MIN; n <= SEQUENTIAL_ROUNDS_MAX; n += n < 70 ? 1 : 100) {
        assert_int_equal(sequential_plan(0.05, n, &p), 0);
        assert_true(p.rounds[0] >= SEQUENTIAL_ROUNDS_MIN && p.rounds[p.n - 1] == n);
    }
    assert_int_equal(sequential_plan(0.0001, 8, &p), 0); /* no interval there, and none is made */
    assert_int_equal(p.n, 1);
    assert_int_equal(p.cut[RANK_SIGN][0], -1);
    /* A single look is the usual interval. */
    int n = 20;
    assert_int_equal(sequential_plan_at(0.05, &n, 1, &p), 0);
    assert_int_equal(p.cut[RANK_SIGNED][0], 52);
    assert_int_equal(p.cut[RANK_SIGN][0], 5);
}

static void measuring_that_ends_early_spends_what_is_left(void **state)
{
    (void)state;
    struct sequential_plan whole, ended;
    assert_int_equal(sequential_plan(0.05, 64, &whole), 0);
    ended = whole;
    assert_int_equal(sequential_plan_end(&ended, 24), 0);
    assert_int_equal(ended.n, 5);
    assert_int_equal(ended.rounds[4], 24);
    for (int method = 0; method < RANK_METHODS; method++) {
        for (int k = 0; k < 4; k++)
            assert_int_equal(ended.cut[method][k], whole.cut[method][k]);
        assert_true(ended.spent[method][4] <= 0.025);
        assert_true(ended.cut[method][4] >= 0);
    }
    assert_true(ended.cut[RANK_SIGN][4] >= whole.cut[RANK_SIGN][3]);
    assert_int_equal(sequential_plan_end(&whole, 6), 0); /* before the first look */
    assert_int_equal(whole.n, 1);
    assert_int_equal(whole.cut[RANK_SIGN][0], 0);
}

static const double quiet[] = {3, 5, 4, 6, 2, 5.5, 3.5, 4.5, 2.5, 6.5, 4.2};

static void verdicts_and_the_looks_that_gave_them(void **state)
{
    (void)state;
    struct sequential_plan p;
    struct sequential_state s = {0};
    struct sequential_data d = {.x = quiet, .n = 7, .symmetric = true, .burst = 1};
    struct sequential_bound b[] = {{.at = 1}, {.at = 7}, {.at = 4.1}, {.at = 2}, {.at = 6.5}};
    double rounds;
    assert_int_equal(sequential_plan(0.05, 64, &p), 0);
    assert_int_equal(sequential_run(&p, &d, &s, b, 5), 0);
    assert_int_equal(s.looks, 0); /* 7 rounds are none */
    assert_int_equal(b[0].side, 0);
    d.n = 8;
    assert_int_equal(sequential_run(&p, &d, &s, b, 5), 0);
    assert_int_equal(s.looks, 1);
    assert_true(s.last.exists && s.last.lo == 2 && s.last.hi == 6);
    assert_true(b[0].side == 1 && b[0].rounds == 8);
    assert_true(b[1].side == -1 && b[1].rounds == 8);
    assert_true(b[2].side == 0 && b[2].rounds == 0);
    assert_true(b[3].side == 0);  /* on the end of the interval: not above */
    assert_true(b[4].side == -1); /* at or below */
    assert_int_equal(sequential_needed(&p, &d, &s, 2, &rounds), 0);
    assert_true(rounds == 11 || rounds == 15);
    assert_int_equal(sequential_needed(&p, &d, &s, 4.1, &rounds), 0);
    assert_true(rounds > 64);
    assert_int_equal(sequential_needed(&p, &d, &s, s.last.centre, &rounds), 0);
    assert_true(isinf(rounds));
    d.n = 3;
    assert_int_equal(sequential_needed(&p, &d, &s, 2, &rounds), 0);
    assert_true(isnan(rounds));
}

static void nothing_is_decided_of_what_changes(void **state)
{
    (void)state;
    struct sequential_plan p;
    struct sequential_state s = {0};
    struct sequential_bound b = {.at = 0};
    double up[11], even[11], fours[11], value;
    for (int i = 0; i < 11; i++)
        up[i] = 1 + i;
    assert_int_equal(sequential_plan(0.05, 64, &p), 0);
    struct sequential_data d = {.x = up, .n = 11, .burst = 1};
    assert_int_equal(sequential_run(&p, &d, &s, &b, 1), 0);
    assert_true(s.last.drifting && !s.last.exists && b.side == 0);
    assert_int_equal(sequential_p(&d, 0, &value), 0);
    assert_true(value == 1);
    /* Looks that contradict each other take the verdict back: here as if the first had seen less. */
    d = (struct sequential_data){.x = quiet, .n = 11, .burst = 1};
    s = (struct sequential_state){0};
    assert_int_equal(sequential_look(&p, &d, &s, &b, 1), 0);
    assert_int_equal(b.side, 1);
    s.common_hi = 0.5;
    assert_int_equal(sequential_look(&p, &d, &s, &b, 1), 0);
    assert_true(s.conflict && b.side == 0 && b.rounds == 0);
    /* Disturbances said to last 3 rounds: 8 rounds are too few. */
    for (int i = 0; i < 11; i++) {
        even[i] = 4 + (i % 2 ? 0.1 : -0.1) * (i + 1);
        fours[i] = 4 + (i / 4 % 2 ? 1 : -1) + 0.01 * (i * 7 % 5);
    }
    d = (struct sequential_data){.x = even, .n = 8, .burst = 3};
    s = (struct sequential_state){0};
    assert_int_equal(sequential_run(&p, &d, &s, &b, 1), 0);
    assert_true(!s.last.exists && s.last.widening == sqrt(2));
    /* Rounds alike in fours: correlation is seen, and the interval wider. */
    d = (struct sequential_data){.x = fours, .n = 11, .burst = 1};
    s = (struct sequential_state){0};
    assert_int_equal(sequential_run(&p, &d, &s, &b, 1), 0);
    assert_true(s.last.correlation > 0 && s.last.widening > 1);
    /* Not so of pairs whose order coins decide, which owe nothing to those before, unless skew tells that
     * the noise is one side's. */
    d.symmetric = true;
    s = (struct sequential_state){0};
    assert_int_equal(sequential_run(&p, &d, &s, &b, 1), 0);
    assert_true(!s.last.skewed && s.last.correlation > 0 && s.last.widening == 1);
    for (int i = 0; i < 11; i++)
        fours[i] = (i / 3 == 2 ? 3 : 0) + 0.01 * (i * 7 % 5);
    s = (struct sequential_state){0};
    assert_int_equal(sequential_run(&p, &d, &s, &b, 1), 0);
    assert_true(s.last.skewed && s.last.correlation > 0 && s.last.widening > 1);
}

static void signed_ranks_where_values_are_symmetric_by_design(void **state)
{
    (void)state;
    struct sequential_plan p;
    struct sequential_state s = {0};
    double skewed[20], p_value, sign_p;
    assert_int_equal(sequential_plan(0.05, 64, &p), 0);
    struct sequential_data d = {.x = quiet, .n = 11, .symmetric = true, .burst = 1};
    assert_int_equal(sequential_run(&p, &d, &s, NULL, 0), 0);
    assert_true(s.last.method == RANK_SIGNED && !s.last.skewed);
    d.symmetric = false;
    s = (struct sequential_state){0};
    assert_int_equal(sequential_run(&p, &d, &s, NULL, 0), 0);
    assert_int_equal(s.last.method, RANK_SIGN);
    assert_int_equal(sequential_p(&d, 1, &p_value), 0);
    rank_p(RANK_SIGN, quiet, 11, 1, s.last.widening, &sign_p);
    assert_true(p_value == sign_p);
    for (int i = 0; i < 20; i++)
        skewed[i] = -log((i * 7 % 20 + 0.5) / 20);
    d = (struct sequential_data){.x = skewed, .n = 20, .symmetric = true, .burst = 1};
    s = (struct sequential_state){0};
    assert_int_equal(sequential_run(&p, &d, &s, NULL, 0), 0);
    assert_true(s.last.method == RANK_SIGN && s.last.skewed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signed_ranks_are_those_of_all_signs),
        cmocka_unit_test(signed_ranks_of_many_values),
        cmocka_unit_test(published_critical_values_of_t),
        cmocka_unit_test(sign_test_is_binomial),
        cmocka_unit_test(interval_and_p_of_published_values),
        cmocka_unit_test(ties_and_zeros_miss_no_more_often),
        cmocka_unit_test(widening_spans_more_values),
        cmocka_unit_test(skew_is_seen),
        cmocka_unit_test(order_statistics_of_all_orders),
        cmocka_unit_test(error_of_all_looks_together),
        cmocka_unit_test(looks_of_a_plan),
        cmocka_unit_test(plans_that_go_on_spend_what_is_left),
        cmocka_unit_test(measuring_that_ends_early_spends_what_is_left),
        cmocka_unit_test(verdicts_and_the_looks_that_gave_them),
        cmocka_unit_test(nothing_is_decided_of_what_changes),
        cmocka_unit_test(signed_ranks_where_values_are_symmetric_by_design),
    };
    return cmocka_run_group_tests_name("sequential", tests, NULL, NULL);
}
