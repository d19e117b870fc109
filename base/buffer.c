/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/buffer.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"
#include "base/num.h"

/* Once a large block has been freed glibc takes others from the heap, where they begin anywhere, instead of
 * from mappings of their own. */
#ifdef M_MMAP_THRESHOLD
#define MALLOC_AS_AT_START() (void)mallopt(M_MMAP_THRESHOLD, 128 << 10)
#else
#define MALLOC_AS_AT_START() (void)0
#endif

#define HUGE_BYTES ((size_t)2 << 20) /* of the usual huge page */

static size_t align_of(size_t bytes)
{
    return bytes >= HUGE_BYTES ? HUGE_BYTES : BUFFER_ALIGN_BYTES;
}

size_t buffer_room(size_t bytes)
{
    const size_t align = align_of(bytes);
    return bytes < align ? align : (bytes + align - 1) / align * align;
}

void *buffer_new(size_t bytes)
{
    const size_t align = align_of(bytes), room = buffer_room(bytes);
    void *p = aligned_alloc(align, room);
    if (!p) return NULL;
    /* Advice: without huge pages all goes on as well. */
    if (align == HUGE_BYTES) (void)madvise(p, room, MADV_HUGEPAGE);
    memset(p, 0, room);
    return p;
}

int buffer_offset_parse(const char *given, int definition, int *offset)
{
    int64_t bytes = 0;
    *offset = definition;
    if (strcmp(given, "definition") == 0) return 0;
    *offset = BUFFER_MALLOC;
    if (strcmp(given, "malloc") == 0) return 0;
    const bool fits = num_int_parse(given, &bytes) == 0 && bytes >= 0 &&
                      bytes < BUFFER_PAGE_BYTES && bytes % 8 == 0;
    *offset = (int)bytes;
    if (fits) return 0;
    return err_set(ERR_USAGE,
                   "--buffer-offset '%s': a multiple of 8 from 0 to %d, 'malloc' or 'definition'",
                   given, BUFFER_PAGE_BYTES - 8);
}

void *buffer_at(size_t bytes, int offset, void **memory)
{
    *memory = NULL;
    if (offset == BUFFER_MALLOC) {
        MALLOC_AS_AT_START();
        return *memory = malloc(bytes);
    }
    if (posix_memalign(memory, BUFFER_PAGE_BYTES, bytes + (size_t)offset) != 0) *memory = NULL;
    return *memory ? (char *)*memory + offset : NULL;
}

int buffer_offset_of(const void *buffer)
{
    return (int)((uintptr_t)buffer % BUFFER_PAGE_BYTES);
}
