/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/workload/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "companions/workload/data.h"
#include "companions/workload/random.h"
#include "companions/workload/runs.h"

/* What the five shuffled vectors of a point are about, and the offsets. */
enum { READ, COLLECTIVE, BLOCKING, SEQUENTIAL, SHARED, VECTORS, OFFSETS = VECTORS, SEEKS };

/* part (i + 1) / n of a total minus part i / n: equal parts, whole bytes. */
static int64_t part_begin(int64_t total, int64_t i, int64_t n)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a point has a process and an access */
    return (int64_t)((__int128)total * i / n);
}

bool workload_point_holes(const struct workload_point *p)
{
    return p->cont_mean < p->size_mean && p->process_num > 1;
}

/* Bytes of a block in the view of a process. own: what is said of it alone, or NULL. */
static int64_t view_block(const struct workload_point *p, const struct workload_rank *own)
{
    const int64_t block = num_round(own && own->cont_mean > 0 ? own->cont_mean : p->cont_mean);
    return block > 0 ? block : 1;
}

struct workload_view workload_point_view(const struct workload_point *p, int rank)
{
    const int64_t usual = view_block(p, NULL);
    struct workload_view v = {INT64_MAX, 0, INT64_MAX};
    if (!workload_point_holes(p) || rank >= p->process_num) return v;
    v = (struct workload_view){usual, rank * usual, p->process_num * usual};
    for (int i = 0; i < p->ranks_n; i++) {
        const int64_t more = view_block(p, &p->rank[i]) - usual;
        v.tile_bytes += more;
        if (p->rank[i].of < rank) v.begin += more;
        if (p->rank[i].of == rank) v.block_bytes += more;
    }
    return v;
}

static const struct workload_rank *rank_of(const struct workload_point *p, int rank)
{
    for (int i = 0; i < p->ranks_n; i++)
        if (p->rank[i].of == rank) return &p->rank[i];
    return NULL;
}

/* The part of uniqueBytes that is a process's. begin: [out] where it begins when the parts lie one
 * after the other. */
static int64_t share_of(const struct workload_point *p, int rank, int64_t *begin)
{
    const struct workload_rank *own = rank_of(p, rank);
    int64_t listed = 0, before = 0, listed_before = 0;
    for (int i = 0; i < p->ranks_n; i++) {
        listed += p->rank[i].bytes;
        if (p->rank[i].of >= rank) continue;
        before += p->rank[i].bytes;
        listed_before++;
    }
    const int64_t others = p->process_num - p->ranks_n, left = p->unique_bytes - listed;
    const int64_t index = rank - listed_before;
    *begin = before + (others > 0 ? part_begin(left, index, others) : 0);
    if (own) return own->bytes;
    return part_begin(left, index + 1, others) - part_begin(left, index, others);
}

/* Where calls of a process begin that have places of their own. */
static int64_t calls_begin(const struct workload_point *p, bool separate,
                           const struct workload_calls *c, int64_t rank)
{
    if (separate) return c->begin;
    return c->begin + (c->shifted ? rank * c->shift : num_round((double)rank * p->size_mean));
}

/* Where the calls end that a process has at places of their own; 0: it has none. */
static int64_t spans_end(const struct workload_point *p, bool separate,
                         const struct workload_calls *list, int n, int64_t rank)
{
    int64_t end = 0;
    for (int i = 0; i < n; i++)
        if (workload_calls_placed(&list[i]))
            end = num_max(end, num_sum(calls_begin(p, separate, &list[i], rank),
                                       workload_calls_extent(&list[i])));
    return end;
}

static bool all_placed(const struct workload_calls *list, int n)
{
    for (int i = 0; i < n; i++)
        if (list[i].bytes > 0 && !workload_calls_placed(&list[i])) return false;
    return true;
}

/* Whether all calls of all processes have places of their own, so that their parts of the file have none. */
static bool has_places(const struct workload_point *p)
{
    bool all = p->list_n > 0 && all_placed(p->list, p->list_n);
    for (int r = 0; r < p->ranks_n; r++)
        all = all && (p->rank[r].list_n > 0 || p->rank[r].calls == 0) &&
              all_placed(p->rank[r].list, p->rank[r].list_n);
    return all;
}

int64_t workload_point_length(const struct workload_point *p, bool separate, int rank)
{
    if (!workload_point_holes(p)) {
        const struct workload_rank *own = rank_of(p, rank);
        int64_t begin, length = separate ? share_of(p, rank, &begin) : p->unique_bytes;
        int64_t end = 0;
        int64_t usual[2];
        workload_point_usual(p, usual);
        if (has_places(p)) length = 0;
        for (int e = 0; e < 2 && usual[0] <= usual[1]; e++)
            if (!separate || !own || own->list_n == 0)
                end = num_max(end, spans_end(p, separate, p->list, p->list_n, usual[e]));
        if (end > length) length = end;
        for (int i = 0; i < p->ranks_n; i++) {
            const struct workload_rank *r = &p->rank[i];
            if (separate && r != own) continue;
            end = spans_end(p, separate, r->list, r->list_n, r->of);
            if (end > length) length = end;
        }
        return length;
    }
    /* The longest view decides; those that are not listed differ by a byte. */
    const int64_t others = p->process_num - p->ranks_n;
    int64_t left = p->unique_bytes, tiles = 0;
    for (int i = 0; i < p->ranks_n; i++) {
        const int64_t block = view_block(p, &p->rank[i]);
        const int64_t blocks = (p->rank[i].bytes + block - 1) / block;
        left -= p->rank[i].bytes;
        if (blocks > tiles) tiles = blocks;
    }
    const int64_t usual = view_block(p, NULL);
    const int64_t blocks = others > 0 ? ((left + others - 1) / others + usual - 1) / usual : 0;
    if (blocks > tiles) tiles = blocks;
    return tiles * workload_point_view(p, 0).tile_bytes;
}

/* --- the kinds and sizes of calls ----------------------------------------------------------- */

/* A vector of n of which so many are true, in an order that only the seed and n decide. */
static void vector(uint64_t seed, int which, double fraction, int64_t n, unsigned char *out)
{
    const int64_t ones = llround(fraction * (double)n);
    struct random r = random_begin(seed, (uint64_t)which);
    memset(out, 0, (size_t)n);
    memset(out, 1, (size_t)ones);
    for (int64_t i = n - 1; i > 0; i--) {
        const int64_t j = random_below(&r, i + 1);
        const unsigned char kept = out[i];
        out[i] = out[j];
        out[j] = kept;
    }
}

static int kinds_by_fractions(const struct workload_point *p, uint64_t seed,
                              struct workload_plan *plan)
{
    const double fraction[VECTORS] = {p->read_frac, p->coll_frac, p->sync_frac, p->seq_frac,
                                      p->shared_frac};
    unsigned char *v = mem_new(plan->n, VECTORS, "%lld calls", (long long)plan->n);
    if (!v) return ERR_NOMEM;
    for (int i = 0; i < VECTORS; i++)
        vector(seed, i, fraction[i], plan->n, v + i * plan->n);
    /* The first call begins at the process's own part and so counts as sequential. */
    unsigned char *sequential = v + SEQUENTIAL * plan->n;
    unsigned char *one = plan->n > 0 ? memchr(sequential, 1, (size_t)plan->n) : NULL;
    if (one) *one = sequential[0];
    if (one) sequential[0] = 1;
    for (int64_t c = 0; c < plan->n; c++) {
        const unsigned char *bit = v + c;
        struct workload_kind k = {.collective = bit[COLLECTIVE * plan->n],
                                  .write = !bit[READ * plan->n]};
        k.position = bit[SHARED * plan->n]       ? WORKLOAD_SHARED
                     : bit[SEQUENTIAL * plan->n] ? WORKLOAD_INDIVIDUAL
                                                 : WORKLOAD_EXPLICIT;
        k.sync = bit[BLOCKING * plan->n]                       ? WORKLOAD_BLOCKING
                 : !k.collective                               ? WORKLOAD_REQUEST
                 : p->request && k.position != WORKLOAD_SHARED ? WORKLOAD_REQUEST
                                                               : WORKLOAD_SPLIT;
        /* A random call with the shared pointer is one that is sought for first. */
        plan->call[c].seek =
            k.position == WORKLOAD_SHARED && !bit[SEQUENTIAL * plan->n] ? 0 : WORKLOAD_NO_SEEK;
        plan->call[c].kind = workload_kind_index(k);
    }
    free(v);
    return 0;
}

/* Sizes of so many calls from first on that share bytes equally, whole bytes, in multiples of size
 * with a short last one where size is given. */
static void set_sizes(struct workload_plan *plan, int64_t first, int64_t n, int64_t bytes,
                      double size)
{
    int64_t done = 0;
    for (int64_t c = 0; c < n; c++) {
        int64_t end =
            size > 0 ? (int64_t)floor((double)(c + 1) * size) : part_begin(bytes, c + 1, n);
        if (end > bytes || c == n - 1) end = bytes;
        plan->call[first + c].bytes = end - done;
        done = end;
    }
}

/* Places of calls that begin at one of their own: one after the other, or, with skips, pieces of as many calls each
 * between these, and what is skipped evenly over them. A span that is shorter than the bytes is gone through again
 * and again. */
static void place_calls(const struct workload_calls *calls, int64_t begin,
                        struct workload_call *call)
{
    const int64_t skipped = calls->span - calls->bytes;
    int64_t done = 0, at = begin;
    for (int64_t i = 0; i < calls->n; i++) {
        const int64_t lead = calls->lead;
        const int64_t before = lead == 0  ? part_begin(calls->skips + 1, i, calls->n)
                               : i < lead ? 0
                                          : 1 + part_begin(calls->skips, i - lead, calls->n - lead);
        if (calls->skips == 0)
            at = begin + done;
        else if (skipped >= 0)
            at = begin + done + part_begin(skipped, before, calls->skips);
        else if (at + call[i].bytes > begin + calls->span)
            at = begin;
        call[i].offset = at;
        at += call[i].bytes;
        done += call[i].bytes;
    }
}

/* Calls as they are listed, one function after the other in an order that is the same for all. */
static void kinds_by_list(const struct workload_point *p, bool separate, int rank,
                          const struct workload_calls *list, int list_n, struct workload_plan *plan)
{
    int64_t c = 0;
    for (int kind = 0; kind < WORKLOAD_KINDS; kind++)
        for (int i = 0; i < list_n; i++) {
            if (list[i].kind != kind) continue;
            set_sizes(plan, c, list[i].n, list[i].bytes, 0);
            if (workload_calls_placed(&list[i]))
                place_calls(&list[i], calls_begin(p, separate, &list[i], rank), &plan->call[c]);
            for (int64_t end = c + list[i].n; c < end; c++) {
                plan->call[c].kind = kind;
                plan->call[c].seek = WORKLOAD_NO_SEEK;
            }
        }
}

/* --- positions ------------------------------------------------------------------------------ */

/* A multiple of sizeMean from which so many bytes lie inside the length; another one than not_at,
 * where there is any other. */
static int64_t random_offset(struct random *r, double size, int64_t bytes, int64_t length,
                             int64_t not_at)
{
    const int64_t most = bytes < length ? (int64_t)((double)(length - bytes) / size) : 0;
    const int64_t drawn = random_below(r, most + 1);
    int64_t at = 0;
    for (int64_t next = drawn; next <= drawn + 1; next++) {
        at = llround((double)(next % (most + 1)) * size);
        if (at > length - bytes) at = length - bytes;
        if (at < 0) at = 0;
        if (at != not_at) break;
    }
    return at;
}

/* Bytes that all processes move with the shared pointer until it is sought again. */
static int64_t run_bytes(const struct workload_point *p, const struct workload_plan *plan,
                         int64_t c)
{
    double sum = 0;
    for (int64_t i = c; i < plan->n && (i == c || plan->call[i].seek == WORKLOAD_NO_SEEK); i++)
        if (workload_kind_of(plan->call[i].kind).position == WORKLOAD_SHARED)
            sum += (double)p->process_num * ceil(p->size_mean);
    return sum < (double)p->unique_bytes ? (int64_t)sum : p->unique_bytes;
}

/* Bytes that this process moves from a call on until it jumps again: what has to fit behind it. */
static int64_t own_run_bytes(const struct workload_plan *plan, int64_t c)
{
    int64_t sum = plan->call[c].bytes;
    for (int64_t i = c + 1; i < plan->n; i++) {
        const enum workload_position at = workload_kind_of(plan->call[i].kind).position;
        if (at == WORKLOAD_EXPLICIT) break;
        if (at == WORKLOAD_INDIVIDUAL) sum += plan->call[i].bytes;
    }
    return sum;
}

/* What this process reads or writes by the individual pointer, one call after the other. */
static int64_t individual_bytes(const struct workload_plan *plan, bool write)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < plan->n; i++) {
        const struct workload_kind k = workload_kind_of(plan->call[i].kind);
        if (k.position == WORKLOAD_INDIVIDUAL && k.write == write && plan->call[i].offset < 0)
            sum += plan->call[i].bytes;
    }
    return sum;
}

/* The first call begins at the process's own part. By fractions, a call with the individual pointer
 * begins where the one before ended, whichever pointer that used, and one with an explicit offset
 * somewhere else. Of listed calls the number is known, not the order: the individual pointer goes on by itself,
 * and with explicit offsets reading and writing do, each behind what that pointer reads or writes. */
static void set_offsets(const struct workload *w, const struct workload_point *p, uint64_t seed,
                        int rank, struct workload_plan *plan)
{
    struct random offsets = random_begin(seed, (uint64_t)OFFSETS + ((uint64_t)rank << 8));
    struct random seeks = random_begin(seed, SEEKS); /* the same on all */
    const bool holes = workload_point_holes(p), listed = p->list_n > 0 || p->ranks_n > 0;
    int64_t length = workload_point_length(p, w->separate, rank);
    if (holes) {
        const struct workload_view view = workload_point_view(p, rank);
        length = length / view.tile_bytes * view.block_bytes;
    }
    int64_t individual, read_at, write_at; /* where the next one begins, of each kind */
    individual = plan->begin;
    read_at = plan->begin + (listed ? individual_bytes(plan, false) : 0);
    write_at = plan->begin + (listed ? individual_bytes(plan, true) : 0);
    int64_t pointer = plan->begin; /* the individual one */
    for (int64_t i = 0; i < plan->n; i++) {
        struct workload_call *c = &plan->call[i];
        const struct workload_kind k = workload_kind_of(c->kind);
        int64_t *next = !listed || k.position == WORKLOAD_INDIVIDUAL ? &individual
                        : k.write                                    ? &write_at
                                                                     : &read_at;
        if (k.position == WORKLOAD_SHARED) {
            if (c->seek != WORKLOAD_NO_SEEK)
                c->seek = listed ? WORKLOAD_NO_SEEK
                                 : random_offset(&seeks, p->size_mean, run_bytes(p, plan, i),
                                                 p->unique_bytes, -1);
            continue;
        }
        if (c->offset < 0) { /* not spread */
            if (k.position == WORKLOAD_EXPLICIT && !listed && i > 0)
                c->offset =
                    random_offset(&offsets, p->size_mean, own_run_bytes(plan, i), length, *next);
            else
                c->offset = *next;
            *next = c->offset + c->bytes;
        }
        if (k.position != WORKLOAD_INDIVIDUAL) continue;
        if (c->offset != pointer) c->seek = c->offset;
        pointer = c->offset + c->bytes;
    }
}

/* Calls of a rank. */
static int64_t calls_of(const struct workload_point *p, const struct workload_rank *own)
{
    return own ? own->calls : workload_point_calls(p);
}

/* Bytes of the longest call of a rank, at most. */
static int64_t longest_call(const struct workload_point *p, const struct workload_rank *own,
                            int rank)
{
    const bool listed = own ? own->list_n > 0 : p->list_n > 0;
    const struct workload_calls *list = own ? own->list : p->list;
    int64_t begin, longest = 0;
    const int64_t share = share_of(p, rank, &begin);
    for (int i = 0; listed && i < (own ? own->list_n : p->list_n); i++)
        if (list[i].n > 0) longest = num_max(longest, num_quotient_up(list[i].bytes, list[i].n));
    if (listed) return longest;
    if (own) return own->calls > 0 ? num_quotient_up(own->bytes, own->calls) : 0;
    return num_min(share, num_sum(num_round(p->size_mean), 2));
}

/* A slot for a call: whole cache lines, and one between. */
static int64_t slot_bytes(int64_t longest)
{
    return num_sum(num_product(num_quotient_up(longest, 64), 64), 64);
}

/* Slots that fit into the buffer; reading needs a few more than are in flight. */
static int64_t slots_that_fit(int64_t slot, int64_t buffer_bytes, int64_t taken, int depth)
{
    return num_max((buffer_bytes - taken) / slot, (int64_t)depth + 2);
}

int64_t workload_plan_memory(const struct workload *w, int no, int rank, int64_t buffer_bytes,
                             int depth)
{
    const struct workload_point *p = &w->point[no];
    if (rank >= p->process_num) return 0;
    const struct workload_rank *own = rank_of(p, rank);
    const int64_t n = calls_of(p, own), longest = longest_call(p, own, rank);
    const int64_t slot = slot_bytes(longest);
    /* The vectors are gone when what is read is looked at (again.h). */
    _Static_assert(VECTORS <= sizeof(struct workload_piece), "the larger one of the two");
    const int64_t plan =
        num_product(n, sizeof(struct workload_call) + sizeof(struct workload_piece));
    int64_t slots = num_min(n, slots_that_fit(slot, buffer_bytes, 0, depth));
    if (workload_point_holes(p)) slots = num_sum(slots, num_min(n, buffer_bytes / slot));
    /* Besides the slots, the content of all places and that of the shared pointer. */
    const int64_t content = num_sum(num_product(2, longest), WORKLOAD_PERIOD_BYTES);
    const int64_t reads = num_product(slots, 2 * sizeof(int64_t)); /* what lies in each */
    return num_sum(num_sum(plan, num_product(slots, slot)), num_sum(content, reads));
}

int workload_plan_slots(const struct workload_plan *plan, bool holes, int64_t buffer_bytes,
                        int depth, struct workload_slots *s)
{
    *s = (struct workload_slots){.bytes = slot_bytes(plan->longest_bytes)};
    for (int64_t i = 0; i < plan->n; i++) {
        const bool write = workload_kind_of(plan->call[i].kind).write;
        s->reads_n += !write;
        s->writes_n += write;
    }
    s->write = holes ? s->writes_n : 0;
    if (s->write > 0 && s->write > buffer_bytes / s->bytes)
        return err_set(ERR_USAGE,
                       "a working point with holes (contMean) writes %" PRId64 " times %" PRId64
                       " bytes per process, which must lie ready in memory: raise --buffer to "
                       "%" PRId64,
                       s->writes_n, plan->longest_bytes, num_product(s->writes_n, s->bytes));
    s->read = slots_that_fit(s->bytes, buffer_bytes, s->write * s->bytes, depth);
    s->read = num_min(s->read, s->reads_n);
    return 0;
}

int workload_plan_make(const struct workload *w, int no, int rank, struct workload_plan *plan)
{
    const struct workload_point *p = &w->point[no];
    const struct workload_rank *own = rank_of(p, rank);
    const uint64_t seed = random_mix(w->seed, (uint64_t)no);
    *plan = (struct workload_plan){.n = calls_of(p, own)};
    plan->call = mem_new(plan->n, sizeof *plan->call, "%lld calls", (long long)plan->n);
    if (!plan->call) return ERR_NOMEM;
    for (int64_t c = 0; c < plan->n; c++)
        plan->call[c] = (struct workload_call){.offset = -1};
    plan->bytes = share_of(p, rank, &plan->begin);
    if (w->separate || workload_point_holes(p)) plan->begin = 0;
    if (own && own->list_n > 0) {
        kinds_by_list(p, w->separate, rank, own->list, own->list_n, plan);
    } else if (p->list_n > 0 && plan->n > 0) {
        kinds_by_list(p, w->separate, rank, p->list, p->list_n, plan);
        if (own) set_sizes(plan, 0, plan->n, plan->bytes, 0);
    } else if (p->list_n == 0) {
        TRY(kinds_by_fractions(p, seed, plan));
        set_sizes(plan, 0, plan->n, plan->bytes, own ? 0 : p->size_mean);
    }
    set_offsets(w, p, seed, rank, plan);
    for (int64_t c = 0; c < plan->n; c++)
        if (plan->call[c].bytes > plan->longest_bytes) plan->longest_bytes = plan->call[c].bytes;
    return 0;
}

void workload_plan_free(struct workload_plan *plan)
{
    free(plan->call);
    *plan = (struct workload_plan){.n = 0};
}

/* --- what was achieved ---------------------------------------------------------------------- */

void workload_achieved_count(struct workload_achieved *a, const struct workload_view *v,
                             struct workload_stand *s, const struct workload_call *c)
{
    const bool shared = workload_kind_of(c->kind).position == WORKLOAD_SHARED;
    a->calls[c->kind]++;
    a->bytes[c->kind] += c->bytes;
    a->sequential += !s->begun || (shared      ? c->seek == WORKLOAD_NO_SEEK
                                   : s->placed ? c->offset == s->next
                                               : c->offset == s->begin);
    s->begun = true;
    if (!shared) {
        s->placed = true;
        s->next = c->offset + c->bytes;
    }
    if (c->bytes == 0) return;
    a->pieces += c->offset < 0
                     ? 1
                     : (c->offset + c->bytes - 1) / v->block_bytes - c->offset / v->block_bytes + 1;
}

struct workload_point workload_achieved_point(const struct workload_achieved *a,
                                              const struct workload_point *asked)
{
    struct workload_point p = {.process_num = asked->process_num, .file = asked->file};
    int64_t calls = 0, read = 0, coll = 0, sync = 0, shared = 0;
    for (int i = 0; i < WORKLOAD_KINDS; i++) {
        const struct workload_kind k = workload_kind_of(i);
        calls += a->calls[i];
        p.unique_bytes += a->bytes[i];
        read += k.write ? 0 : a->bytes[i];
        coll += k.collective ? a->calls[i] : 0;
        sync += k.sync == WORKLOAD_BLOCKING ? a->calls[i] : 0;
        shared += k.position == WORKLOAD_SHARED ? a->calls[i] : 0;
    }
    if (calls == 0) return p;
    const double n = (double)calls;
    p.size_mean = (double)p.unique_bytes / n;
    p.read_frac = p.unique_bytes > 0 ? (double)read / (double)p.unique_bytes : 0;
    p.coll_frac = (double)coll / n;
    p.sync_frac = (double)sync / n;
    p.seq_frac = (double)a->sequential / n;
    p.shared_frac = (double)shared / n;
    p.cont_mean = a->pieces > 0 ? (double)p.unique_bytes / (double)a->pieces : 0;
    return p;
}
