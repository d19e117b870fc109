/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/buffer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_BYTES ((size_t)2 << 20) /* of the usual huge page */

void *buffer_new(size_t bytes)
{
    const size_t align = bytes >= HUGE_BYTES ? HUGE_BYTES : BUFFER_ALIGN_BYTES;
    const size_t room = bytes < align ? align : (bytes + align - 1) / align * align;
    void *p = aligned_alloc(align, room);
    if (!p) return NULL;
    /* Advice: without huge pages all goes on as well. */
    if (align == HUGE_BYTES) (void)madvise(p, room, MADV_HUGEPAGE);
    memset(p, 0, room);
    return p;
}
