/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/manifest_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/json.h"

#define RUN_ID_DIGITS 32

static int draw_run_id(char id[RUN_ID_DIGITS + 1])
{
    uint64_t word[2];
    if (getrandom(word, sizeof word, 0) != (ssize_t)sizeof word) {
        return err_set_errno(ERR_IO, errno, "getrandom");
    }
    snprintf(id, RUN_ID_DIGITS + 1, "%016" PRIx64 "%016" PRIx64, word[0], word[1]);
    return 0;
}

static const char *byte_order(void)
{
    const uint16_t probe = 1;
    return *(const unsigned char *)&probe ? "little" : "big";
}

static json_t *describe(const char *name, const char *run_id, const struct io_spec *s)
{
    return json_pack("{ss ss ss ss ss sI si si sI sI sI sf sI ss ss ss s[]}", "schema",
                     IO_MANIFEST_SCHEMA, "run_id", run_id, "file", name, "layout",
                     io_layout_name(s->layout), "endian", byte_order(), "n", (json_int_t)s->n,
                     "components", IO_NCOMP, "word_bytes", IO_WORD_BYTES, "dump_bytes",
                     (json_int_t)io_dump_bytes(s->layout, s->n), "dumps_planned",
                     (json_int_t)s->dumps_n, "steps", (json_int_t)s->steps_n, "dt", s->dt,
                     "interval", (json_int_t)s->interval, "driver", s->driver ? s->driver : "",
                     "kernel", s->kernel ? s->kernel : "", "hash", "nht1-h64/1", "dumps");
}

int io_manifest_new(struct io_manifest **out, const char *path, const char *name,
                    const struct io_spec *spec)
{
    char run_id[RUN_ID_DIGITS + 1];
    *out = NULL;
    TRY(draw_run_id(run_id));
    struct io_manifest *m = calloc(1, sizeof *m);
    if (!m) return err_set(ERR_NOMEM, "no memory for the manifest %s", path);
    m->path = path;
    m->n = spec->n;
    m->durable = spec->sync != IO_SYNC_NONE;
    m->root = describe(name, run_id, spec);
    m->dumps = json_object_get(m->root, "dumps");
    if (!m->dumps) {
        io_manifest_free(m);
        return err_set(ERR_USAGE, "cannot put the name %s into a manifest: is it UTF-8?", name);
    }
    *out = m;
    return 0;
}

int io_manifest_parts(struct io_manifest *m, const struct io_view *views, int ranks_n)
{
    json_t *parts = json_array();
    for (int r = 0; r < ranks_n; r++) {
        const struct io_box *b = &views[r].box;
        json_array_append_new(parts,
                              json_pack("[IIIIII]", (json_int_t)b->lo[0], (json_int_t)b->lo[1],
                                        (json_int_t)b->lo[2], (json_int_t)b->n[0],
                                        (json_int_t)b->n[1], (json_int_t)b->n[2]));
    }
    const bool whole = json_array_size(parts) == (size_t)ranks_n;
    if (json_object_set_new(m->root, "parts", parts) == 0 && whole) return 0;
    return err_set(ERR_NOMEM, "no memory for the manifest %s", m->path);
}

int io_manifest_add(struct io_manifest *m, int64_t step, bool complete, bool durable,
                    const uint64_t *digest)
{
    const int64_t n = m->n;
    json_t *dump = json_pack("{sI sb sb s{so so so so}}", "step", (json_int_t)step, "complete",
                             (int)complete, "durable", (int)durable, "digest", "i",
                             js_words(digest, n), "j", js_words(digest + n, n), "k",
                             js_words(digest + 2 * n, n), "m", js_words(digest + 3 * n, IO_NCOMP));
    if (json_array_append_new(m->dumps, dump) == 0) return 0;
    return err_set(ERR_NOMEM, "no memory for the manifest %s", m->path);
}

void io_manifest_mark_complete(struct io_manifest *m, int64_t dumps_n)
{
    size_t d;
    json_t *dump;
    json_array_foreach(m->dumps, d, dump)
    {
        if ((int64_t)d < dumps_n) json_object_set_new(dump, "complete", json_true());
    }
}

void io_manifest_mark_durable(struct io_manifest *m)
{
    size_t d;
    json_t *dump;
    json_array_foreach(m->dumps, d, dump)
    {
        bool complete = json_is_true(json_object_get(dump, "complete"));
        json_object_set_new(dump, "durable", json_boolean(complete));
    }
}

/* Dumps are durable from the first on. */
static bool claims_durable(const struct io_manifest *m)
{
    return json_is_true(json_object_get(json_array_get(m->dumps, 0), "durable"));
}

/* A manifest that tells of durable dumps must not be replaced by one that loss of power may turn
 * into an empty file: its text at least is down before it takes the name. */
int io_manifest_write(struct io_manifest *m, bool flush)
{
    enum js_sync sync = claims_durable(m) ? JS_SYNC_FILE : JS_SYNC_NONE;
    if (flush && m->durable) sync = JS_SYNC_ALL;
    return js_write(m->path, m->root, sync);
}

void io_manifest_free(struct io_manifest *m)
{
    if (!m) return;
    json_decref(m->root);
    free(m);
}

static bool text_is(const json_t *root, const char *key, const char *wanted)
{
    const char *text = json_string_value(json_object_get(root, key));
    return text && strcmp(text, wanted) == 0;
}

enum io_manifest_kind io_manifest_look(const char *path, const char *name)
{
    struct stat st;
    json_error_t error;
    if (lstat(path, &st) != 0) return errno == ENOENT ? IO_MANIFEST_NONE : IO_MANIFEST_BLOCKED;
    if (!S_ISREG(st.st_mode)) return IO_MANIFEST_BLOCKED;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    bool ours = text_is(root, "schema", IO_MANIFEST_SCHEMA) && text_is(root, "file", name);
    json_decref(root);
    return ours ? IO_MANIFEST_OURS : IO_MANIFEST_FOREIGN;
}
