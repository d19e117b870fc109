/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nht1-verify --merge on a manifest with parts, of which three are there. */
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "verify/merge.h"

void fuzz_one(const unsigned char *bytes, size_t size)
{
    static const char zeros[3][32768] = {{0}};
    fuzz_file("f.bin.rank00000", zeros[0], sizeof zeros[0]);
    fuzz_file("f.bin.rank00001", zeros[1], sizeof zeros[1]);
    fuzz_file("f.bin.rank00002", zeros[2], 1000);
    fuzz_file("f.bin.json", bytes, size);
    unlink("f.bin");
    fuzz_message(merge_file("f.bin"));
    FUZZ_CHECK(access("f.bin.merging", F_OK) != 0);
    FUZZ_CHECK(access("f.bin.lock", F_OK) != 0);
}
