/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A call that waits for an array says afterwards which places have ended, but their requests are gone
 * then. So of the arrays waited for last a copy is kept. One of up to COMPARED is compared with its
 * copy before each call; of a longer one some places are, in turn, and what is posted into it is
 * seen by its address. Where a program copies requests about in a long array, a wait may count as
 * one for MPI-IO that is none, or the other way round; what was read and written is not affected. */
#include "companions/profile/preload/requests.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "companions/profile/preload/count.h"
#include "companions/profile/preload/table.h"

#define LISTS    4
#define COMPARED 1024
#define SAMPLED  64

static struct list {
    const MPI_Request *at;
    int n, room, ours_n; /* ours_n: of MPI-IO */
    int sample;
    MPI_Request *copy;
    bool *ours;
} lists[LISTS];
static int oldest;
static struct table known; /* by request */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t key_of(MPI_Request request)
{
    uint64_t key = 0;
    memcpy(&key, &request, sizeof request);
    return key;
}

static void note(struct list *l, int i, MPI_Request request)
{
    const bool ours = table_find(&known, key_of(request)) != NULL;
    l->ours_n += ours - l->ours[i];
    l->ours[i] = ours;
    l->copy[i] = request;
}

void requests_posted(const MPI_Request *at)
{
    static char posted;
    if (*at == MPI_REQUEST_NULL) return;
    count_hold(&lock);
    (void)table_put(&known, key_of(*at), &posted);
    for (struct list *l = lists; l < lists + LISTS; l++)
        if ((uintptr_t)at >= (uintptr_t)l->at && (uintptr_t)at < (uintptr_t)(l->at + l->n))
            note(l, (int)(at - l->at), *at);
    count_release(&lock);
}

/* The copy of an array, as it is now. NULL: no memory. */
static struct list *list_of(int n, const MPI_Request *at)
{
    struct list *l = lists;
    while (l < lists + LISTS && (l->at != at || l->n != n))
        l++;
    if (l == lists + LISTS) {
        l = &lists[oldest];
        oldest = (oldest + 1) % LISTS;
        if (l->room < n) {
            free(l->copy);
            free(l->ours);
            l->copy = malloc((size_t)n * sizeof *l->copy);
            l->ours = malloc((size_t)n * sizeof *l->ours);
            l->room = l->copy && l->ours ? n : 0;
        }
        l->at = l->room < n ? NULL : at;
        l->n = l->room < n ? 0 : n;
        l->ours_n = 0;
        if (!l->at) return NULL;
        memset(l->ours, 0, (size_t)n * sizeof *l->ours);
        for (int i = 0; i < n; i++)
            note(l, i, at[i]);
    } else if (n > COMPARED) {
        for (int k = 0; k < SAMPLED; k++, l->sample = (l->sample + 1) % n)
            if (l->copy[l->sample] != at[l->sample]) note(l, l->sample, at[l->sample]);
    } else if (memcmp(l->copy, at, (size_t)n * sizeof *at) != 0) {
        for (int i = 0; i < n; i++)
            if (l->copy[i] != at[i]) note(l, i, at[i]);
    }
    return l;
}

bool requests_waited(int n, const MPI_Request *list, MPI_Request *before)
{
    bool any = false;
    *before = MPI_REQUEST_NULL;
    if (__atomic_load_n(&known.n, __ATOMIC_RELAXED) == 0 || n <= 0) return false;
    count_hold(&lock);
    if (n == 1) {
        *before = *list;
        any = table_find(&known, key_of(*list)) != NULL;
    } else {
        const struct list *l = list_of(n, list);
        any = l && l->ours_n > 0;
    }
    count_release(&lock);
    return any;
}

static void end(struct list *l, int i, MPI_Request now)
{
    if (now != MPI_REQUEST_NULL || l->copy[i] == now) return;
    table_remove(&known, key_of(l->copy[i]));
    note(l, i, now);
}

void requests_ended(int n, const MPI_Request *list, MPI_Request before, int done_n,
                    const int *places)
{
    count_hold(&lock);
    struct list *l = lists;
    while (l < lists + LISTS && (l->at != list || l->n != n))
        l++;
    if (n == 1) {
        if (*list == MPI_REQUEST_NULL) table_remove(&known, key_of(before));
    } else if (l < lists + LISTS) {
        for (int i = 0; i < (done_n < 0 ? n : done_n); i++) {
            const int place = done_n < 0 ? i : places[i];
            if (place >= 0 && place < n) end(l, place, list[place]);
        }
    }
    count_release(&lock);
}
