/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hints file of nht1-beffio: each hint applies where it says. */
#include <stdlib.h>
#include <string.h>

#include "companions/beffio/hints.h"
#include "tests/fuzz/fuzz.h"

void fuzz_one(const unsigned char *bytes, size_t size)
{
    struct beffio_hints h = {0};
    char *text = calloc(1, size + 1);
    memcpy(text, bytes, size);
    const int rc = beffio_hints_parse(&h, "my.hints", text);
    fuzz_message(rc);
    for (int i = 0; rc == 0 && i < h.n; i++) {
        const struct beffio_hint *one = &h.hint[i];
        const struct beffio_spot spot = {one->procs > 0 ? one->procs : 1,
                                         one->access >= 0 ? (enum beffio_access)one->access : 0,
                                         one->type >= 0 ? (enum beffio_type)one->type : 0,
                                         one->chunk >= 0 ? one->chunk : BEFFIO_POSITIONS};
        FUZZ_CHECK(one->key[0] && one->value && one->access < BEFFIO_ACCESSES);
        FUZZ_CHECK(one->type < BEFFIO_TYPES && one->chunk <= BEFFIO_POSITIONS);
        FUZZ_CHECK(beffio_hint_applies(one, &spot));
    }
    beffio_hints_free(&h);
    free(text);
}
