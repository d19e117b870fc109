/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "verify/manifest.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "verify/journal.h"

#define SCHEMA    "nht1-dump/1"
#define HASH      "nht1-h64/1"
#define DUMPS_MAX (INT64_C(1) << 32)
#define BYTES_MAX (INT64_C(256) << 20) /* of the text: half a million dumps of class S */
#define WHERE     4200                 /* room for "damaged manifest PATH: dumps[D]" */

/* An object of the manifest and what messages call it. */
struct source {
    const json_t *object;
    char where[WHERE];
};

static int bad_member(const struct source *s, const char *key, const char *what)
{
    return err_set(ERR_USAGE, "%s: \"%s\" %s", s->where, key, what);
}

static int get_int(const struct source *s, const char *key, int64_t min, int64_t max, int64_t *out)
{
    return js_get_int(s->object, s->where, key, min, max, out);
}

static int get_text(const struct source *s, const char *key, const char **out)
{
    return js_get_text(s->object, s->where, key, out);
}

/* Copies a text, cut to size. */
static int get_copy(const struct source *s, const char *key, char *out, size_t size)
{
    const char *text;
    TRY(get_text(s, key, &text));
    snprintf(out, size, "%s", text);
    return 0;
}

/* The same of a text that is printed as it is: nothing in it may reach the terminal as a command.
 */
static int get_plain(const struct source *s, const char *key, char *out, size_t size)
{
    const char *text;
    TRY(get_text(s, key, &text));
    for (const char *c = text; *c; c++)
        if (*c < 0x20 || *c > 0x7e)
            return bad_member(s, key, "has characters that are no printable ASCII");
    return get_copy(s, key, out, size);
}

static int check_schema(const struct source *s)
{
    const char *text;
    TRY(get_text(s, "schema", &text));
    if (strcmp(text, SCHEMA) != 0)
        return bad_member(s, "schema", "is not \"" SCHEMA "\": no manifest");
    TRY(get_text(s, "hash", &text));
    if (strcmp(text, HASH) != 0) return bad_member(s, "hash", "names another hash than " HASH);
    return 0;
}

static int get_shape(const struct source *s, struct shape *shape)
{
    int64_t value;
    const char *layout, *endian;
    TRY(get_int(s, "components", BT_NCOMP, BT_NCOMP, &value));
    TRY(get_int(s, "word_bytes", 8, 8, &value));
    TRY(get_int(s, "n", BT_N_MIN, BT_N_MAX, &shape->n));
    TRY(get_int(s, "dumps_planned", 0, DUMPS_MAX, &shape->dumps_n));
    TRY(get_text(s, "layout", &layout));
    TRY(get_text(s, "endian", &endian));
    shape->layout = shape_layout_find(layout);
    shape->endian = shape_endian_find(endian);
    if (shape->layout == SHAPE_UNKNOWN)
        return bad_member(s, "layout", "is none of mijk, ijkm, records");
    if (shape->endian == SHAPE_UNKNOWN) return bad_member(s, "endian", "is neither little nor big");
    TRY(get_int(s, "dump_bytes", 1, INT64_MAX, &value));
    if (value != shape_dump_bytes(shape))
        return bad_member(s, "dump_bytes", "does not follow from \"n\" and \"layout\"");
    if (shape->dumps_n > INT64_MAX / value)
        return bad_member(s, "dumps_planned", "is out of range");
    return 0;
}

/* Raw files have neither member. */
static int get_format(const struct source *s, int *format)
{
    const char *text;
    *format = SHAPE_RAW;
    if (!json_object_get(s->object, "format")) return 0;
    TRY(get_text(s, "format", &text));
    *format = shape_format_find(text);
    if (*format == SHAPE_UNKNOWN) return bad_member(s, "format", "is none of raw, hdf5, netcdf");
    if (*format == SHAPE_RAW) return 0;
    TRY(get_text(s, "variable", &text));
    return strcmp(text, "solution") == 0 ? 0 : bad_member(s, "variable", "is not \"solution\"");
}

/* Where the dumps lie in a container. */
static int get_place(const struct source *s, struct manifest *m)
{
    const int64_t bytes = m->shape.dumps_n * shape_dump_bytes(&m->shape);
    const bool placed = json_object_get(s->object, "data_offset") != NULL;
    m->data_offset = -1;
    if (json_object_get(s->object, "chunk")) TRY(get_int(s, "chunk", 1, BT_N_MAX, &m->chunk));
    if (placed) TRY(get_int(s, "data_offset", 0, INT64_MAX, &m->data_offset));
    if (placed || json_object_get(s->object, "file_bytes"))
        TRY(get_int(s, "file_bytes", 1, INT64_MAX, &m->file_bytes));
    if (!placed || m->data_offset == m->file_bytes - bytes) return 0;
    return bad_member(s, "data_offset", "does not fit \"file_bytes\" and the dumps");
}

static int get_run(const struct source *s, struct manifest *m)
{
    TRY(js_get_real(s->object, s->where, "dt", &m->dt));
    if (!isfinite(m->dt) || !(m->dt > 0)) return bad_member(s, "dt", "is no positive number");
    TRY(get_int(s, "steps", 0, INT64_MAX - 1, &m->steps)); /* step + 1 is a number too */
    TRY(get_int(s, "interval", 1, INT64_MAX, &m->interval));
    TRY(get_plain(s, "run_id", m->run_id, sizeof m->run_id));
    TRY(get_copy(s, "file", m->file, sizeof m->file));
    TRY(get_plain(s, "writer", m->writer, sizeof m->writer));
    return get_plain(s, "kernel", m->kernel, sizeof m->kernel);
}

static uint64_t sum_words(const uint64_t *words, int64_t count)
{
    uint64_t sum = 0;
    for (int64_t w = 0; w < count; w++)
        sum += words[w];
    return sum;
}

/* All words of one direction add up to the same number in every direction. */
static int get_digest(const struct source *s, int64_t n, uint64_t *words)
{
    static const char *const axis[4] = {"i", "j", "k", "m"};
    json_t *digest;
    TRY(js_get_object(s->object, s->where, "digest", &digest));
    for (int a = 0; a < 4; a++) {
        const int64_t count = a < 3 ? n : BT_NCOMP;
        TRY(js_get_words(digest, s->where, axis[a], count, words + a * n));
        if (sum_words(words + a * n, count) != sum_words(words, n))
            return bad_member(s, "digest", "contradicts itself");
    }
    return 0;
}

static int get_dump(const struct source *s, struct manifest *m, int64_t d)
{
    struct manifest_dump *dump = &m->dump[d];
    uint64_t *words = m->words + d * digest_words(m->shape.n);
    bool durable; /* must be there, and is nothing to a file that is */
    const int64_t at = num_min(num_product(d + 1, m->interval), m->steps);
    TRY(get_int(s, "step", at, at, &dump->step));
    TRY(js_get_bool(s->object, s->where, "complete", &dump->complete));
    TRY(js_get_bool(s->object, s->where, "durable", &durable));
    if (!dump->complete) return 0;
    TRY(get_digest(s, m->shape.n, words));
    dump->digest = words;
    m->complete_n++;
    return 0;
}

static int get_dumps(const struct source *s, struct manifest *m)
{
    json_t *list;
    struct source entry;
    TRY(js_get_array(s->object, s->where, "dumps", &list));
    m->dumps_n = (int64_t)json_array_size(list);
    if (m->dumps_n > m->shape.dumps_n)
        return bad_member(s, "dumps", "has more entries than planned");
    m->dump = mem_new(m->dumps_n + 1, sizeof *m->dump, "%s", s->where);
    m->words = mem_new(m->dumps_n + 1, (size_t)digest_words(m->shape.n) * 8, "%s", s->where);
    if (!m->dump || !m->words) return ERR_NOMEM;
    for (int64_t d = 0; d < m->dumps_n; d++) {
        entry.object = json_array_get(list, (size_t)d);
        snprintf(entry.where, sizeof entry.where, "%.4150s: dumps[%" PRId64 "]", s->where, d);
        TRY(get_dump(&entry, m, d));
    }
    return 0;
}

/* Returns 1, 0 when there is no such file, ERR_IO when it is no regular file: reading a FIFO would
 * wait for ever; ERR_USAGE when it is too large to be read into memory. */
static int present(const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return errno == ENOENT ? 0 : err_set_errno(ERR_IO, errno, "manifest %s", path);
    if (S_ISREG(st.st_mode) && st.st_size > BYTES_MAX)
        return err_set(ERR_USAGE,
                       "manifest %s: %" PRId64 " bytes are more than the %" PRId64 " that are read",
                       path, (int64_t)st.st_size, BYTES_MAX);
    if (S_ISREG(st.st_mode)) return 1;
    return err_set(ERR_IO, "manifest %s: not a regular file", path);
}

/* The manifest alone; [out] journal: it goes on in one. */
static int read_text(const char *path, struct manifest *m, bool *journal)
{
    json_t *root;
    memset(m, 0, sizeof *m);
    const int there = present(path);
    if (there <= 0) return there;
    TRY(js_read(path, &root));
    struct source s = {.object = root};
    snprintf(s.where, sizeof s.where, "damaged manifest %s", path);
    int rc = check_schema(&s);
    if (rc == 0) rc = get_shape(&s, &m->shape);
    if (rc == 0) rc = get_format(&s, &m->format);
    if (rc == 0) rc = get_place(&s, m);
    if (rc == 0) rc = get_run(&s, m);
    if (rc == 0) rc = get_dumps(&s, m);
    m->resumed = json_array_size(json_object_get(root, "resumed")) > 0;
    m->parts = json_incref(json_object_get(root, "parts"));
    *journal = json_is_true(json_object_get(root, "journal"));
    json_decref(root);
    return rc < 0 ? rc : 1;
}

/* A run that ends meanwhile replaces the manifest and then removes the journal. */
int manifest_read(const char *path, struct manifest *m)
{
    for (int try = 0;; try++) {
        bool journal = false;
        const int there = read_text(path, m, &journal);
        if (there <= 0 || !journal) return there;
        const int rc = journal_read(path, m);
        if (rc < 0) return rc;
        if (rc > 0 || try == 2) return 1;
        manifest_free(m);
    }
}

void manifest_free(struct manifest *m)
{
    free(m->dump);
    free(m->words);
    json_decref(m->parts);
    memset(m, 0, sizeof *m);
}

int64_t manifest_step(const struct manifest *m, int64_t dump)
{
    return m && dump < m->dumps_n ? m->dump[dump].step : -1;
}

bool manifest_complete(const struct manifest *m, int64_t dump)
{
    return dump < m->dumps_n && m->dump[dump].complete;
}
