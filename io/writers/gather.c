/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/writers/gather.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/nodes.h"
#include "base/num.h"
#include "base/par.h"
#include "io/aggregate.h"

#define GATHER_TAG 3
#define MY_RANGES  2 /* at most: one of my own, and the tail */

/* One of my ranges in a round: a piece of it, and where the parts that the ranks sent are. */
struct piece {
    int64_t start, end;        /* of the dump */
    struct io_cursor *cursors; /* [size] */
    char *place;
    const char *direct; /* the piece as it lies in the caller's buffer, if it does */
    char *parts;        /* the parts that must be spread, one after the other */
    int64_t parts_bytes;
};

int io_gather_open(struct io_gather *g, const struct io_context *ctx, int64_t align)
{
    struct nodes nodes;
    g->own = -1;
    int rc = nodes_split(ctx->comm, &nodes);
    nodes_free(&nodes);
    TRY(rc);
    g->ctx = ctx;
    g->align = align;
    g->aggregators_n = (int)io_aggregators(ctx->tuning.aggregators, ctx->size, nodes.count);

    const size_t n = (size_t)g->aggregators_n, size = (size_t)ctx->size;
    g->rank_of = calloc(n, sizeof *g->rank_of);
    g->share_bytes = calloc(n + 1, sizeof *g->share_bytes);
    g->range = calloc(n + 1, sizeof *g->range);
    g->mine = calloc(n + 1, sizeof *g->mine);
    g->send = calloc(size + 1, sizeof(MPI_Request));
    g->theirs = calloc(MY_RANGES * size, sizeof *g->theirs);
    g->recv = calloc(MY_RANGES * size, sizeof(MPI_Request));
    if (!g->rank_of || !g->share_bytes || !g->range || !g->mine || !g->send || !g->theirs ||
        !g->recv)
        return mem_error("collecting dumps");

    /* Each aggregator has what it and its next ranks hold. */
    int64_t bytes = 0;
    for (int r = 0, a = 0; r < ctx->size; r++) {
        if (io_aggregates(r, ctx->size, g->aggregators_n)) {
            if (r == ctx->rank) g->own = a;
            g->rank_of[a] = r;
            g->share_bytes[a++] = bytes;
        }
        bytes += io_view_bytes(&ctx->all_views[r]);
    }
    g->share_bytes[g->aggregators_n] = bytes;
    if (ctx->size == 1) return 0;
    const int64_t piece_bytes = ctx->tuning.buffer_bytes;
    bool all = true;
    bytes = num_min(piece_bytes, io_gather_bytes_max(g)) + align;
    if (g->own >= 0) all = (g->parts = buffer_new((size_t)bytes)) != NULL;
    bytes = num_min(piece_bytes, io_view_bytes(ctx->view)) + align;
    for (int i = 0; i < 2 && ctx->plan; i++)
        all = (g->read[i] = buffer_new((size_t)bytes)) && all;
    return all ? 0 : mem_error("collecting dumps");
}

void io_gather_free(struct io_gather *g)
{
    free(g->rank_of);
    free(g->share_bytes);
    free(g->range);
    free(g->mine);
    free(g->send);
    free(g->theirs);
    free(g->recv);
    free(g->parts);
    free(g->read[0]);
    free(g->read[1]);
    memset(g, 0, sizeof *g);
}

int64_t io_gather_bytes_max(const struct io_gather *g)
{
    const int a = g->own;
    return a >= 0 ? g->share_bytes[a + 1] - g->share_bytes[a] + 2 * g->align : 0;
}

void io_gather_prepare(struct io_gather *g, int64_t dump)
{
    const int64_t base = dump * g->ctx->dump_bytes, past = base + g->ctx->dump_bytes;
    /* The block in which the dump begins belongs to aggregator 0; the one in which it ends is written with
     * the next dump. */
    const int64_t start_block = (base + g->align - 1) / g->align * g->align;
    const int64_t past_block = past / g->align * g->align;
    int64_t start = base, longest = 0;
    g->ranges_n = 0;
    for (int a = 0; a <= g->aggregators_n; a++) {
        int64_t end =
            a < g->aggregators_n ? (base + g->share_bytes[a + 1]) / g->align * g->align : past;
        const int owner = a < g->aggregators_n ? g->rank_of[a] : g->rank_of[0];
        if (a == 0 && end < start_block) end = start_block;
        if (a < g->aggregators_n && end > past_block) end = past_block;
        if (end < start) end = start;
        if (end > start) g->range[g->ranges_n++] = (struct io_range){owner, start, end};
        if (end - start > longest) longest = end - start;
        start = end;
    }
    const int64_t step = g->ctx->tuning.buffer_bytes;
    g->rounds = (longest + step - 1) / step;
}

/* Puts my cursors at the beginning of each range, and everybody's at that of each range of mine. */
static void cursors_start(struct io_gather *g, int64_t base)
{
    struct io_cursor c;
    io_cursor_start(&c, g->ctx->view);
    for (int i = 0; i < g->ranges_n; i++) {
        io_cursor_skip(&c, g->range[i].start - base, NULL);
        g->mine[i] = c;
    }
    for (int r = 0; r < g->ctx->size; r++) {
        int own = 0;
        for (int i = 0; i < g->ranges_n; i++) {
            if (g->range[i].owner != g->ctx->rank) continue;
            if (own == 0) io_cursor_start(&c, &g->ctx->all_views[r]);
            io_cursor_skip(&c, g->range[i].start - base, NULL);
            g->theirs[own++ * g->ctx->size + r] = c;
        }
    }
}

/* The piece of a range in a round; empty when the range is shorter. */
static struct piece piece_of(const struct io_gather *g, int range, int64_t round, int64_t base)
{
    const struct io_range *r = &g->range[range];
    const int64_t step = g->ctx->tuning.buffer_bytes;
    struct piece p = {.start = r->start + round * step - base, .end = r->end - base};
    if (p.end - p.start > step) p.end = p.start + step;
    if (p.end < p.start) p.start = p.end;
    return p;
}

/* Starts sending my parts of all ranges that are not mine. */
static int send_parts(struct io_gather *g, int64_t round, int64_t base, const char *buf, int *sends)
{
    *sends = 0;
    for (int i = 0; i < g->ranges_n; i++) {
        if (g->range[i].owner == g->ctx->rank) continue;
        const struct piece p = piece_of(g, i, round, base);
        const char *part = buf + g->mine[i].left.buffer_bytes;
        const int64_t bytes = io_cursor_skip(&g->mine[i], p.end, NULL);
        if (bytes == 0) continue;
        TRY_MPI(MPI_Isend(part, (int)bytes, MPI_BYTE, g->range[i].owner, GATHER_TAG, g->ctx->comm,
                          &g->send[(*sends)++]));
    }
    return 0;
}

/* Starts receiving the parts of a piece: into place where they are contiguous, else aside. */
static int receive_parts(struct io_gather *g, struct piece *p, char *aside, int *receives)
{
    p->parts = aside;
    for (int r = 0; r < g->ctx->size; r++) {
        struct io_cursor c = p->cursors[r];
        const int64_t at = c.left.offset_bytes - p->start;
        int64_t pieces;
        const int64_t bytes = io_cursor_skip(&c, p->end, &pieces);
        if (bytes == 0 || r == g->ctx->rank) continue;
        char *into = pieces == 1 ? p->place + at : p->parts + p->parts_bytes;
        if (pieces > 1) p->parts_bytes += bytes;
        TRY_MPI(MPI_Irecv(into, (int)bytes, MPI_BYTE, r, GATHER_TAG, g->ctx->comm,
                          &g->recv[(*receives)++]));
    }
    return 0;
}

/* Puts rank r's part, whose first byte is that of the cursor, into its places. */
static void scatter_part(struct piece *p, struct io_cursor *c, const char *part)
{
    const int64_t origin = c->left.buffer_bytes;
    struct io_extent e;
    while (io_cursor_take(c, p->end, &e)) {
        char *to = p->place + (e.offset_bytes - p->start);
        const char *from = part + (e.buffer_bytes - origin);
        if (to != from) memcpy(to, from, (size_t)e.length_bytes);
    }
}

/* Puts the parts of all ranks into their places, and moves the cursors behind the piece. */
static void spread_all(const struct io_gather *g, struct piece *p, const char *buf)
{
    const char *part = p->parts;
    for (int r = 0; r < g->ctx->size; r++) {
        struct io_cursor *c = &p->cursors[r], after = *c;
        int64_t pieces;
        const int64_t bytes = io_cursor_skip(&after, p->end, &pieces);
        if (bytes > 0 && r == g->ctx->rank) {
            if (!p->direct) scatter_part(p, c, buf + c->left.buffer_bytes);
        } else if (pieces > 1) {
            scatter_part(p, c, part);
            part += bytes;
        }
        *c = after;
    }
}

/* Starts receiving this round's pieces of my ranges. */
static int receive_pieces(struct io_gather *g, int64_t round, int64_t base, const char *buf,
                          const struct io_sink *sink, struct piece *pieces, int *receives)
{
    char *aside = g->parts;
    *receives = 0;
    for (int i = 0, own = 0; i < g->ranges_n; i++) {
        if (g->range[i].owner != g->ctx->rank) continue;
        struct piece *p = &pieces[own];
        *p = piece_of(g, i, round, base);
        p->cursors = &g->theirs[own++ * g->ctx->size];
        if (p->end == p->start) continue;
        /* A whole piece that is one extent of this rank's is taken as it lies. */
        const struct io_extent *e = &p->cursors[g->ctx->rank].left;
        if (e->offset_bytes == p->start && e->length_bytes >= p->end - p->start)
            p->direct = buf + e->buffer_bytes;
        if (!p->direct) p->place = sink->place(sink->state, base + p->start, p->end - p->start);
        TRY(receive_parts(g, p, aside, receives));
        aside += p->parts_bytes;
    }
    return 0;
}

int io_gather_move(struct io_gather *g, int64_t dump, const void *buf, const struct io_sink *sink)
{
    const int64_t base = dump * g->ctx->dump_bytes;
    int rc = 0, sends, receives;
    cursors_start(g, base);
    for (int64_t round = 0; round < g->rounds; round++) {
        struct piece pieces[MY_RANGES] = {{0}};
        TRY(receive_pieces(g, round, base, buf, sink, pieces, &receives));
        TRY(send_parts(g, round, base, buf, &sends));
        TRY_MPI(MPI_Waitall(receives, g->recv, MPI_STATUSES_IGNORE));
        for (int own = 0; own < MY_RANGES; own++) {
            struct piece *p = &pieces[own];
            if (p->end == p->start) continue;
            spread_all(g, p, buf);
            const int64_t start = base + p->start, bytes = p->end - p->start;
            const char *data = p->direct ? p->direct : p->place;
            if (sink->take) {
                int took = sink->take(sink->state, data, start, bytes);
                if (rc == 0) rc = took;
                continue;
            }
            char *place = sink->place(sink->state, start, bytes);
            if (place != data) memcpy(place, data, (size_t)bytes);
        }
        TRY_MPI(MPI_Waitall(sends, g->send, MPI_STATUSES_IGNORE));
    }
    return rc;
}

/* ------------------------------------------------------------------ reading */

/* Sends a piece that this rank has read to the ranks that have parts in it: from where it lies, or packed
 * first where a part is not contiguous. This rank's own part is handed over. */
static int send_piece(struct io_gather *g, struct piece *p, const char *data,
                      const struct io_taker *to, int *sends)
{
    const int rank = g->ctx->rank;
    struct io_extent e;
    char *packed = g->parts;
    for (int r = 0; r < g->ctx->size; r++) {
        struct io_cursor *c = &p->cursors[r], after = *c;
        int64_t pieces;
        const int64_t bytes = io_cursor_skip(&after, p->end, &pieces);
        if (bytes == 0 || r == rank) continue;
        const char *part = pieces == 1 ? data + (c->left.offset_bytes - p->start) : packed;
        while (io_cursor_take(c, p->end, &e)) {
            if (pieces == 1) continue;
            memcpy(packed, data + (e.offset_bytes - p->start), (size_t)e.length_bytes);
            packed += e.length_bytes;
        }
        TRY_MPI(MPI_Isend(part, (int)bytes, MPI_BYTE, r, GATHER_TAG, g->ctx->comm,
                          &g->send[(*sends)++]));
    }
    to->pick(to->state, g->ctx->view, data, p->start, p->end - p->start);
    return 0;
}

/* Receives this rank's parts of the other aggregators' pieces, one after the other: while one is put into
 * place the next one arrives. Every rank begins with another aggregator. */
static int receive_mine(struct io_gather *g, int64_t round, int64_t base, const struct io_taker *to)
{
    struct {
        int64_t start, bytes;
    } part[2] = {{0, 0}};
    for (int i = 0; i <= g->ranges_n; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a file has a range */
        const int now = i % 2, before = 1 - now, range = (g->ctx->rank + i) % g->ranges_n;
        part[now].bytes = 0;
        if (i < g->ranges_n && g->range[range].owner != g->ctx->rank) {
            const struct piece p = piece_of(g, range, round, base);
            part[now].start = g->mine[range].left.buffer_bytes;
            part[now].bytes = io_cursor_skip(&g->mine[range], p.end, NULL);
            if (part[now].bytes > 0)
                TRY_MPI(MPI_Irecv(g->read[now], (int)part[now].bytes, MPI_BYTE,
                                  g->range[range].owner, GATHER_TAG, g->ctx->comm, &g->recv[now]));
        }
        if (part[before].bytes == 0) continue;
        TRY_MPI(MPI_Wait(&g->recv[before], MPI_STATUS_IGNORE));
        to->take(to->state, g->ctx->view, g->read[before], part[before].start, part[before].bytes);
    }
    return 0;
}

int io_gather_spread(struct io_gather *g, int64_t dump, const struct io_source *source,
                     const struct io_taker *to)
{
    const int64_t base = dump * g->ctx->dump_bytes;
    int rc = 0, mine = -1;
    io_gather_prepare(g, dump);
    cursors_start(g, base);
    for (int i = 0; i < g->ranges_n; i++) {
        if (g->range[i].owner == g->ctx->rank) mine = i;
    }
    for (int64_t round = 0; round < g->rounds; round++) {
        struct piece p = {0};
        int sends = 0;
        if (mine >= 0) p = piece_of(g, mine, round, base);
        if (p.end > p.start) {
            const char *data;
            p.cursors = g->theirs;
            int got = source->get(source->state, base + p.start, p.end - p.start, &data);
            if (rc == 0) rc = got;
            TRY(send_piece(g, &p, data, to, &sends));
        }
        TRY(receive_mine(g, round, base, to));
        TRY_MPI(MPI_Waitall(sends, g->send, MPI_STATUSES_IGNORE));
    }
    return rc;
}

void io_gather_describe(const struct io_gather *g, json_t *into)
{
    json_object_set_new(into, "aggregators", json_integer(g->aggregators_n));
    json_object_set_new(into, "buffer_bytes", json_integer(g->ctx->tuning.buffer_bytes));
}
