/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures what this computer can do at most: the rate of fused multiply-adds (or of
 * multiplications and additions) for every instruction set in the binary, and the bandwidth of a
 * triad, each with one thread, two, four, ... and one per core. Work is done in short windows, all
 * threads at once; the best window counts, so that a disturbance costs windows and not the result.
 * JSON to a file or to standard output. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/conf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/start.h"
#include "base/sys.h"
#include "base/version.h"
#include "base/watch.h"
#include "bench/peak.h"

#define SCHEMA      "nht1-peak/1"
#define COUNTS_MAX  64
#define TRIAD_BYTES 24.0 /* per element: two read, one written; reading a line to write it not */
#define LLC_TIMES   4    /* an array is that many last-level caches long */
#define ARRAY_MIN   (INT64_C(64) << 20)
#define TRIAD_TIMES 12

#define KERNEL(name) extern const struct peak_unit peak_unit_##name;
PEAK_ISAS
#undef KERNEL

const struct peak_unit *peak_unit_at(int i)
{
#define KERNEL(name) &peak_unit_##name,
    static const struct peak_unit *const list[] = {PEAK_ISAS};
#undef KERNEL
    return i >= 0 && (size_t)i < sizeof list / sizeof list[0] ? list[i] : NULL;
}

struct options {
    double seconds, window_s;
    int64_t threads, array_bytes;
    const char *json;
};

#define AT(member) CONF_AT(struct options, member)

static const struct conf_option table[] = {
    {.name = "seconds",
     .arg = "S",
     .def = "0.5",
     CONF_RANGE(0.001, 3600),
     .help = "Seconds spent on each instruction set and number of threads.",
     AT(seconds),
     .group = "How it is measured"},
    {.name = "window",
     .arg = "S",
     .def = "0.002",
     CONF_RANGE(1e-5, 10),
     .help = "Length of a window in seconds, about. Short ones fit between disturbances.",
     AT(window_s)},
    {.name = "threads",
     .arg = "N",
     CONF_RANGE(1, 4096),
     .help = "Threads at most. Default: one per core that this process may use.",
     AT(threads)},
    {.name = "array",
     .arg = "BYTES",
     CONF_RANGE(4096, 1e15),
     .help = "Length of each of the three arrays of the triad. Default: four times the last-level "
             "caches, 64 MiB at least, and at most a twelfth of the free memory.",
     AT(array_bytes)},
    {.name = "json",
     .arg = "FILE",
     .help = "Where the result goes. Default: standard output.",
     AT(json),
     .output = true},
    {.name = NULL},
};

static const struct conf_program program = {
    .name = "peak",
    .version = nht1_build,
    .summary = "Peak rates of this computer: fused multiply-adds per instruction set, and the "
               "bandwidth of a[i] = b[i] + s c[i] over arrays larger than the last-level cache.",
    .examples = "  peak --seconds 2 --json peak.json\n",
    .options = table,
};

/* Seconds of a window of all threads: from the first start to the last end. */
static double fma_window(const struct peak_unit *u, int threads, int64_t rounds)
{
    double first = INFINITY, last = 0, sum = 0;
#pragma omp parallel num_threads(threads) reduction(min : first)                          \
    reduction(max : last) reduction(+ : sum)
    {
#pragma omp barrier
        first = watch_now();
        sum = u->chains(rounds, 1.0 + 0.01 * omp_get_thread_num());
        last = watch_now();
    }
    return isfinite(sum) ? last - first : NAN;
}

/* flop/s of the best window. */
static double fma_rate(const struct peak_unit *u, int threads, const struct options *o)
{
    int64_t rounds = 1000;
    while (fma_window(u, 1, rounds) < 0.5 * o->window_s)
        rounds *= 2;
    double best = 0;
    const double end = watch_now() + o->seconds;
    do {
        const double s = fma_window(u, threads, rounds);
        best = fmax(best, u->flop_per_round * (double)rounds * threads / s);
    } while (watch_now() < end);
    return best;
}

struct arrays {
    double *a, *b, *c;
    int64_t n;
};

/* The part of a thread, in whole cache lines. */
static int64_t thread_share(int64_t n, int threads, int t)
{
    return n / 8 * t / threads * 8;
}

static double triad_window(const struct peak_unit *u, int threads, const struct arrays *x)
{
    double first = INFINITY, last = 0;
#pragma omp parallel num_threads(threads) reduction(min : first) reduction(max : last)
    {
        const int t = omp_get_thread_num();
        const int64_t lo = thread_share(x->n, threads, t), hi = thread_share(x->n, threads, t + 1);
#pragma omp barrier
        first = watch_now();
        u->triad(x->a + lo, x->b + lo, x->c + lo, 3.0, hi - lo);
        last = watch_now();
    }
    return last - first;
}

static double triad_rate(const struct peak_unit *u, int threads, const struct arrays *x)
{
    double best = 0;
    for (int i = 0; i < TRIAD_TIMES; i++)
        best = fmax(best, TRIAD_BYTES * (double)x->n / triad_window(u, threads, x));
    return best;
}

/* Bytes of the caches of the last level, as the system record tells them. */
static int64_t last_level_bytes(const json_t *system)
{
    const json_t *cache;
    size_t i;
    int64_t level = 0, bytes = 0;
    json_array_foreach(json_object_get(json_object_get(system, "cpu"), "caches"), i, cache)
    {
        const int64_t l = json_integer_value(json_object_get(cache, "level"));
        if (l < level) continue;
        level = l;
        bytes = json_integer_value(json_object_get(cache, "bytes")) *
                json_integer_value(json_object_get(cache, "n"));
    }
    return bytes;
}

/* Arrays LLC_TIMES as long as the last-level caches, but a quarter of the free memory in all. asked_bytes:
 * instead; 0: nothing is asked. */
static int arrays_make(struct arrays *x, int64_t llc_bytes, int64_t asked_bytes, int threads)
{
    struct sys_memory m;
    sys_memory(&m);
    int64_t bytes = llc_bytes * LLC_TIMES > ARRAY_MIN ? llc_bytes * LLC_TIMES : ARRAY_MIN;
    if (bytes > m.free_bytes / 12) bytes = m.free_bytes / 12;
    bytes = (asked_bytes > 0 ? asked_bytes : bytes) / 4096 * 4096;
    double **const array[] = {&x->a, &x->b, &x->c};
    x->n = bytes / (int64_t)sizeof(double);
    for (int i = 0; i < 3; i++) {
        *array[i] = aligned_alloc(4096, (size_t)bytes);
        if (!*array[i]) return mem_error("arrays of the triad");
    }
#pragma omp parallel num_threads(threads)
    {
        const int t = omp_get_thread_num();
        for (int64_t i = thread_share(x->n, threads, t); i < thread_share(x->n, threads, t + 1);
             i++) {
            x->a[i] = 0;
            x->b[i] = 1 + (double)(i % 7);
            x->c[i] = 2;
        }
    }
    return 0;
}

/* 1, 2, 4 ... and most. */
static int counts_of(int most, int count[COUNTS_MAX])
{
    int n = 0;
    for (int t = 1; t < most; t *= 2)
        count[n++] = t;
    count[n++] = most;
    return n;
}

static void add_rate(json_t *to, int threads, const char *key, double rate)
{
    json_t *o = json_object();
    js_set(o, "threads", json_integer(threads));
    js_set(o, key, js_real(rate));
    json_array_append_new(to, o);
}

static json_t *fma_json(const struct options *o, const int *count, int n)
{
    json_t *list = json_array();
    const struct peak_unit *u;
    for (int i = 0; (u = peak_unit_at(i)) != NULL; i++) {
        json_t *entry = json_object(), *rates = json_array();
        js_set(entry, "isa", json_string(u->isa));
        js_set(entry, "arithmetic", json_string(u->arithmetic));
        js_set(entry, "width_bits", json_integer(u->width_bits));
        js_set(entry, "supported", json_boolean(u->supported()));
        for (int c = 0; c < n && u->supported(); c++)
            add_rate(rates, count[c], "flop_per_s", fma_rate(u, count[c], o));
        js_set(entry, "rates", rates);
        json_array_append_new(list, entry);
    }
    return list;
}

static json_t *triad_json(const struct arrays *x, const int *count, int n)
{
    json_t *o = json_object(), *rates = json_array();
    int i = 0;
    while (!peak_unit_at(i)->supported())
        i++;
    for (int c = 0; c < n; c++)
        add_rate(rates, count[c], "bytes_per_s", triad_rate(peak_unit_at(i), count[c], x));
    js_set(o, "isa", json_string(peak_unit_at(i)->isa));
    js_set(o, "array_bytes", json_integer(8 * x->n));
    js_set(o, "rates", rates);
    return o;
}

static int measure(const void *opts, const struct conf_list *args)
{
    const struct options *o = opts;
    struct arrays x = {0};
    struct sys_cpu cpu;
    int count[COUNTS_MAX], rc;
    (void)args;
    sys_cpu(&cpu);
    /* Cores, not the logical processors that share them. */
    const int cores = cpu.cores_allowed_n > 0 ? cpu.cores_allowed_n : 1;
    const int threads = o->threads > 0 ? (int)o->threads : cores, n = counts_of(threads, count);
    json_t *result = json_object(), *system = sys_json();
    omp_set_dynamic(0);
    TRY_TO(out, rc, arrays_make(&x, last_level_bytes(system), o->array_bytes, threads));
    js_set(result, "schema", json_string(SCHEMA));
    js_set(result, "threads_max", json_integer(threads));
    js_set(result, "fma", fma_json(o, count, n));
    js_set(result, "triad", triad_json(&x, count, n));
    js_set(result, "system", json_incref(system));
    rc = js_result(o->json ? o->json : "-", result);
out:
    free(x.a);
    free(x.b);
    free(x.c);
    json_decref(system);
    json_decref(result);
    return rc;
}

int main(int argc, char **argv)
{
    struct options o;
    return start_program(&program, argc, argv, &o, measure);
}
