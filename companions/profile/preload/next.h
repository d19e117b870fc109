/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_PRELOAD_NEXT_H
#define PROFILE_PRELOAD_NEXT_H
/* Layer 3. The functions of the C library that those of the same name here interpose. */
#include <dlfcn.h>

/* Declares `real`, the next function of a name; threads may meet here. NULL: there is none. */
#define REAL(type, name, ...)                                                                      \
    static void *found;                                                                            \
    type (*real)(__VA_ARGS__);                                                                     \
    void *at_next = __atomic_load_n(&found, __ATOMIC_RELAXED);                                     \
    if (!at_next) __atomic_store_n(&found, at_next = dlsym(RTLD_NEXT, #name), __ATOMIC_RELAXED);   \
    *(void **)&real = at_next

/* An alias of a function. */
#define ALIAS(type, name, of, ...) type name(__VA_ARGS__) __attribute__((alias(#of)))

#endif
