/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "verify/check.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/conf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "verify/container.h"
#include "verify/detect.h"
#include "verify/locate.h"
#include "verify/scan.h"

/* What the steps of a verification share. */
struct run {
    struct check *c;
    const struct check_options *o;
    FILE *listing;
    struct shape_file file;
    struct scan scan;
    struct progress *progress;
};

/* NULL when there is none. */
static const struct manifest *manifest_of(const struct check *c)
{
    return c->has_manifest ? &c->manifest : NULL;
}

static int read_manifest(struct run *r)
{
    struct check *c = r->c;
    const int length = snprintf(c->manifest_path, sizeof c->manifest_path, "%s.json", c->path);
    if (length >= (int)sizeof c->manifest_path)
        return err_set(ERR_USAGE, "%.60s...: the name is too long", c->path);
    const int rc = manifest_read(c->manifest_path, &c->manifest);
    c->has_manifest = rc > 0;
    if (rc != ERR_USAGE) return rc < 0 ? rc : 0;
    char damaged[ERR_MESSAGE_MAX];
    snprintf(damaged, sizeof damaged, "%s", err_message());
    err_clear();
    return err_set(ERR_USAGE,
                   "%s; when it is moved away, the file can still be checked by norms and listings",
                   damaged);
}

static void shape_text(const struct shape *s, char *buf, size_t size)
{
    snprintf(buf, size, "N = %" PRId64 ", layout %s, %s endian", s->n, shape_layout_name(s->layout),
             shape_endian_name(s->endian));
}

/* A shape that fits better than the stated one: with the same N if possible, else any. */
static int suggest(struct run *r, char *buf, size_t size)
{
    struct shape known = {r->c->shape.n, SHAPE_UNKNOWN, SHAPE_UNKNOWN, 0}, found;
    int rc = detect_shape(&r->file, r->c->file_bytes, &known, &found);
    if (rc == 0 && known.n > 0) {
        known.n = 0;
        rc = detect_shape(&r->file, r->c->file_bytes, &known, &found);
    }
    if (rc > 0) shape_text(&found, buf, size);
    return rc;
}

/* Without a manifest the faces must show the shape, stated or not. */
static int find_shape(struct run *r)
{
    struct shape found;
    struct shape *s = &r->c->shape;
    char seen[96];
    int rc = detect_shape(&r->file, r->c->file_bytes, s, &found);
    if (rc > 0) {
        r->c->shape_found = s->n == 0 || s->layout == SHAPE_UNKNOWN || s->endian == SHAPE_UNKNOWN;
        *s = found;
    }
    if (rc != 0) return rc < 0 ? rc : 0;
    rc = suggest(r, seen, sizeof seen);
    if (rc > 0)
        finding_add(&r->c->findings, "shape", -1,
                    "the file does not have the shape that the options give; it looks like %s",
                    seen);
    else
        finding_add(&r->c->findings, "shape", -1,
                    "the file is not a dump file of BT in any known shape: in none of them are the "
                    "values on the faces of the grid the exact solution");
    return rc < 0 ? rc : 0;
}

/* With a manifest a file that shows no faces may be damaged all over: only another shape that fits
 * proves that this one is wrong. */
static int confirm_shape(struct run *r)
{
    double score;
    char stated[96], seen[96];
    struct check *c = r->c;
    TRY(detect_score(&r->file, c->file_bytes, &c->shape, &score));
    if (score >= DETECT_FAILS) return 0;
    const int rc = suggest(r, seen, sizeof seen);
    if (rc <= 0) return rc;
    shape_text(&c->shape, stated, sizeof stated);
    finding_add(&c->findings, "shape", -1, "wrong shape: the file is not %s; it looks like %s",
                stated, seen);
    return 0;
}

/* An error that only shows a wrong file, and need not end the check, becomes a finding. Returns 0 then. */
static int as_finding(struct run *r, int rc, int64_t dump)
{
    if (rc != ERR_VERIFY) return rc;
    finding_add(&r->c->findings, "format", dump, "%s", err_message());
    err_clear();
    return 0;
}

/* A container states its shape: manifest and options must agree with it. */
static int open_container(struct run *r)
{
    struct shape is;
    struct check *c = r->c;
    struct shape *s = &c->shape;
    const char *stated = c->has_manifest ? "manifest and options say" : "the options say";
    c->content_bytes = c->file_bytes;
    TRY(container_detect(&r->file, &c->format));
    /* Files of netCDF-4 are HDF5. */
    if (c->has_manifest && c->format != c->manifest.format &&
        !(c->format == SHAPE_HDF5 && c->manifest.format == SHAPE_NETCDF)) {
        finding_add(&c->findings, "format", -1,
                    "wrong format: by its first bytes the file is %s, the manifest says %s",
                    shape_format_name(c->format), shape_format_name(c->manifest.format));
        return 0;
    }
    if (c->format == SHAPE_RAW) return 0;
    if (shape_endian_find(r->o->endian) != SHAPE_UNKNOWN)
        return err_set(ERR_USAGE, "--endian: %s is %s, whose library knows the byte order", c->path,
                       shape_format_name(c->format));
    const int rc = container_open(&r->file, c->format, c->file_bytes, &is);
    if (rc < 0) return as_finding(r, rc, -1);
    snprintf(c->library, sizeof c->library, "%s", container_library(r->file.container));
    if (s->n > 0 && s->n != is.n)
        finding_add(&c->findings, "shape", -1,
                    "wrong shape: the file has N = %" PRId64 ", not %" PRId64 " as %s", is.n, s->n,
                    stated);
    if (s->layout != SHAPE_UNKNOWN && s->layout != is.layout)
        finding_add(&c->findings, "shape", -1, "wrong shape: the file has layout %s, not %s as %s",
                    shape_layout_name(is.layout), shape_layout_name(s->layout), stated);
    if ((s->dumps_n > 0 || c->has_manifest) && s->dumps_n != is.dumps_n)
        finding_add(&c->findings, "shape", -1,
                    "wrong shape: the file has %" PRId64 " dumps, not %" PRId64 " as %s",
                    is.dumps_n, s->dumps_n, stated);
    *s = is;
    c->content_bytes = is.dumps_n * shape_dump_bytes(&is);
    return c->has_manifest && c->findings.n == 0
               ? container_compare(r->file.container, &c->manifest, &c->findings)
               : 0;
}

static int check_shape(struct run *r)
{
    struct check *c = r->c;
    const struct shape *m = &c->manifest.shape;
    const int layout = shape_layout_find(r->o->layout), endian = shape_endian_find(r->o->endian);
    /* Options hold over the manifest, which holds over what can be found out. */
    c->shape = c->has_manifest ? *m : (struct shape){0, SHAPE_UNKNOWN, SHAPE_UNKNOWN, 0};
    if (r->o->n > 0) c->shape.n = r->o->n;
    if (r->o->dumps > 0) c->shape.dumps_n = r->o->dumps;
    if (layout != SHAPE_UNKNOWN) c->shape.layout = layout;
    if (endian != SHAPE_UNKNOWN) c->shape.endian = endian;
    char word[CONF_WORD_MAX];
    if (c->file_bytes == 0 && c->has_manifest && c->manifest.parts)
        return err_set(
            ERR_USAGE,
            "%s: its dumps are in %s.rank00000 and so on: nht1-verify --merge %s makes one "
            "file of them and verifies it",
            r->c->path, r->c->path, conf_file_word(r->c->path, word));
    if (c->file_bytes == 0) {
        finding_add(&c->findings, "size", -1, "the file is empty");
        return 0;
    }
    TRY(open_container(r));
    if (!r->file.container && c->findings.n == 0)
        TRY(c->has_manifest ? confirm_shape(r) : find_shape(r));
    if (!c->has_manifest) return 0;
    if (c->shape.n != m->n && c->findings.n == 0)
        finding_add(&c->findings, "shape", -1,
                    "wrong shape: --n is %" PRId64 ", the manifest says %" PRId64, c->shape.n,
                    m->n);
    if (c->shape.dumps_n != m->dumps_n && c->findings.n == 0)
        finding_add(&c->findings, "shape", -1,
                    "wrong shape: --dumps is %" PRId64 ", the manifest says %" PRId64,
                    c->shape.dumps_n, m->dumps_n);
    return 0;
}

/* Whether a dump is to be checked. */
static bool is_to_check(const struct check *c, int64_t d)
{
    return !c->has_manifest || manifest_complete(&c->manifest, d);
}

static int check_size(struct check *c)
{
    const int64_t dump_bytes = shape_dump_bytes(&c->shape), whole = c->content_bytes / dump_bytes;
    int64_t *dumps_n = &c->shape.dumps_n;
    if (*dumps_n == 0 && !c->has_manifest) *dumps_n = whole + (c->content_bytes % dump_bytes != 0);
    if (*dumps_n > INT64_MAX / dump_bytes)
        return err_set(ERR_USAGE, "--dumps: %" PRId64 " dumps are more than a file can hold",
                       *dumps_n);
    const int64_t end = *dumps_n * dump_bytes;
    /* What a netCDF file lacks at its end reads as zeros, which of a run cut short is no error. */
    if (c->format == SHAPE_NETCDF && c->file_bytes < end &&
        (!c->has_manifest || c->manifest.complete_n == *dumps_n))
        finding_add(&c->findings, "size", -1,
                    "the file is short: it has %" PRId64 " bytes, its %" PRId64
                    " dumps alone have %" PRId64,
                    c->file_bytes, *dumps_n, end);
    if (c->content_bytes > end)
        finding_add(&c->findings, "size", -1,
                    "%" PRId64 " bytes follow the last dump: the file has %" PRId64
                    " bytes, %" PRId64 " dumps of %" PRId64 " bytes make %" PRId64,
                    c->content_bytes - end, c->content_bytes, *dumps_n, dump_bytes, end);
    if (c->content_bytes >= end) return 0;
    int64_t last = (c->has_manifest ? c->manifest.dumps_n : *dumps_n) - 1;
    while (last >= whole && !is_to_check(c, last))
        last--;
    if (last < whole) return 0;
    char name[LOCATE_NAME];
    finding_add(&c->findings, "size", whole,
                "the file is short: %" PRId64 " of %" PRId64
                " bytes are there; it ends inside %s, of which %" PRId64 " of %" PRId64
                " bytes are there%s",
                c->content_bytes, (last + 1) * dump_bytes, locate_name(manifest_of(c), whole, name),
                c->content_bytes - whole * dump_bytes, dump_bytes,
                last > whole ? ", and the dumps after it are missing" : "");
    return 0;
}

/* Whether values of a dump, from the middle of it, lie where the manifest says that they do. A run cut short need not
 * have all bytes, and what the library cannot read is told with its dump. [out] there. */
static int look_at_place(struct run *r, int64_t d, bool *there)
{
    const struct check *c = r->c;
    const struct manifest *m = &c->manifest;
    const struct shape_file raw = {.fd = r->file.fd, .path = c->path};
    const int64_t bytes = shape_plane_bytes(&c->shape);
    const int64_t at = d * shape_dump_bytes(&c->shape) + shape_planes(&c->shape) / 2 * bytes;
    *there = true;
    if (m->data_offset + at + bytes > c->file_bytes) return 0;
    char *value = mem_new(2, (size_t)bytes, "a plane of %s", c->path);
    if (!value) return ERR_NOMEM;
    int rc = shape_read_bytes(&r->file, value, bytes, at);
    if (rc == 0) rc = shape_read_bytes(&raw, value + bytes, bytes, m->data_offset + at);
    for (int64_t b = 0; rc == 0 && *there && b < bytes; b += 8)
        *there = shape_u64(&c->shape, value + b) == shape_u64(&m->shape, value + bytes + b);
    free(value);
    if (rc == ERR_VERIFY) err_clear();
    return rc == ERR_VERIFY ? 0 : rc;
}

/* Whether the dumps lie in a container where the manifest says. It may have been written anew, compressed perhaps:
 * that its values are right is another question. */
static int check_place(struct run *r)
{
    struct check *c = r->c;
    const struct manifest *m = &c->manifest;
    const bool cut = c->file_bytes < m->file_bytes && m->complete_n < c->shape.dumps_n;
    if (!c->has_manifest || !r->file.container) return 0;
    c->elsewhere = (m->file_bytes > 0 && m->file_bytes != c->file_bytes && !cut) ||
                   !container_has_chunks(r->file.container, m);
    int64_t d = 0;
    while (d < m->dumps_n && !is_to_check(c, d))
        d++;
    bool there = true;
    if (m->data_offset >= 0 && d < m->dumps_n) TRY(look_at_place(r, d, &there));
    c->elsewhere |= !there;
    return 0;
}

/* Entries for the dumps that should be there, but not for more missing ones than it takes to say
 * so: their number comes from outside. */
static int make_dumps(struct check *c)
{
    const int64_t whole = c->content_bytes / shape_dump_bytes(&c->shape);
    const int64_t listed = c->has_manifest ? c->manifest.dumps_n : 0;
    const int64_t worth = listed > whole ? listed : whole + 1;
    c->dumps_n = c->shape.dumps_n < worth ? c->shape.dumps_n : worth;
    c->dump = mem_new(c->dumps_n, sizeof *c->dump, "the results of %" PRId64 " dumps", c->dumps_n);
    if (!c->dump) return ERR_NOMEM;
    for (int64_t d = 0; d < c->dumps_n; d++) {
        c->dump[d].step = manifest_step(manifest_of(c), d);
        c->dump[d].state = CHECK_UNJUDGED;
        if (d >= whole) c->dump[d].state = CHECK_MISSING;
        if (!is_to_check(c, d)) c->dump[d].state = CHECK_INCOMPLETE;
    }
    return 0;
}

/* A norm that is not a number proves nothing about the dump. */
static void judge_overflow(struct run *r, int64_t d, const char *name)
{
    const struct scan *s = &r->scan;
    const struct place *at = &s->huge_first;
    int m = 0;
    while (m < BT_NCOMP && isfinite(s->xce[m]))
        m++;
    if (m == BT_NCOMP || s->nonfinite_n > 0) return; /* told already */
    if (s->huge_n == 0)
        finding_add(&r->c->findings, "norm", d,
                    "%s: the error norm of U_%d is not a finite number: the values are too large",
                    name, m);
    else
        finding_place(finding_add(&r->c->findings, "norm", d,
                                  "%s: the error norm of U_%d is not a finite number: %" PRId64
                                  " values are too large, the first is U_%d at (i,j,k) = (%" PRId64
                                  ",%" PRId64 ",%" PRId64 ")",
                                  name, m, s->huge_n, at->m, at->i, at->j, at->k),
                      at);
}

/* What is wrong with the dump scanned last. */
static int judge_dump(struct run *r, int64_t d)
{
    char name[LOCATE_NAME];
    struct check *c = r->c;
    const struct scan *s = &r->scan;
    const struct place *at = &s->face_first;
    const int64_t before = c->findings.n;
    const struct locate l = {&r->file, &c->shape, &c->manifest, d, s->digest, s->zeros_n};
    locate_name(manifest_of(c), d, name);
    if (s->marker_wrong_n > 0)
        finding_add(&c->findings, "marker", d,
                    "%s: %" PRId64
                    " records have a wrong length marker, the first in plane k = %" PRId64,
                    name, s->marker_wrong_n, s->marker_first_k);
    if (c->has_manifest && !locate_agrees(&l)) {
        /* A digest that disagrees says more about wrong values than where they show. */
        TRY(locate_explain(&l, &c->findings));
    } else {
        if (s->nonfinite_n > 0)
            finding_add(&c->findings, "value", d, "%s: %" PRId64 " values are NaN or infinite",
                        name, s->nonfinite_n);
        if (s->face_wrong_n > 0)
            finding_place(finding_add(&c->findings, "value", d,
                                      "%s: %" PRId64 " values on the faces of the grid are not the "
                                      "exact solution, the first is U_%d at (i,j,k) = (%" PRId64
                                      ",%" PRId64 ",%" PRId64 ")",
                                      name, s->face_wrong_n, at->m, at->i, at->j, at->k),
                          at);
        judge_overflow(r, d, name);
    }
    if (c->findings.n > before)
        c->dump[d].state = CHECK_WRONG;
    else if (c->has_manifest)
        c->dump[d].state = CHECK_RIGHT;
    return 0;
}

static int check_dump(struct run *r, int64_t d)
{
    struct check_dump *dump = &r->c->dump[d];
    int rc = scan_dump(&r->scan, d, r->progress);
    memcpy(dump->xce, r->scan.xce, sizeof dump->xce);
    dump->nonfinite_n = r->scan.nonfinite_n;
    dump->zeros_n = r->scan.zeros_n;
    dump->face_wrong_n = r->scan.face_wrong_n;
    dump->marker_wrong_n = r->scan.marker_wrong_n;
    r->c->checked_n++;
    if (rc == 0) rc = judge_dump(r, d);
    if (rc == ERR_VERIFY) dump->state = CHECK_WRONG;
    TRY(as_finding(r, rc, d));
    if (r->o->diagonal) listing_print(r->listing, r->c->shape.n, r->scan.diagonal);
    return 0;
}

static int check_dumps(struct run *r)
{
    struct check *c = r->c;
    bool any = false;
    for (int64_t d = 0; d < c->dumps_n; d++)
        any = any || c->dump[d].state == CHECK_UNJUDGED;
    /* The planes of an absurd N, of which no dump is there, need no memory. */
    if (any) TRY(scan_new(&r->scan, &r->file, &c->shape));
    r->progress = progress_begin(progress_mode_of(r->o->progress), "verifying", "MB",
                                 c->content_bytes / SCAN_PROGRESS_BYTES + 1);
    for (int64_t d = 0; d < c->dumps_n; d++) {
        const bool looked_at = c->dump[d].state == CHECK_UNJUDGED;
        if (looked_at) TRY(check_dump(r, d));
        if (c->listing.file)
            TRY(listing_compare(&c->listing, c->shape.n, d, looked_at ? r->scan.diagonal : NULL));
    }
    return 0;
}

/* The listings that come with nht1 are of the whole runs of classes: what is of another run is not wrong for it. */
static int reference_is_of(const struct check *c)
{
    const struct manifest *m = &c->manifest;
    for (const char *cls = "SAB"; c->has_manifest && *cls; cls++) {
        struct bt_problem p;
        TRY(bt_problem_class(*cls, &p));
        if (p.n != c->shape.n || (p.steps == m->steps && p.interval == m->interval &&
                                  bt_reference_find(p.n, m->steps, m->dt)))
            continue;
        return err_set(ERR_USAGE,
                       "--against reference: the reference listing of N = %" PRId64
                       " is of %" PRId64 " steps of dt = %g with a dump every %" PRId64
                       ", and %s is of %" PRId64 " steps of dt = %g with one every %" PRId64,
                       p.n, p.steps, p.dt, p.interval, c->path, m->steps, m->dt, m->interval);
    }
    return 0;
}

static int check_all(struct run *r)
{
    struct check *c = r->c;
    TRY(shape_open(&r->file, "", c->path, &c->file_bytes));
    posix_fadvise(r->file.fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    TRY(read_manifest(r));
    TRY(check_shape(r));
    if (c->findings.n > 0) return 0;
    TRY(check_size(c));
    TRY(check_place(r));
    TRY(make_dumps(c));
    if (r->o->against && strcmp(r->o->against, "reference") == 0) TRY(reference_is_of(c));
    if (r->o->against) TRY(listing_open(&c->listing, r->o->against, c->shape.n));
    TRY(check_dumps(r));
    return listing_close(&c->listing);
}

int check_file(struct check *c, const char *path, const struct check_options *o, FILE *listing)
{
    struct run r = {.c = c, .o = o, .listing = listing, .file = {.fd = -1, .path = path}};
    memset(c, 0, sizeof *c);
    c->path = path;
    const int rc = check_all(&r);
    progress_end(r.progress);
    scan_free(&r.scan);
    container_close(&r.file);
    if (r.file.fd >= 0) close(r.file.fd);
    return rc;
}

void check_free(struct check *c)
{
    listing_close(&c->listing);
    manifest_free(&c->manifest);
    free(c->dump);
    memset(c, 0, sizeof *c);
}
