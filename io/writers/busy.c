/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/writers/busy.h"

#include <pthread.h>
#include <stdlib.h>

struct io_busy {
    pthread_mutex_t lock;
    int64_t n, room;
    struct io_interval *at; /* [room] */
};

struct io_busy *io_busy_new(void)
{
    struct io_busy *b = calloc(1, sizeof *b);
    if (b && pthread_mutex_init(&b->lock, NULL) != 0) {
        free(b);
        b = NULL;
    }
    return b;
}

void io_busy_free(struct io_busy *b)
{
    if (!b) return;
    pthread_mutex_destroy(&b->lock);
    free(b->at);
    free(b);
}

void io_busy_add(struct io_busy *b, double start_s, double end_s)
{
    if (!b || !(end_s > start_s)) return;
    pthread_mutex_lock(&b->lock);
    if (b->n == b->room) {
        const int64_t room = b->room ? 2 * b->room : 64;
        struct io_interval *at = realloc(b->at, (size_t)room * sizeof *at);
        if (at) b->at = at;
        if (at) b->room = room;
    }
    if (b->n < b->room) b->at[b->n++] = (struct io_interval){start_s, end_s};
    pthread_mutex_unlock(&b->lock);
}

static int by_start(const void *a, const void *b)
{
    const struct io_interval *x = a, *y = b;
    return (x->start_s > y->start_s) - (x->start_s < y->start_s);
}

/* Sorts and merges the intervals, clipped to whole. */
static void merge_intervals(struct io_busy *b, struct io_interval whole)
{
    int64_t kept = 0;
    if (b->n > 0) qsort(b->at, (size_t)b->n, sizeof *b->at, by_start);
    for (int64_t i = 0; i < b->n; i++) {
        struct io_interval v = b->at[i];
        if (v.start_s < whole.start_s) v.start_s = whole.start_s;
        if (v.end_s > whole.end_s) v.end_s = whole.end_s;
        if (kept > 0 && v.start_s < b->at[kept - 1].end_s) v.start_s = b->at[kept - 1].end_s;
        if (v.end_s > v.start_s) b->at[kept++] = v;
    }
    b->n = kept;
}

static double overlap_s(struct io_interval a, struct io_interval b)
{
    const double start_s = a.start_s > b.start_s ? a.start_s : b.start_s;
    const double end_s = a.end_s < b.end_s ? a.end_s : b.end_s;
    return end_s > start_s ? end_s - start_s : 0.0;
}

double io_busy_seconds(struct io_busy *b, struct io_interval whole, const struct io_interval *calls,
                       int64_t calls_n, double *apart_s)
{
    double all_s = 0, inside_s = 0;
    pthread_mutex_lock(&b->lock);
    merge_intervals(b, whole);
    for (int64_t i = 0, c = 0; i < b->n; i++) {
        all_s += b->at[i].end_s - b->at[i].start_s;
        while (c < calls_n && calls[c].end_s <= b->at[i].start_s)
            c++;
        for (int64_t k = c; k < calls_n && calls[k].start_s < b->at[i].end_s; k++)
            inside_s += overlap_s(b->at[i], calls[k]);
    }
    pthread_mutex_unlock(&b->lock);
    if (apart_s) *apart_s = all_s - inside_s;
    return all_s;
}
