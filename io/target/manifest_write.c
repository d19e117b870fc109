/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A manifest on its way to disk. What a dump costs must not grow with the number of dumps before
 * it, and at every moment the file is to be a manifest that names the complete dumps. So
 *
 *   up to IN_PLACE_FROM dumps  the file is replaced as a whole: little text, nothing to be had;
 *   from there on              it is replaced as a whole by one with as many places again as it has
 *                              dumps, entries that claim nothing, and these are filled in until
 *                              none is left: of D dumps some 4 D entries are written in all, where
 *                              D^2 / 2 would be if it were always replaced;
 *   when the run ends          it is replaced by one without places, as jansson would write it.
 *
 * A place has sectors of its own: what is being written when the power goes can harm no other dump.
 * It is filled in while it claims nothing; then its claims, both in one sector, are put. A reader,
 * and a run that is killed in between, sees valid JSON throughout. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/json.h"
#include "base/num.h"
#include "io/writers/fd.h"
#include "io/target/manifest_impl.h"
#include "io/target/place.h"

enum {
    IN_PLACE_FROM = 16,
    SECTOR = 512,
    DUMP_BYTES = 256, /* of a dump without the digits of its digest */
    CLAIMS_MAX = 64
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

/* Of a digest, to be freed; NULL: no memory. */
static char *digest_text(int64_t n, const uint64_t *digest)
{
    char *text = malloc(DUMP_BYTES + 16 * (size_t)digest_words(n)), *to = text;
    if (!text) return NULL;
    to = put_axis(to, 'i', digest, n);
    to = put_axis(to, 'j', digest + n, n);
    to = put_axis(to, 'k', digest + 2 * n, n);
    put_axis(to, 'm', digest + 3 * n, IO_NCOMP);
    return text;
}

static char *put_step(char *to, const struct io_manifest_dump *d)
{
    return to + sprintf(to, "{\n      \"step\": %" PRId64 ",\n      ", d->step);
}

/* width: of a place, where both words must fit, else 0. */
static char *put_claims(char *to, bool complete, bool durable, int width)
{
    static const char *const word[] = {"false", "true"};
    return to + sprintf(to, "\"complete\": %-*s,\n      \"durable\": %-*s,", width, word[complete],
                        width, word[durable]);
}

static char *put_digest(char *to, const char *digest)
{
    return stpcpy(stpcpy(stpcpy(to, "\n      \"digest\": {"), digest), "\n      }\n    }");
}

enum { PLACE_WIDTH = sizeof "false" - 1 };

static int64_t round_up(int64_t bytes)
{
    return (bytes + SECTOR - 1) / SECTOR * SECTOR;
}

static int64_t place_bytes(const struct io_manifest *m)
{
    return round_up(DUMP_BYTES + 16 * digest_words(m->n));
}

/* The text of a place without its end: all but what separates it from the next one. */
static int64_t put_place(char *to, const struct io_manifest *m, const struct io_manifest_dump *d)
{
    const int64_t bytes = place_bytes(m) - 2;
    char *end =
        put_digest(put_claims(put_step(to, d), d->complete, d->durable, PLACE_WIDTH), d->digest);
    memset(end, ' ', (size_t)(to + bytes - end));
    return bytes;
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
    char *text = digest_text(m->n, digest);
    if (!text) return io_manifest_no_memory(m);
    m->dump[m->dumps_n++] = (struct io_manifest_dump){step, complete, durable, text};
    return 0;
}

void io_manifest_mark_complete(struct io_manifest *m, int64_t dumps_n)
{
    for (; m->complete_n < m->dumps_n && m->complete_n < dumps_n; m->complete_n++) {
        m->dump[m->complete_n].complete = true;
        m->changed_from = num_min(m->changed_from, m->complete_n);
    }
}

void io_manifest_mark_durable(struct io_manifest *m)
{
    m->changed_from = num_min(m->changed_from, m->durable_n);
    for (int64_t d = m->durable_n; d < m->dumps_n; d++)
        m->dump[d].durable = m->dump[d].complete;
    while (m->durable_n < m->dumps_n && m->dump[m->durable_n].durable)
        m->durable_n++;
}

/* ------------------------------------------------------------------ the file */

int io_manifest_room(const struct io_manifest *m, int64_t dumps_n)
{
    const int64_t rest = (int64_t)strlen(m->head) + DUMP_BYTES + SECTOR;
    int64_t bytes;
    struct stat st;
    if (__builtin_mul_overflow(dumps_n, place_bytes(m), &bytes) ||
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
    io_manifest_leave(m);
    m->changed_from = m->dumps_n;
    return js_write_text(m->path, text, sync);
}

/* The text is put together from pieces that were made once: the head up to "dumps": [, and each
 * dump's digest. The bytes are those that jansson would write. */
int io_manifest_write(struct io_manifest *m, bool flush)
{
    const size_t each = 2 * DUMP_BYTES + 16 * (size_t)digest_words(m->n);
    char *text = malloc(strlen(m->head) + (size_t)m->dumps_n * each + DUMP_BYTES);
    if (!text) return io_manifest_no_memory(m);
    char *to = stpcpy(text, m->head);
    for (int64_t d = 0; d < m->dumps_n; d++) {
        const struct io_manifest_dump *one = &m->dump[d];
        to = put_step(stpcpy(to, d == 0 ? "\n    " : ",\n    "), one);
        to = put_digest(put_claims(to, one->complete, one->durable, 0), one->digest);
    }
    stpcpy(to, m->dumps_n > 0 ? "\n  ]\n}\n" : "]\n}\n");
    const int rc = replace(m, text, flush);
    free(text);
    return rc;
}

/* Replaces the file by one with places for more_n dumps to come, whose steps are those planned. */
static int write_places(struct io_manifest *m, int64_t more_n, bool flush)
{
    const int64_t places_n = m->dumps_n + more_n, each = place_bytes(m);
    const int64_t first_at = round_up((int64_t)strlen(m->head) + 1);
    const int64_t interval = json_integer_value(json_object_get(m->root, "interval"));
    const int64_t steps = json_integer_value(json_object_get(m->root, "steps"));
    uint64_t *zeros = calloc((size_t)digest_words(m->n), sizeof *zeros);
    char *none = zeros ? digest_text(m->n, zeros) : NULL;
    char *text = none ? malloc((size_t)(first_at + places_n * each) + DUMP_BYTES) : NULL;
    int rc = text ? 0 : io_manifest_no_memory(m);
    if (text) {
        char *to = stpcpy(text, m->head);
        memset(to, ' ', (size_t)(text + first_at - to));
        to = text + first_at;
        to[-1] = '\n';
        for (int64_t d = 0; d < places_n; d++) {
            const struct io_manifest_dump place = {num_min((d + 1) * interval, steps), false, false,
                                                   none};
            to += put_place(to, m, d < m->dumps_n ? &m->dump[d] : &place);
            to = stpcpy(to, d + 1 < places_n ? ",\n" : " \n");
        }
        stpcpy(to, "  ]\n}\n");
        rc = replace(m, text, flush);
    }
    free(text);
    free(none);
    free(zeros);
    TRY(rc);
    m->fd = open(m->path, O_WRONLY | O_CLOEXEC);
    if (m->fd < 0) return err_set_errno(ERR_IO, errno, "open %s for writing", m->path);
    m->places_n = places_n;
    m->filled_n = m->dumps_n;
    m->first_at = first_at;
    return 0;
}

static int put_bytes(const struct io_manifest *m, const char *text, int64_t bytes, int64_t offset)
{
    struct io_fd_fault fault;
    int64_t requests_n = 0;
    if (io_fd_put(m->fd, (struct io_piece){text, bytes, offset}, 1, &requests_n, &fault) == 0)
        return 0;
    return err_set_errno(ERR_IO, fault.errnum,
                         "pwrite of %" PRId64 " bytes at offset %" PRId64 " of %s", fault.bytes,
                         fault.offset, m->path);
}

static int flush_places(const struct io_manifest *m)
{
    while (fdatasync(m->fd) != 0)
        if (errno != EINTR) return err_set_errno(ERR_IO, errno, "fdatasync %s", m->path);
    return 0;
}

/* Digests first, then what is claimed of them. */
static int fill_places(struct io_manifest *m, bool flush)
{
    char *text = malloc((size_t)place_bytes(m)), claims[CLAIMS_MAX];
    int rc = text ? 0 : io_manifest_no_memory(m);
    for (int64_t d = m->filled_n; rc == 0 && d < m->dumps_n; d++) {
        const struct io_manifest_dump none = {m->dump[d].step, false, false, m->dump[d].digest};
        const int64_t bytes = put_place(text, m, &none);
        rc = put_bytes(m, text, bytes, m->first_at + d * place_bytes(m));
    }
    if (rc == 0 && flush) rc = flush_places(m);
    for (int64_t d = m->changed_from; rc == 0 && d < m->dumps_n; d++) {
        const struct io_manifest_dump *one = &m->dump[d];
        if (!one->complete) continue;
        const int64_t at = put_step(text, one) - text;
        const int64_t bytes = put_claims(claims, one->complete, one->durable, PLACE_WIDTH) - claims;
        rc = put_bytes(m, claims, bytes, m->first_at + d * place_bytes(m) + at);
    }
    if (rc == 0 && flush) rc = flush_places(m);
    free(text);
    TRY(rc);
    m->filled_n = m->changed_from = m->dumps_n;
    return 0;
}

int io_manifest_update(struct io_manifest *m, bool flush)
{
    struct stat st;
    const bool mine = m->places_n >= m->dumps_n && m->places_n > 0 && fstat(m->fd, &st) == 0 &&
                      st.st_nlink > 0; /* not removed by somebody */
    if (mine) return fill_places(m, flush && m->durable);
    const int64_t to_come = m->planned_n - m->dumps_n;
    if (m->dumps_n < IN_PLACE_FROM || to_come <= 0) return io_manifest_write(m, flush);
    return write_places(m, num_min(m->dumps_n, to_come), flush);
}

int io_manifest_end(struct io_manifest *m, bool flush)
{
    return m->places_n > 0 ? io_manifest_write(m, flush) : 0;
}
