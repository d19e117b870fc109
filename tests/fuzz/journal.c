/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The journal of a manifest, as nht1-bt and nht1-verify read it: both find the same dumps. Check sums are
 * made right, or nothing but the first record would ever be looked at. */
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/err.h"
#include "io/target/manifest.h"
#include "tests/fuzz/fuzz.h"
#include "verify/manifest.h"

enum { N = 8, HEAD = 512, RECORD = 512, WORDS = 3 * N + 10 };

static const char manifest[] =
    "{\"schema\": \"nht1-dump/1\", \"run_id\": \"0123456789abcdef0123456789abcdef\", \"file\": "
    "\"f.bin\", "
    "\"layout\": \"mijk\", \"endian\": \"little\", \"n\": 8, \"components\": 5, \"word_bytes\": 8, "
    "\"dump_bytes\": 20480, \"dumps_planned\": 3, \"steps\": 3, \"dt\": 0.1, \"interval\": 1, "
    "\"writer\": \"posix\", \"sync\": \"end\", \"settings\": {\"group\": 16, \"aggregators\": 0, "
    "\"buffer\": 1, \"staging\": 2, \"chunk\": 0, \"direct\": false, \"hints\": []}, "
    "\"kernel\": \"4/generic\", \"hash\": \"nht1-h64/1\", \"journal\": true, \"dumps\": []}";

static void make_right(unsigned char *bytes, size_t size)
{
    for (size_t at = HEAD; at + RECORD <= size; at += RECORD) {
        uint64_t sum = 0, word;
        for (uint64_t w = 0; w < WORDS; w++) {
            memcpy(&word, bytes + at + 8 * w, 8);
            sum += digest_hash(word, w);
        }
        memcpy(bytes + at + 8 * WORDS, &sum, 8);
    }
}

void fuzz_one(const unsigned char *bytes, size_t size)
{
    struct io_manifest *m = NULL;
    struct io_past past = {.complete_n = 0};
    struct manifest other;
    unsigned char *right = malloc(size + 1);
    memcpy(right, bytes, size);
    make_right(right, size);
    fuzz_file("f.bin.json", manifest, sizeof manifest - 1);
    fuzz_file("f.bin.json.journal", right, size);
    free(right);
    const int rc = io_manifest_load(&m, "f.bin.json", "f.bin", &past);
    FUZZ_CHECK(past.complete_n >= 0 && past.complete_n <= 3);
    fuzz_message(rc);
    err_clear();
    const int verified = manifest_read("f.bin.json", &other);
    if (rc == 0 && verified > 0) FUZZ_CHECK(other.complete_n == past.complete_n);
    fuzz_message(verified < 0 ? verified : 0);
    err_clear();
    manifest_free(&other);
    if (m) io_manifest_free(m);
}
