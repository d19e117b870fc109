/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "verify/export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/plain.h"
#include "base/progress.h"
#include "base/stop.h"
#include "base/units.h"
#include "verify/container.h"
#include "verify/target.h"
#include "verify/xdmf.h"

#define BLOCK_BYTES  (1 << 20) /* read at a time, but at least a plane */
#define NAME_BYTES   4200
#define QUOTED_BYTES 2048 /* a name without directories has at most 255 */
#define HEADER_MAX   4096
#define MB           1000000

/* A file of one dump, or, dump -1, the one that all dumps share. */
struct exporter {
    const struct check *c;
    const struct shape *shape;
    const struct format *format;
    struct shape_file file;
    int64_t dumps_n;
    int64_t *dump;        /* [dumps_n]: those to be exported */
    double *time;         /* [dumps_n] */
    int64_t block;        /* planes that are read at a time */
    unsigned char *bytes; /* as they are in the file */
    double *u;            /* [m][k][j][i] of a block: the solution, or coordinates */
    double *out;          /* [comps][k][j][i] of what is made of it */
    struct target target; /* the file that is being made */
    struct progress *progress;
    int64_t written_bytes;
};

/* What the formats differ in. */
struct format {
    const char *name;
    const char *index_suffix;                          /* of the file that a viewer opens */
    const char *index_mark;                            /* how it begins */
    void (*index)(const struct exporter *e, FILE *to); /* its content */
    const char *dump_suffix;                           /* NULL: dumps stay where they are */
    const char *grid_suffix;                           /* NULL: the grid is no file of its own */
    int out_comps;                                     /* doubles of a grid point in exporter.out */
    /* How a file of a dump begins. Returns the number of bytes; mark: [out] how many of them do not
     * depend on the dump. */
    int (*header)(const struct exporter *e, int64_t d, char *out, int64_t *mark);
    /* Writes the block in u, planes of it from k on, to its places behind the header. */
    int (*block)(struct exporter *e, int64_t d, int64_t header_bytes, int64_t k, int64_t planes);
};

/* d: running number of an exported dump, or -1. */
static void file_name(const struct exporter *e, int64_t d, const char *suffix, char out[NAME_BYTES])
{
    if (d < 0)
        snprintf(out, NAME_BYTES, "%s%s", e->c->path, suffix);
    else
        snprintf(out, NAME_BYTES, "%s.%04" PRId64 "%s", e->c->path, e->dump[d], suffix);
}

static const char *without_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The name of the file of a dump, or of another one, as a file beside it refers to it between
 * quotes of XML or JSON. Names with control characters never get here. */
static const char *quoted_name(const struct exporter *e, bool xml, int64_t d, const char *suffix,
                               char out[QUOTED_BYTES])
{
    char name[NAME_BYTES];
    size_t length = 0;
    file_name(e, d, suffix, name);
    for (const char *c = without_directory(name); *c && length < QUOTED_BYTES - 8; c++) {
        if (xml && strchr("&<>\"", *c)) {
            length += (size_t)sprintf(out + length, "&#%d;", *c);
        } else {
            if (!xml && strchr("\\\"", *c)) out[length++] = '\\';
            out[length++] = *c;
        }
    }
    out[length] = '\0';
    return out;
}

static void xdmf_index(const struct exporter *e, FILE *to)
{
    char name[QUOTED_BYTES];
    xdmf_print(to, e->shape, e->c->format, quoted_name(e, true, -1, "", name), e->dumps_n, e->dump,
               e->time);
}

/* VTI: a header in XML, behind it one array after the other, each with its length before it. */
#define VTI_MARK "<?xml version=\"1.0\"?>\n<!-- made by nht1-verify -->\n"
static const struct {
    const char *name;
    int comps, first; /* the first of its components in exporter.out */
} arrays[] = {
    {"density", 1, 0}, {"momentum", 3, 1}, {"energy", 1, 4}, {"velocity", 3, 5}, {"pressure", 1, 8},
};
enum { ARRAYS = sizeof arrays / sizeof arrays[0], ARRAY_COMPS = 9 };

/* Offset of an array's length behind the header. */
static int64_t vti_offset(const struct exporter *e, int array)
{
    const int64_t n = e->shape->n;
    return 8 * array + 8 * arrays[array].first * n * n * n;
}

static int vti_header(const struct exporter *e, int64_t d, char *out, int64_t *mark)
{
    const int64_t end = e->shape->n - 1;
    const double h = 1.0 / (double)end;
    const char *const order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "Little" : "Big";
    char extent[96];
    FILE *to = fmemopen(out, HEADER_MAX, "w");
    if (!to) return mem_error("a header");
    snprintf(extent, sizeof extent, "0 %" PRId64 " 0 %" PRId64 " 0 %" PRId64, end, end, end);
    fprintf(to,
            VTI_MARK "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"%sEndian\" "
                     "header_type=\"UInt64\">\n"
                     "<ImageData WholeExtent=\"%s\" Origin=\"0 0 0\" "
                     "Spacing=\"%.17g %.17g %.17g\">\n"
                     "<FieldData><DataArray type=\"Float64\" Name=\"TimeValue\" "
                     "NumberOfTuples=\"1\" format=\"ascii\">%.17g</DataArray></FieldData>\n"
                     "<Piece Extent=\"%s\"><PointData Scalars=\"density\" Vectors=\"velocity\">\n",
            order, extent, h, h, h, e->time[d], extent);
    for (int a = 0; a < ARRAYS; a++)
        fprintf(to,
                "<DataArray type=\"Float64\" Name=\"%s\" NumberOfComponents=\"%d\" "
                "format=\"appended\" offset=\"%" PRId64 "\"/>\n",
                arrays[a].name, arrays[a].comps, vti_offset(e, a));
    fputs("</PointData></Piece></ImageData>\n<AppendedData encoding=\"raw\">\n_", to);
    const int bytes = (int)ftell(to);
    fclose(to);
    *mark = (int64_t)strlen(VTI_MARK);
    return bytes;
}

static int vti_block(struct exporter *e, int64_t d, int64_t header_bytes, int64_t k, int64_t planes)
{
    (void)d;
    const int64_t n = e->shape->n, cells = planes * n * n;
    const double *u[BT_NCOMP];
    double *to[ARRAYS];
    for (int m = 0; m < BT_NCOMP; m++)
        u[m] = e->u + m * cells;
    for (int a = 0; a < ARRAYS; a++)
        to[a] = e->out + arrays[a].first * cells;
    for (int64_t c = 0; c < cells; c++) {
        double square = 0;
        for (int q = 0; q < 3; q++) {
            const double momentum = u[1 + q][c];
            to[1][3 * c + q] = momentum;
            to[3][3 * c + q] = momentum / u[0][c];
            square += momentum * momentum;
        }
        to[0][c] = u[0][c];
        to[2][c] = u[4][c];
        to[4][c] = BT_C2 * (u[4][c] - 0.5 * square / u[0][c]);
    }
    for (int a = 0; a < ARRAYS; a++) {
        const int64_t start = header_bytes + vti_offset(e, a);
        const uint64_t bytes = (uint64_t)(8 * arrays[a].comps * n * n * n);
        if (k == 0) TRY(target_put(&e->target, &bytes, 8, start));
        TRY(target_put(&e->target, to[a], 8 * arrays[a].comps * cells,
                       start + 8 + 8 * arrays[a].comps * k * n * n));
    }
    static const char end[] = "\n</AppendedData>\n</VTKFile>\n";
    if (k + planes < n) return 0;
    return target_put(&e->target, end, sizeof end - 1,
                      header_bytes + 8 * ARRAYS + 8 * ARRAY_COMPS * n * n * n);
}

static void pvd_index(const struct exporter *e, FILE *to)
{
    char name[QUOTED_BYTES];
    fputs(VTI_MARK "<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n", to);
    for (int64_t d = 0; d < e->dumps_n; d++)
        fprintf(to, "<DataSet timestep=\"%.17g\" part=\"0\" file=\"%s\"/>\n", e->time[d],
                quoted_name(e, true, d, e->format->dump_suffix, name));
    fputs("</Collection>\n</VTKFile>\n", to);
}

/* PLOT3D, one grid, three-dimensional, unformatted as C writes it, without record markers, which
 * could not count the bytes of a large grid: three integers, in the file of a dump four numbers of
 * the flow (Mach number, angle, Reynolds number, time), then one component after the other. */
static int plot3d_header(const struct exporter *e, int64_t d, char *out, int64_t *mark)
{
    const int32_t n = (int32_t)e->shape->n, size[3] = {n, n, n};
    memcpy(out, size, sizeof size);
    *mark = sizeof size;
    if (d < 0) return (int)sizeof size;
    const double flow[4] = {0, 0, 0, e->time[d]};
    memcpy(out + sizeof size, flow, sizeof flow);
    *mark += 3 * (int64_t)sizeof *flow;
    return (int)(sizeof size + sizeof flow);
}

static int plot3d_block(struct exporter *e, int64_t d, int64_t header_bytes, int64_t k,
                        int64_t planes)
{
    const int64_t n = e->shape->n, cells = planes * n * n;
    for (int64_t m = 0; m < (d < 0 ? 3 : BT_NCOMP); m++)
        TRY(target_put(&e->target, e->u + m * cells, 8 * cells,
                       header_bytes + 8 * (m * n + k) * n * n));
    return 0;
}

/* 110 and 200: pressure and velocity, which the reader computes. */
#define P3D_MARK                                                                                   \
    "{ \"auto-detect-format\": true, \"gamma\": 1.4, \"R\": 1, \"functions\": [110, 200],\n"
static void p3d_index(const struct exporter *e, FILE *to)
{
    char grid[QUOTED_BYTES], name[QUOTED_BYTES];
    quoted_name(e, false, -1, e->format->grid_suffix, grid);
    fputs(P3D_MARK "  \"filenames\": [", to);
    for (int64_t d = 0; d < e->dumps_n; d++)
        fprintf(to, "%s\n    { \"time\": %.17g, \"xyz\": \"%s\", \"q\": \"%s\" }", d ? "," : "",
                e->time[d], grid, quoted_name(e, false, d, e->format->dump_suffix, name));
    fputs("\n  ]\n}\n", to);
}

static const struct format formats[] = {
    {.name = "xdmf", .index_suffix = ".xdmf", .index_mark = XDMF_MARK, .index = xdmf_index},
    {.name = "vti",
     .index_suffix = ".pvd",
     .index_mark = VTI_MARK,
     .index = pvd_index,
     .dump_suffix = ".vti",
     .out_comps = ARRAY_COMPS,
     .header = vti_header,
     .block = vti_block},
    {.name = "plot3d",
     .index_suffix = ".p3d",
     .index_mark = P3D_MARK,
     .index = p3d_index,
     .dump_suffix = ".q",
     .grid_suffix = ".xyz",
     .header = plot3d_header,
     .block = plot3d_block},
};

static const struct format *find_format(const char *name)
{
    size_t f = 0;
    while (strcmp(formats[f].name, name) != 0) /* the option's choices are all there */
        f++;
    return &formats[f];
}

bool export_makes(const char *format, const char *suffix)
{
    const struct format *f = find_format(format);
    if (strcmp(suffix, f->index_suffix) == 0) return true;
    if (f->grid_suffix && strcmp(suffix, f->grid_suffix) == 0) return true;
    const size_t digits = suffix[0] == '.' ? strspn(suffix + 1, "0123456789") : 0;
    return f->dump_suffix && digits >= 4 && strcmp(suffix + 1 + digits, f->dump_suffix) == 0;
}

/* Which dumps, and when they are: at the time of the flow, or, where that is not known, at their
 * number. */
static int choose_dumps(struct exporter *e)
{
    const struct check *c = e->c;
    e->dump = mem_new(c->dumps_n + 1, sizeof *e->dump, "a list of dumps");
    e->time = mem_new(c->dumps_n + 1, sizeof *e->time, "a list of dumps");
    if (!e->dump || !e->time) return ERR_NOMEM;
    for (int64_t d = 0; d < c->dumps_n; d++) {
        const struct check_dump *dump = &c->dump[d];
        if (dump->state != CHECK_RIGHT && dump->state != CHECK_UNJUDGED) continue;
        e->dump[e->dumps_n] = d;
        e->time[e->dumps_n++] = dump->step < 0 ? (double)d : (double)dump->step * c->manifest.dt;
    }
    return 0;
}

/* Nothing is written before every name is known to be free. */
static int check_targets(const struct exporter *e)
{
    char name[NAME_BYTES], header[HEADER_MAX];
    const struct format *f = e->format;
    int64_t mark;
    plain_copy(name, sizeof name, e->c->path);
    if (strcmp(name, e->c->path) != 0)
        return err_set(ERR_USAGE,
                       "--export: %s has characters in its name that no other file can "
                       "refer to; rename it",
                       name);
    file_name(e, -1, f->index_suffix, name);
    TRY(target_check(name, f->index_mark, strlen(f->index_mark)));
    for (int64_t d = f->grid_suffix ? -1 : 0; f->dump_suffix && d < e->dumps_n; d++) {
        TRY(f->header(e, d, header, &mark));
        file_name(e, d, d < 0 ? f->grid_suffix : f->dump_suffix, name);
        TRY(target_check(name, header, (size_t)mark));
    }
    return 0;
}

/* A file system is not filled to find out that it is too small. Each file is written whole before it
 * takes the place of an earlier one. */
static int check_space(const struct exporter *e)
{
    char name[NAME_BYTES];
    const struct format *f = e->format;
    const double cells = (double)e->shape->n * (double)e->shape->n * (double)e->shape->n;
    const int comps = f->out_comps ? f->out_comps : BT_NCOMP;
    double needed = 0, largest = 0;
    struct stat st;
    for (int64_t d = f->grid_suffix ? -1 : 0; f->dump_suffix && d < e->dumps_n; d++) {
        const double bytes = 8 * cells * (d < 0 ? 3 : comps);
        file_name(e, d, d < 0 ? f->grid_suffix : f->dump_suffix, name);
        needed += bytes - (stat(name, &st) == 0 ? 512.0 * (double)st.st_blocks : 0);
        if (bytes > largest) largest = bytes;
    }
    if (needed < largest) needed = largest;
    return target_room("--export", e->c->path, needed);
}

static int make_room(struct exporter *e)
{
    const int64_t plane = e->shape->n * e->shape->n, plane_bytes = 8 * BT_NCOMP * plane;
    e->block = BLOCK_BYTES / plane_bytes > 1 ? BLOCK_BYTES / plane_bytes : 1;
    if (e->block > e->shape->n) e->block = e->shape->n;
    e->bytes = malloc((size_t)(e->block * plane_bytes));
    e->u = malloc((size_t)(e->block * plane_bytes));
    e->out = malloc((size_t)(8 * e->format->out_comps * e->block * plane) + 1);
    if (e->bytes && e->u && e->out) return 0;
    return mem_error("a plane of %" PRId64 " bytes", plane_bytes);
}

/* Reads planes of a dump into u. What lies side by side in the file is read at once: in mijk all of
 * it, in ijkm a component, in records a component of a plane. */
static int read_block(struct exporter *e, int64_t dump, int64_t k, int64_t planes)
{
    const struct shape *s = e->shape;
    const int64_t plane = s->n * s->n, cells = planes * plane;
    const bool mixed = s->layout == SHAPE_MIJK;
    const int64_t held = s->layout == SHAPE_RECORDS ? 1 : planes;
    const int64_t values = held * plane * (mixed ? BT_NCOMP : 1);
    for (int m = 0; m < (mixed ? 1 : BT_NCOMP); m++) {
        for (int64_t p = 0; p < planes; p += held) {
            const struct place at = {0, 0, k + p, m};
            double *u = e->u + m * cells + p * plane;
            TRY(shape_read_bytes(&e->file, e->bytes, 8 * values, shape_offset(s, dump, &at)));
            for (int64_t v = 0; v < values; v++)
                u[mixed ? v % BT_NCOMP * cells + v / BT_NCOMP : v] =
                    shape_double(shape_u64(s, e->bytes + 8 * v));
        }
    }
    return 0;
}

/* The coordinates of the grid in place of a dump. */
static void grid_block(struct exporter *e, int64_t k, int64_t planes)
{
    const int64_t n = e->shape->n, cells = planes * n * n;
    const double h = 1.0 / (double)(n - 1);
    for (int64_t c = 0; c < cells; c++) {
        e->u[c] = (double)(c % n) * h;
        e->u[cells + c] = (double)(c / n % n) * h;
        e->u[2 * cells + c] = (double)(k + c / (n * n)) * h;
    }
}

static int write_blocks(struct exporter *e, int64_t d)
{
    char header[HEADER_MAX];
    int64_t mark;
    const int64_t n = e->shape->n;
    const int bytes = e->format->header(e, d, header, &mark);
    TRY(bytes);
    TRY(target_put(&e->target, header, bytes, 0));
    for (int64_t k = 0; k < n; k += e->block) {
        const int64_t planes = n - k < e->block ? n - k : e->block;
        if (stop_requested())
            return err_set(ERR_INTERRUPT, "interrupted: files that were whole are left, the one "
                                          "that was being written is removed");
        if (d < 0)
            grid_block(e, k, planes);
        else
            TRY(read_block(e, e->dump[d], k, planes));
        TRY(e->format->block(e, d, bytes, k, planes));
        const int comps = d < 0 ? 3 : e->format->out_comps ? e->format->out_comps : BT_NCOMP;
        e->written_bytes += 8 * comps * planes * n * n;
        progress_update(e->progress, e->written_bytes / MB);
    }
    return 0;
}

static int write_index(struct exporter *e)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (to) e->format->index(e, to);
    const bool whole = to && !ferror(to);
    if (to && fclose(to) == 0 && whole) {
        e->written_bytes += (int64_t)size;
        const int rc = target_put(&e->target, text, (int64_t)size, 0);
        free(text);
        return rc;
    }
    free(text);
    return mem_error("a text");
}

/* The index comes last: until it is there nothing refers to the others. That of an earlier export goes before the first of its
 * files is replaced, as it would show dumps of both. */
static int write_files(struct exporter *e)
{
    char name[NAME_BYTES], index[NAME_BYTES];
    const struct format *f = e->format;
    const int64_t first = f->grid_suffix ? -1 : 0;
    file_name(e, -1, f->index_suffix, index);
    for (int64_t d = first; f->dump_suffix && d < e->dumps_n; d++) {
        file_name(e, d, d < 0 ? f->grid_suffix : f->dump_suffix, name);
        TRY(target_open(&e->target, name));
        if (d == first) e->target.gone = index;
        TRY(target_close(&e->target, write_blocks(e, d)));
    }
    TRY(target_open(&e->target, index));
    return target_close(&e->target, write_index(e));
}

static void print_exported(const struct exporter *e, FILE *tell)
{
    char name[NAME_BYTES], size[UNITS_TEXT_MAX];
    const int64_t left = e->c->shape.dumps_n - e->dumps_n;
    file_name(e, -1, e->format->index_suffix, name);
    fprintf(tell, "Exported: %" PRId64 " dump%s, %s; open %s.\n", e->dumps_n,
            units_plural(e->dumps_n), units_bytes((double)e->written_bytes, size), name);
    if (left > 0)
        fprintf(tell, "Left out: %" PRId64 " dump%s, not complete or wrong.\n", left,
                units_plural(left));
}

static int export_all(struct exporter *e, const struct check_options *o)
{
    const int64_t n = e->shape->n;
    const int comps = e->format->out_comps ? e->format->out_comps : BT_NCOMP;
    if (e->c->format == SHAPE_NETCDF && !e->format->dump_suffix)
        return err_set(ERR_USAGE, "--export xdmf: XDMF knows no netCDF; export %s as vti",
                       e->c->path);
    if (e->c->format == SHAPE_HDF5 && !e->format->dump_suffix &&
        strchr(without_directory(e->c->path), ':'))
        return err_set(ERR_USAGE,
                       "--export xdmf: XDMF ends the name of an HDF5 file at its first "
                       "colon; rename %s",
                       e->c->path);
    TRY(check_targets(e));
    TRY(check_space(e));
    TRY(make_room(e));
    TRY(shape_open(&e->file, "", e->c->path, NULL));
    if (e->c->format != SHAPE_RAW) {
        struct shape same;
        TRY(container_open(&e->file, e->c->format, e->c->file_bytes, &same));
    }
    TRY(stop_install());
    e->progress = progress_begin(progress_mode_of(o->progress), "exporting", "MB",
                                 e->dumps_n * 8 * comps * n * n * n / MB + 1);
    return write_files(e);
}

int export_dumps(const struct check *c, const struct check_options *o, FILE *tell)
{
    struct exporter e = {.c = c,
                         .shape = &c->shape,
                         .format = find_format(o->export),
                         .file = {.fd = -1, .path = c->path},
                         .target = {.fd = -1}};
    int rc = choose_dumps(&e);
    if (rc == 0 && e.dumps_n > 0) {
        rc = export_all(&e, o);
        progress_end(e.progress);
        if (rc == 0) print_exported(&e, tell);
    } else if (rc == 0) {
        fputs("Nothing exported: no dump is complete and right.\n", tell);
    }
    container_close(&e.file);
    if (e.file.fd >= 0) close(e.file.fd);
    free(e.dump);
    free(e.time);
    free(e.bytes);
    free(e.u);
    free(e.out);
    return rc;
}
