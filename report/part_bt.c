/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sections about nht1-bt. */
#include <stdio.h>

#include "base/num.h"
#include "report/bt.h"

static void figures(struct report *r, const struct group *g, const char *key)
{
    bt_fig_groups(r, g, key);
    bt_fig_times(r, g, key);
    bt_fig_systems(r, g, key);
    bt_fig_rate(r, g, key);
    bt_fig_overhead(r, g, key);
}

int part_bt(struct report *r)
{
    for (int i = 0; i < r->runs.groups_n; i++) {
        const struct group *g = &r->runs.group[i];
        char key[16] = "", id[32], name[GROUP_NAME_MAX];
        if (i > 0) num_print(key, sizeof key, "-%d", i + 1);
        num_print(id, sizeof id, "bt%s", key);
        page_section(r->page, 2, id, group_name(g, name));
        figures(r, g, key);
    }
    return 0;
}
