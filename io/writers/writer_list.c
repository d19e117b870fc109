/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/suggestion.h"
#include "io/writers/writer.h"

#define IO_WRITER(x) extern const struct io_writer io_writer_##x;
#include "io/writers/writer_list.h"
#undef IO_WRITER

#define IO_WRITER(x) &io_writer_##x,
static const struct io_writer *const listed[] = {
#include "io/writers/writer_list.h"
};
#undef IO_WRITER

#define LISTED ((int)(sizeof listed / sizeof listed[0]))

const struct io_writer *io_writer_at(int i)
{
    return i >= 0 && i < LISTED ? listed[i] : NULL;
}

const char *io_writer_lacks(const struct io_writer *d, char why[IO_WRITER_WHY])
{
    why[0] = '\0';
    if (d->usable) (void)d->usable(why);
    return why;
}

bool io_writer_usable(const struct io_writer *d)
{
    char why[IO_WRITER_WHY];
    return !d->usable || d->usable(why);
}

bool io_writer_can(const struct io_writer *d, enum io_layout layout)
{
    return (d->format == IO_RAW || layout != IO_RECORDS) && io_writer_usable(d);
}

static const struct io_writer *by_name(const char *name, size_t len)
{
    for (int i = 0; i < LISTED; i++) {
        if (strlen(listed[i]->name) == len && memcmp(listed[i]->name, name, len) == 0) {
            return listed[i];
        }
    }
    return NULL;
}

/* "outer:inner" is a wrapper around a writer that is not itself a wrapper. */
const struct io_writer *io_writer_plain(void)
{
    const struct io_writer *w;
    for (int i = 0; (w = io_writer_at(i)) != NULL; i++)
        if ((w->caps & IO_CAP_YARDSTICK) && !(w->needs & IO_NEED_MPIIO)) return w;
    return NULL;
}

const struct io_writer *io_writer_find(const char *name)
{
    const char *colon = strchr(name, ':');
    if (!colon) {
        const struct io_writer *plain = by_name(name, strlen(name));
        return plain && !(plain->caps & IO_CAP_WRAPPER) ? plain : NULL;
    }
    const struct io_writer *outer = by_name(name, (size_t)(colon - name));
    bool wraps = outer && (outer->caps & IO_CAP_WRAPPER) && io_writer_inner(name);
    return wraps ? outer : NULL;
}

const struct io_writer *io_writer_inner(const char *name)
{
    const char *colon = strchr(name, ':');
    if (!colon) return NULL;
    const struct io_writer *inner = by_name(colon + 1, strlen(colon + 1));
    return inner && !(inner->caps & IO_CAP_WRAPPER) ? inner : NULL;
}

unsigned io_writer_caps(const char *name)
{
    const struct io_writer *writer = io_writer_find(name), *inner = io_writer_inner(name);
    return (writer ? writer->caps : 0) | (writer && inner ? inner->caps : 0);
}

bool io_writer_in_background(const char *name)
{
    const struct io_writer *writer = io_writer_find(name), *inner = io_writer_inner(name);
    return writer && (inner ? inner : writer)->done;
}

enum io_format io_writer_format(const char *name)
{
    const struct io_writer *writer = io_writer_find(name), *inner = io_writer_inner(name);
    if (!writer) return IO_RAW;
    return inner ? inner->format : writer->format;
}

int io_writer_unknown(const char *name)
{
    char known[ERR_MESSAGE_MAX / 2] = "", meant[SUGGESTION_TEXT_MAX];
    const char *colon = strchr(name, ':');
    const int wrapper = colon ? (int)(colon + 1 - name) : 0; /* what stands before the name */
    struct suggestion near = {.word = name + wrapper};
    size_t used = 0;
    char before[64];
    snprintf(before, sizeof before, "%.*s", wrapper, name);
    for (int i = 0; i < LISTED; i++)
        if (!(listed[i]->caps & IO_CAP_WRAPPER)) suggestion_try(&near, listed[i]->name);
    if (!colon) suggestion_try_all(&near, "none|all|auto|help");
    for (int i = 0; i < LISTED && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, " %s%s,", listed[i]->name,
                                 listed[i]->caps & IO_CAP_WRAPPER ? ":NAME" : "");
    return err_set(
        ERR_USAGE,
        "--io '%s': no such writer; there are: none,%s all, auto (--io help explains them)%s", name,
        known, suggestion_text(&near, before, meant));
}
