/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of what computing costs: every entry that is taken is a cost that simulated time can be charged with. */
#include <jansson.h>
#include <math.h>

#include "base/err.h"
#include "bt/solver/charge.h"
#include "tests/fuzz/fuzz.h"

#define TABLE "kernels.json"

static void look_at(double s)
{
    FUZZ_CHECK(isfinite(s) && s >= 0 && s < 1e7);
}

void fuzz_one(const unsigned char *bytes, size_t size)
{
    json_t *root = NULL;
    const json_t *e;
    size_t i;
    fuzz_file(TABLE, bytes, size);
    const int rc = bt_charge_table(TABLE, &root);
    fuzz_message(rc);
    json_array_foreach(json_object_get(root, "entries"), i, e)
    {
        struct bt_charge c;
        bt_charge_read(e, &c);
        for (int dir = 0; dir < 3; dir++) {
            look_at(c.forward_s[dir]);
            look_at(c.backward_s[dir]);
            const json_t *sweep = json_array_get(json_object_get(e, "forward_s"), (size_t)dir);
            FUZZ_CHECK(json_is_number(sweep));
        }
        look_at(c.pack_s);
        look_at(c.unpack_s);
    }
    json_decref(root);
}
