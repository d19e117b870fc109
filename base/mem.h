/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_MEM_H
#define BASE_MEM_H
/* Layer 0. Memory whose lack is an error with a message: "no memory for" and what it was for. Buffers
 * that a device reads or writes: base/buffer.h. All functions are local; where ranks have to agree that
 * each of them has its memory, par_agree_memory (base/par.h) follows. */
#include <stddef.h>
#include <stdint.h>

/* Memory for n elements of so many bytes, all zero; at least one byte. fmt: printf-style, what it is for:
 * "the results of %d runs". NULL where there is none, or n is negative, or the product does not fit: the
 * message is left, ERR_NOMEM to be returned. To be freed with free(). */
void *mem_new(int64_t n, size_t element_bytes, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), warn_unused_result));

/* An array (NULL: none yet) with room for n elements; those that are new are not set. NULL as by mem_new,
 * the array then stays as it was. */
void *mem_grow(void *array, int64_t n, size_t element_bytes, const char *fmt, ...)
    __attribute__((format(printf, 4, 5), warn_unused_result));

/* The error of memory that another library did not get. Returns ERR_NOMEM. */
int mem_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#ifdef __clang_analyzer__
#include "base/err.h"
#define mem_error(...) (mem_error(__VA_ARGS__), ERR_NOMEM) /* as err_set */
#endif

#endif
