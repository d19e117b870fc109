/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nht1-verify on a manifest and a dump file: the manifest's text, a NUL, the file. An empty text is
 * no manifest. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "tests/fuzz/fuzz.h"
#include "verify/check.h"
#include "verify/judge.h"
#include "verify/summary.h"

void fuzz_one(const unsigned char *bytes, size_t size)
{
    static struct check c;
    const struct check_options o = {.endian = "auto", .progress = "never", .diagonal = true};
    const unsigned char *zero = memchr(bytes, 0, size);
    const size_t head = zero ? (size_t)(zero - bytes) : size;
    unlink("f.bin.json");
    if (head > 0) fuzz_file("f.bin.json", bytes, head);
    fuzz_file("f.bin", zero ? zero + 1 : bytes, zero ? size - head - 1 : 0);
    const int rc = check_file(&c, "f.bin", &o, fuzz_null);
    if (rc == 0) {
        judge(&c);
        summary_print(fuzz_null, &c, false);
        json_t *result = summary_json(&c, json_object(), 0);
        FUZZ_CHECK(result);
        json_decref(result);
    }
    fuzz_message(rc);
    check_free(&c);
}
