/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "verify/reader.h"

#include <stdlib.h>

#include "base/err.h"

#define BLOCK_BYTES (1 << 20)

int reader_new(struct reader *r, const struct shape_file *file, const struct shape *s)
{
    const int64_t plane_bytes = shape_plane_bytes(s);
    *r = (struct reader){.file = *file, .shape = *s};
    r->block = BLOCK_BYTES / plane_bytes > 1 ? BLOCK_BYTES / plane_bytes : 1;
    r->bytes = malloc((size_t)(r->block * plane_bytes));
    r->u = malloc((size_t)(8 * shape_plane_comps(s) * s->n * s->n));
    if (!r->bytes || !r->u)
        return err_set(ERR_NOMEM, "no memory for a plane of %lld bytes", (long long)plane_bytes);
    return 0;
}

void reader_free(struct reader *r)
{
    free(r->bytes);
    free(r->u);
    *r = (struct reader){.file.fd = -1};
}

void reader_start(struct reader *r, int64_t dump)
{
    r->dump = dump;
    r->plane = r->held = r->used = 0;
}

static int refill(struct reader *r)
{
    const int64_t left = shape_planes(&r->shape) - r->plane;
    const int64_t plane_bytes = shape_plane_bytes(&r->shape);
    r->held = left < r->block ? left : r->block;
    r->used = 0;
    return shape_read_bytes(&r->file, r->bytes, r->held * plane_bytes,
                            r->dump * shape_dump_bytes(&r->shape) + r->plane * plane_bytes);
}

static void decode_straight(const struct shape *s, int64_t count, const unsigned char *bytes,
                            double *u)
{
    for (int64_t c = 0; c < count; c++)
        u[c] = shape_double(shape_u64(s, bytes + 8 * c));
}

/* [j][i][m] to [m][j][i]. */
static void decode_mijk(const struct shape *s, const unsigned char *bytes, double *u)
{
    const int64_t cells = s->n * s->n;
    for (int64_t c = 0; c < cells; c++)
        for (int m = 0; m < BT_NCOMP; m++)
            u[m * cells + c] = shape_double(shape_u64(s, bytes + 8 * (BT_NCOMP * c + m)));
}

static void decode(const struct reader *r, const unsigned char *bytes)
{
    const struct shape s = r->shape;
    if (s.layout == SHAPE_MIJK)
        decode_mijk(&s, bytes, r->u);
    else
        decode_straight(&s, shape_plane_comps(&s) * s.n * s.n, bytes + shape_marker_bytes(&s),
                        r->u);
}

static bool markers_ok(const struct shape *s, const unsigned char *bytes)
{
    const int marker_bytes = shape_marker_bytes(s);
    const int64_t plane_bytes = shape_plane_bytes(s);
    const int64_t payload_bytes = plane_bytes - 2 * marker_bytes;
    if (marker_bytes == 0) return true;
    return shape_u32(s, bytes) == (uint32_t)payload_bytes &&
           shape_u32(s, bytes + plane_bytes - marker_bytes) == (uint32_t)payload_bytes;
}

int reader_next(struct reader *r, struct plane *p)
{
    if (r->plane == shape_planes(&r->shape)) return 0;
    if (r->used == r->held) TRY(refill(r));
    const unsigned char *bytes = r->bytes + r->used * shape_plane_bytes(&r->shape);
    decode(r, bytes);
    *p = (struct plane){.k = r->plane % r->shape.n,
                        .m_lo = (int)(r->plane / r->shape.n),
                        .m_n = shape_plane_comps(&r->shape),
                        .u = r->u,
                        .marker_ok = markers_ok(&r->shape, bytes)};
    r->plane++;
    r->used++;
    return 1;
}
