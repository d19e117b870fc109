/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "io/driver.h"

#define IO_DRIVER(x) extern const struct io_driver io_driver_##x;
#include "io/driver_list.h"
#undef IO_DRIVER

#define IO_DRIVER(x) &io_driver_##x,
static const struct io_driver *const listed[] = {
#include "io/driver_list.h"
};
#undef IO_DRIVER

#define LISTED ((int)(sizeof listed / sizeof listed[0]))

const struct io_driver *io_driver_at(int i)
{
    return i >= 0 && i < LISTED ? listed[i] : NULL;
}

bool io_driver_usable(const struct io_driver *d)
{
    return !d->usable || d->usable();
}

static const struct io_driver *by_name(const char *name, size_t len)
{
    for (int i = 0; i < LISTED; i++) {
        if (strlen(listed[i]->name) == len && memcmp(listed[i]->name, name, len) == 0) {
            return listed[i];
        }
    }
    return NULL;
}

/* "outer:inner" is a wrapper around a driver that is none. */
const struct io_driver *io_driver_find(const char *name)
{
    const char *colon = strchr(name, ':');
    if (!colon) {
        const struct io_driver *plain = by_name(name, strlen(name));
        return plain && !(plain->caps & IO_CAP_WRAPPER) ? plain : NULL;
    }
    const struct io_driver *outer = by_name(name, (size_t)(colon - name));
    bool wraps = outer && (outer->caps & IO_CAP_WRAPPER) && io_driver_inner(name);
    return wraps ? outer : NULL;
}

const struct io_driver *io_driver_inner(const char *name)
{
    const char *colon = strchr(name, ':');
    if (!colon) return NULL;
    const struct io_driver *inner = by_name(colon + 1, strlen(colon + 1));
    return inner && !(inner->caps & IO_CAP_WRAPPER) ? inner : NULL;
}

unsigned io_driver_caps(const char *name)
{
    const struct io_driver *driver = io_driver_find(name), *inner = io_driver_inner(name);
    return (driver ? driver->caps : 0) | (driver && inner ? inner->caps : 0);
}
