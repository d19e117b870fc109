/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/manifest.h"

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

/* The text as it goes to disk: the head up to "dumps": [, the dumps that were added, a tail. A new
 * dump takes the place of the tail, so that earlier dumps are never made into text again. */
struct io_manifest {
    char run_id[RUN_ID_DIGITS + 1];
    char *text; /* owned, ends in a zero byte */
    size_t room_bytes;
    size_t head_bytes, body_bytes; /* up to the first dump, and up to the tail */
    const char *path;
    int64_t n;
    bool durable; /* the run asks for durability at all */
};

/* What follows "dumps": [ with and without dumps in between. */
static const char tail[] = "\n  ]\n}\n", tail_empty[] = "]\n}\n";

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

static int no_memory(const struct io_manifest *m)
{
    return err_set(ERR_NOMEM, "no memory for the manifest %s", m->path);
}

/* Makes room for more bytes after the body, and a tail. Twice as much each time, so that the whole
 * text is moved a few times only. */
static int reserve(struct io_manifest *m, size_t more_bytes)
{
    const size_t needed_bytes = m->body_bytes + more_bytes + sizeof tail;
    if (needed_bytes <= m->room_bytes) return 0;
    const size_t room_bytes = 2 * needed_bytes;
    char *text = realloc(m->text, room_bytes);
    if (!text) return no_memory(m);
    m->text = text;
    m->room_bytes = room_bytes;
    return 0;
}

/* The head is made by jansson with an empty list, whose end is cut off. */
static int make_head(struct io_manifest *m, const char *name, const struct io_spec *spec)
{
    json_t *root = describe(name, m->run_id, spec);
    if (!root)
        return err_set(ERR_USAGE, "cannot put the name %s into a manifest: is it UTF-8?", name);
    m->text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(root);
    if (!m->text) return no_memory(m);
    const size_t bytes = strlen(m->text);
    m->head_bytes = m->body_bytes = bytes - strlen("]\n}");
    m->room_bytes = bytes + 1;
    TRY(reserve(m, 0));
    strcpy(m->text + m->body_bytes, tail_empty);
    return 0;
}

int io_manifest_new(struct io_manifest **out, const char *path, const char *name,
                    const struct io_spec *spec)
{
    *out = NULL;
    struct io_manifest *m = calloc(1, sizeof *m);
    if (!m) return err_set(ERR_NOMEM, "no memory for the manifest %s", path);
    m->path = path;
    m->n = spec->n;
    m->durable = spec->sync != IO_SYNC_NONE;
    int rc = draw_run_id(m->run_id);
    if (rc == 0) rc = make_head(m, name, spec);
    if (rc < 0)
        io_manifest_free(m);
    else
        *out = m;
    return rc;
}

/* One axis of the digest, as js_words writes it. */
static char *put_axis(char *to, char axis, const uint64_t *word, int64_t n)
{
    static const char digit[] = "0123456789abcdef";
    to += sprintf(to, "%s\n        \"%c\": \"", axis == 'i' ? "" : ",", axis);
    for (int64_t w = 0; w < n; w++)
        for (int shift = 60; shift >= 0; shift -= 4)
            *to++ = digit[word[w] >> shift & 15];
    return stpcpy(to, "\"");
}

#define COMPLETE "      \"complete\": true,\n      \"durable\": "

static char *put_dump(char *to, bool first, int64_t step, bool complete, bool durable)
{
    to += sprintf(to, "%s\n    {\n      \"step\": %" PRId64 ",\n", first ? "" : ",", step);
    to = stpcpy(to, complete ? COMPLETE : "      \"complete\": false,\n      \"durable\": ");
    return stpcpy(to, durable ? "true,\n" : "false,\n");
}

#define DUMP_BYTES 256 /* of a dump without the digits of its digest */

int io_manifest_add(struct io_manifest *m, int64_t step, bool complete, bool durable,
                    const uint64_t *digest)
{
    const int64_t n = m->n;
    TRY(reserve(m, DUMP_BYTES + 16 * (size_t)digest_words(n)));
    char *to = m->text + m->body_bytes;
    to = put_dump(to, m->body_bytes == m->head_bytes, step, complete, durable);
    to = stpcpy(to, "      \"digest\": {");
    to = put_axis(to, 'i', digest, n);
    to = put_axis(to, 'j', digest + n, n);
    to = put_axis(to, 'k', digest + 2 * n, n);
    to = put_axis(to, 'm', digest + 3 * n, IO_NCOMP);
    to = stpcpy(to, "\n      }\n    }");
    m->body_bytes = (size_t)(to - m->text);
    stpcpy(to, tail);
    return 0;
}

/* The text shrinks where "false" becomes "true"; what follows moves up, once. */
void io_manifest_mark_durable(struct io_manifest *m)
{
    static const char wanted[] = COMPLETE "false";
    char *from = m->text + m->head_bytes, *to = from, *hit;
    while ((hit = strstr(from, wanted))) {
        const size_t bytes = (size_t)(hit - from) + strlen(COMPLETE);
        memmove(to, from, bytes);
        to = stpcpy(to + bytes, "true");
        from = hit + strlen(wanted);
    }
    const size_t rest_bytes = strlen(from);
    memmove(to, from, rest_bytes + 1);
    m->body_bytes -= (size_t)(from - to);
}

int io_manifest_write(struct io_manifest *m, bool flush)
{
    return js_write_text(m->path, m->text, flush && m->durable ? JS_SYNC_ALL : JS_SYNC_NONE);
}

void io_manifest_free(struct io_manifest *m)
{
    if (!m) return;
    free(m->text);
    free(m);
}

const char *io_manifest_run_id(const struct io_manifest *m)
{
    return m->run_id;
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

bool io_manifest_is_of(const char *path, const char *run_id)
{
    struct stat st;
    json_error_t error;
    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode)) return false;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    const bool is = text_is(root, "run_id", run_id);
    json_decref(root);
    return is;
}
