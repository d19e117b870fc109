/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A store of T_C: looked up, offered a time, looked up again. */
#include <string.h>

#include "base/err.h"
#include "base/plain.h"
#include "bt/tc.h"
#include "tests/fuzz/fuzz.h"

void fuzz_one(const unsigned char *bytes, size_t size)
{
    const struct bt_tc_key key = {
        .cpu = "cpu", .kernel = "1", .nodes = 1, .cores = 2, .n = 12, .steps = 60, .dt = 0.01};
    const struct bt_tc_entry mine = {.t_c_s = 1,
                                     .decomp = "1x1x1",
                                     .isa = "avx2",
                                     .host = "n1",
                                     .undisturbed = true,
                                     .share_min = 1};
    struct bt_tc_entry entry;
    char why[BT_TC_WHY_MAX];
    char text[sizeof entry.host];
    fuzz_file("tc.json", bytes, size);
    const int found = bt_tc_find("tc.json", &key, &entry, why);
    if (found > 0) FUZZ_CHECK(strcmp(entry.host, plain_copy(text, sizeof text, entry.host)) == 0);
    fuzz_message(found);
    const int rc = bt_tc_offer("tc.json", &key, &mine);
    fuzz_message(rc);
    if (rc > 0) FUZZ_CHECK(bt_tc_find("tc.json", &key, &entry, why) == 1);
    err_clear();
}
