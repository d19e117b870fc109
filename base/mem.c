/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/num.h"

#undef mem_error

static int fail(const char *fmt, va_list args)
{
    char what[ERR_MESSAGE_MAX];
    vsnprintf(what, sizeof what, fmt, args);
    return err_set(ERR_NOMEM, "no memory for %s", what);
}

int mem_error(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const int rc = fail(fmt, args);
    va_end(args);
    return rc;
}

/* At least 1; 0: more than there can be. */
static size_t bytes_of(int64_t n, size_t element_bytes)
{
    const int64_t bytes = n < 0 ? NUM_ENDLESS : num_product(n, (int64_t)element_bytes);
    return bytes < NUM_ENDLESS ? (size_t)bytes + (bytes == 0) : 0;
}

void *mem_new(int64_t n, size_t element_bytes, const char *fmt, ...)
{
    const size_t bytes = bytes_of(n, element_bytes);
    void *to = bytes > 0 ? calloc(1, bytes) : NULL;
    va_list args;
    va_start(args, fmt);
    if (!to) fail(fmt, args);
    va_end(args);
    return to;
}

void *mem_grow(void *array, int64_t n, size_t element_bytes, const char *fmt, ...)
{
    const size_t bytes = bytes_of(n, element_bytes);
    void *to = bytes > 0 ? realloc(array, bytes) : NULL;
    va_list args;
    va_start(args, fmt);
    if (!to) fail(fmt, args);
    va_end(args);
    return to;
}
