/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_PRELOAD_DECLARED_H
#define PROFILE_PRELOAD_DECLARED_H
/* Layer 3. To be included first where functions of the C library are interposed: they are declared as plain functions.
 * None is inline with a check of sizes, and none tells the compiler that a name is never NULL: programs call them so to
 * see what the kernel answers, and then the test for NULL must not be optimised away. */
#undef _FORTIFY_SOURCE
#include <sys/cdefs.h>
#undef __nonnull
#define __nonnull(arguments)

#endif
