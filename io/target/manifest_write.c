/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing a manifest. What a dump costs must be small and not grow with the number of dumps before it, and
 * at every moment the text on disk has to name the complete dumps. So the file is replaced as a
 * whole, by the text that jansson would write, when a run begins and after it has ended, and what
 * happens in between goes into the journal (io/target/journal.h). */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/json.h"
#include "io/target/manifest_impl.h"
#include "io/target/place.h"

enum {
    SECTOR = 512,
    DUMP_BYTES = 256, /* of a dump without the digits of its digest */
    RECORDS_MORE = 4, /* in a journal, beside one for each dump: of claims alone */
};

/* ------------------------------------------------------------------ the text */

/* One axis of the digest, as js_get_words reads it. */
static char *put_axis(char *to, char axis, const uint64_t *word, int64_t n)
{
    static const char digit[] = "0123456789abcdef";
    to += sprintf(to, "%s\n        \"%c\": \"", axis == 'i' ? "" : ",", axis);
    for (int64_t w = 0; w < n; w++)
        for (int shift = 60; shift >= 0; shift -= 4)
            *to++ = digit[word[w] >> shift & 15];
    return stpcpy(to, "\"");
}

/* A dump as an element of the list. */
static char *put_dump(char *to, const struct io_manifest_dump *d, int64_t n)
{
    static const char *const word[] = {"false", "true"};
    to += sprintf(to,
                  "{\n      \"step\": %" PRId64
                  ",\n      \"complete\": %s,\n      \"durable\": %s,\n      \"digest\": {",
                  d->step, word[d->complete], word[d->durable]);
    to = put_axis(to, 'i', d->digest, n);
    to = put_axis(to, 'j', d->digest + n, n);
    to = put_axis(to, 'k', d->digest + 2 * n, n);
    to = put_axis(to, 'm', d->digest + 3 * n, IO_NCOMP);
    return stpcpy(to, "\n      }\n    }");
}

/* Size of a dump's text at most, and of its record in the journal. */
static int64_t dump_bytes(const struct io_manifest *m)
{
    return (DUMP_BYTES + 16 * digest_words(m->n) + SECTOR - 1) / SECTOR * SECTOR;
}

/* ------------------------------------------------------------------ dumps */

int io_manifest_add(struct io_manifest *m, int64_t step, bool complete, bool durable,
                    const uint64_t *digest)
{
    if (m->dumps_n == m->room_n) {
        const int64_t room_n = 2 * m->room_n + 16;
        struct io_manifest_dump *dump = realloc(m->dump, (size_t)room_n * sizeof *dump);
        if (!dump) return io_manifest_no_memory(m);
        m->dump = dump;
        m->room_n = room_n;
    }
    const size_t bytes = (size_t)digest_words(m->n) * sizeof *digest;
    struct io_manifest_dump *d = &m->dump[m->dumps_n];
    *d = (struct io_manifest_dump){step, complete, durable, malloc(bytes)};
    if (!d->digest) return io_manifest_no_memory(m);
    memcpy(d->digest, digest, bytes);
    m->dumps_n++;
    return 0;
}

void io_manifest_mark_complete(struct io_manifest *m, int64_t dumps_n)
{
    for (; m->complete_n < m->dumps_n && m->complete_n < dumps_n; m->complete_n++)
        m->dump[m->complete_n].complete = true;
}

void io_manifest_mark_durable(struct io_manifest *m)
{
    for (int64_t d = m->durable_n; d < m->dumps_n; d++)
        m->dump[d].durable = m->dump[d].complete;
    while (m->durable_n < m->dumps_n && m->dump[m->durable_n].durable)
        m->durable_n++;
}

/* ------------------------------------------------------------------ the file */

int io_manifest_room(const struct io_manifest *m, int64_t dumps_n)
{
    const int64_t rest = (int64_t)strlen(m->head) + 2 * DUMP_BYTES;
    int64_t bytes;
    struct stat st;
    if (__builtin_mul_overflow(dumps_n, dump_bytes(m), &bytes) ||
        __builtin_add_overflow(bytes, rest, &bytes) || bytes > IO_MANIFEST_BYTES_MAX)
        return err_set(ERR_USAGE,
                       "the manifest %s would be longer than %" PRId64
                       " bytes with the digests of %" PRId64
                       " dumps: choose a longer --interval or fewer --steps",
                       m->path, IO_MANIFEST_BYTES_MAX, dumps_n);
    const int64_t old_bytes = stat(m->path, &st) == 0 ? (int64_t)st.st_blocks * 512 : 0;
    return io_place_room(m->path, 2 * bytes - old_bytes, "its digests");
}

/* A manifest that tells of durable dumps must not be replaced by one that loss of power may turn
 * into an empty file: its text at least is down before it takes the name. */
static int replace(struct io_manifest *m, const char *text, bool flush)
{
    const bool claims_durable = m->dumps_n > 0 && m->dump[0].durable; /* from the first on */
    enum js_sync sync = claims_durable ? JS_SYNC_FILE : JS_SYNC_NONE;
    if (flush && m->durable) sync = JS_SYNC_ALL;
    return js_write_text(m->path, text, sync);
}

/* The text is put together from pieces, the head up to "dumps": [, and each dump. The bytes are those that
 * jansson would write. */
int io_manifest_write(struct io_manifest *m, bool flush)
{
    char *text = malloc(strlen(m->head) + (size_t)(m->dumps_n * dump_bytes(m)) + DUMP_BYTES);
    if (!text) return io_manifest_no_memory(m);
    char *to = stpcpy(text, m->head);
    for (int64_t d = 0; d < m->dumps_n; d++)
        to = put_dump(stpcpy(to, d == 0 ? "\n    " : ",\n    "), &m->dump[d], m->n);
    stpcpy(to, m->dumps_n > 0 ? "\n  ]\n}\n" : "]\n}\n");
    const int rc = replace(m, text, flush);
    free(text);
    return rc;
}

/* The journal's name is longer than the manifest's, which may have as many bytes as there can be. */
static bool can_have_journal(const struct io_manifest *m)
{
    const char *slash = strrchr(m->path, '/');
    return strlen(slash ? slash + 1 : m->path) + strlen(".journal") <= NAME_MAX;
}

static int make_journal(struct io_manifest *m, bool flush)
{
    return io_journal_new(&m->journal, m->path, io_manifest_run_id(m), m->n,
                          m->planned_n - m->dumps_n + RECORDS_MORE, flush && m->durable);
}

int io_manifest_begin(struct io_manifest *m, bool flush)
{
    const bool has = can_have_journal(m);
    /* The file is replaced while there is a journal, as at the end: so the file system has the inodes that this takes.
     * An old journal may say what the old file does not, and is replaced after it. */
    const bool before = has && !io_journal_is_there(m->path);
    if (has && json_object_set_new(m->root, "journal", json_true()) < 0)
        return io_manifest_no_memory(m);
    TRY(io_manifest_make_head(m));
    if (before) TRY(make_journal(m, flush));
    const int rc = io_manifest_write(m, flush);
    if (rc < 0 && before) io_manifest_drop_journal(m);
    TRY(rc);
    m->noted_n = m->dumps_n;
    m->open = true;
    return has && !before ? make_journal(m, flush) : 0;
}

/* A record for each new dump, the last one with the claims; or the last dump again, for those alone. */
int io_manifest_update(struct io_manifest *m, bool flush)
{
    const bool more = m->noted_n < m->dumps_n || m->noted_complete_n < m->complete_n ||
                      m->noted_durable_n < m->durable_n;
    if (!m->journal) return io_manifest_write(m, flush);
    if (!more || m->dumps_n == 0) return 0;
    for (int64_t d = m->noted_n < m->dumps_n ? m->noted_n : m->dumps_n - 1; d < m->dumps_n; d++) {
        const bool last = d + 1 == m->dumps_n;
        TRY(io_journal_add(m->journal, d, m->dump[d].step, m->dump[d].digest,
                           last ? m->complete_n : m->noted_complete_n,
                           last ? m->durable_n : m->noted_durable_n, last && flush && m->durable));
        m->noted_n = d + 1;
    }
    m->noted_complete_n = m->complete_n;
    m->noted_durable_n = m->durable_n;
    return 0;
}

int io_manifest_end(struct io_manifest *m)
{
    if (!m->open) return 0;
    json_object_del(m->root, "journal");
    TRY(io_manifest_make_head(m));
    TRY(io_manifest_write(m, true));
    io_manifest_drop_journal(m);
    return 0;
}

void io_manifest_drop_journal(struct io_manifest *m)
{
    io_journal_end(m->journal, true);
    m->journal = NULL;
    m->open = false;
}
