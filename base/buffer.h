/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H
/* Layer 0. Memory that a device reads or writes directly: aligned for O_DIRECT, and on huge pages
 * where it fills some and the system gives them, which saves the kernel most of what it does for
 * each page of a transfer. */
#include <stddef.h>

#define BUFFER_ALIGN_BYTES 4096

/* At least bytes (0 too), all zero and touched, so that no page is new to who uses them. Local.
 * Returns NULL when there is no memory; to be freed with free(). */
void *buffer_new(size_t bytes);

#endif
