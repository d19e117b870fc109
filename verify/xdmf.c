/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A component of a dump is cut out of the file, seen as one array of all dumps:
 *
 *   mijk      [dump][k][j][i][m]: first the dump, which is read at once, and then the component in
 *             memory: cut out directly, each value would be a request of its own
 *   ijkm      [dump][m][k][j][i]
 *   records   [dump][k][value]: 5 N^2 values and the two markers between planes, which together are
 *             as long as a value; the array begins behind the first marker
 *
 * In HDF5 the array is the variable. An attribute Seek would be shorter, but readers take it for a 32-bit number. Expressions use no
 * other operations than * / + and array - array: VTK's reader computes number - array as
 * array - number, and lets a comma bind more than any of them. */
#include "verify/xdmf.h"

#include <inttypes.h>
#include <stdbool.h>

#define NUMBERS "NumberType=\"Float\" Precision=\"8\""

struct xdmf {
    FILE *to;
    const struct shape *shape;
    int format;
    const char *file;
};

/* The whole file as an array of these dimensions. */
static void put_file(const struct xdmf *x, const char *dimensions, const char *seek)
{
    if (x->format == SHAPE_HDF5) {
        fprintf(x->to,
                "<DataItem Dimensions=\"%s\" " NUMBERS " Format=\"HDF\">%s:/solution</DataItem>\n",
                dimensions, x->file);
        return;
    }
    fprintf(x->to,
            "<DataItem Dimensions=\"%s\" " NUMBERS
            " Format=\"Binary\"%s Endian=\"%s\">%s</DataItem>\n",
            dimensions, seek, x->shape->endian == SHAPE_BIG ? "Big" : "Little", x->file);
}

/* Begins an array that is cut out of the next one. box: the first index, the steps and the counts
 * in every direction. */
static void begin_cut(const struct xdmf *x, const char *dimensions, int rank, const char *box)
{
    fprintf(x->to,
            "<DataItem ItemType=\"HyperSlab\" Dimensions=\"%s\">\n"
            "<DataItem Dimensions=\"3 %d\" NumberType=\"Int\" Format=\"XML\">%s</DataItem>\n",
            dimensions, rank, box);
}

static void put_component(const struct xdmf *x, int64_t dump, int m)
{
    const struct shape *s = x->shape;
    const int64_t n = s->n;
    char points[80], all[128], box[256];
    snprintf(points, sizeof points, "%" PRId64 " %" PRId64 " %" PRId64, n, n, n);
    if (s->layout == SHAPE_MIJK) {
        char dimensions[96];
        snprintf(dimensions, sizeof dimensions, "%s 5", points);
        snprintf(box, sizeof box, "0 0 0 %d  1 1 1 1  %s 1", m, points);
        begin_cut(x, points, 4, box);
        snprintf(box, sizeof box, "%" PRId64 " 0 0 0 0  1 1 1 1 1  1 %s 5", dump, points);
        begin_cut(x, dimensions, 5, box);
        snprintf(all, sizeof all, "%" PRId64 " %s 5", s->dumps_n, points);
        put_file(x, all, "");
        fputs("</DataItem>\n", x->to);
    } else if (s->layout == SHAPE_IJKM) {
        snprintf(box, sizeof box, "%" PRId64 " %d 0 0 0  1 1 1 1 1  1 1 %s", dump, m, points);
        begin_cut(x, points, 5, box);
        snprintf(all, sizeof all, "%" PRId64 " 5 %s", s->dumps_n, points);
        put_file(x, all, "");
    } else {
        snprintf(box, sizeof box, "%" PRId64 " 0 %" PRId64 "  1 1 1  1 %" PRId64 " %" PRId64, dump,
                 m * n * n, n, n * n);
        begin_cut(x, points, 3, box);
        snprintf(all, sizeof all, "%" PRId64 " %" PRId64 " %" PRId64, s->dumps_n, n, 5 * n * n + 1);
        put_file(x, all, " Seek=\"4\"");
    }
    fputs("</DataItem>\n", x->to);
}

/* A quantity of count components from m on. function: of them, $0 to $4; NULL: the component
 * itself. */
static void put_quantity(const struct xdmf *x, int64_t dump, const char *name, bool vector,
                         const char *function, int m, int count)
{
    const int64_t n = x->shape->n;
    fprintf(x->to, "<Attribute Name=\"%s\" AttributeType=\"%s\" Center=\"Node\">\n", name,
            vector ? "Vector" : "Scalar");
    if (function)
        fprintf(x->to,
                "<DataItem ItemType=\"Function\" Function=\"%s\" Dimensions=\"%" PRId64 " %" PRId64
                " %" PRId64 "%s\">\n",
                function, n, n, n, vector ? " 3" : "");
    for (int c = 0; c < count; c++)
        put_component(x, dump, m + c);
    if (function) fputs("</DataItem>\n", x->to);
    fputs("</Attribute>\n", x->to);
}

void xdmf_print(FILE *to, const struct shape *s, int format, const char *file, int64_t dumps_n,
                const int64_t *dump, const double *time)
{
    const struct xdmf x = {to, s, format, file};
    const int64_t n = s->n;
    const double h = 1.0 / (double)(n - 1);
    fputs(XDMF_MARK "<Domain>\n<Grid Name=\"BT\" GridType=\"Collection\" "
                    "CollectionType=\"Temporal\">\n",
          to);
    for (int64_t d = 0; d < dumps_n; d++) {
        fprintf(to,
                "<Grid Name=\"dump %" PRId64 "\" GridType=\"Uniform\">\n<Time Value=\"%.17g\"/>\n"
                "<Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"%" PRId64 " %" PRId64
                " %" PRId64 "\"/>\n"
                "<Geometry GeometryType=\"ORIGIN_DXDYDZ\">\n"
                "<DataItem Dimensions=\"3\" " NUMBERS " Format=\"XML\">0 0 0</DataItem>\n"
                "<DataItem Dimensions=\"3\" " NUMBERS
                " Format=\"XML\">%.17g %.17g %.17g</DataItem>\n"
                "</Geometry>\n",
                dump[d], time[d], n, n, n, h, h, h);
        put_quantity(&x, dump[d], "density", false, NULL, 0, 1);
        put_quantity(&x, dump[d], "momentum", true, "JOIN($0, $1, $2)", 1, 3);
        put_quantity(&x, dump[d], "energy", false, NULL, 4, 1);
        put_quantity(&x, dump[d], "velocity", true, "JOIN(($1 / $0), ($2 / $0), ($3 / $0))", 0, 4);
        put_quantity(&x, dump[d], "pressure", false,
                     "0.4 * ($4 - 0.5 * ($1 * $1 + $2 * $2 + $3 * $3) / $0)", 0, 5);
        fputs("</Grid>\n", to);
    }
    fputs("</Grid>\n</Domain>\n</Xdmf>\n", to);
}
