/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H
/* Layer 0. Memory for data. What a device reads or writes directly is aligned for O_DIRECT, and on huge pages
 * where it fills some and the system gives them, which saves the kernel most of what it does for
 * each page of a transfer. */
#include <stddef.h>

#define BUFFER_ALIGN_BYTES 4096

/* At least so many bytes (0 too), all zero and touched, so that using them causes no page fault. Local.
 * Returns NULL when there is no memory; to be freed with free(). */
void *buffer_new(size_t bytes);

/* The memory that it takes for so many bytes. Local. */
size_t buffer_room(size_t bytes);

/* --- buffers of a measurement ---
 *
 * Where a buffer begins counts: reading to 16 bytes off a page, where malloc puts large blocks, took up to
 * ten times as long as reading to a page. */
#define BUFFER_PAGE_BYTES 4096
#define BUFFER_MALLOC     (-1) /* instead of an offset: where malloc puts it */

/* The value of an option --buffer-offset: "malloc", a number of bytes off a page (a multiple of 8),
 * or "definition", which is what the definition has. Local. Returns 0 or ERR_USAGE. */
int buffer_offset_parse(const char *given, int definition, int *offset);

/* Memory that begins so many bytes off a page, or, with BUFFER_MALLOC, where malloc puts a block of
 * this size in a program that has just begun. Local. [out] memory: to be freed with free(). Returns
 * NULL when there is none. */
void *buffer_at(size_t bytes, int offset, void **memory);

/* How many bytes off a page it begins. Local. */
int buffer_offset_of(const void *buffer);

#endif
