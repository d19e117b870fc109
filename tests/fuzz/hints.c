/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hints file of nht1-beffio. */
#include <stdlib.h>
#include <string.h>

#include "beffio/hints.h"
#include "tests/fuzz/fuzz.h"

void fuzz_one(const unsigned char *bytes, size_t size)
{
    struct beffio_hints h = {0};
    char *text = calloc(1, size + 1);
    memcpy(text, bytes, size);
    fuzz_message(beffio_hints_parse(&h, "my.hints", text));
    beffio_hints_free(&h);
    free(text);
}
