/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A reader with a fault, which tests/fuzz.bats expects the driver to find. */
#include <string.h>

#include "tests/fuzz/fuzz.h"

void fuzz_one(const unsigned char *bytes, size_t size)
{
    FUZZ_CHECK(size < 4 || memcmp(bytes, "n = ", 4) != 0 || !memchr(bytes, '{', size));
}
