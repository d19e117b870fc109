/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workload/function.h"

#include <stddef.h>
#include <string.h>

/* [position][collective][synchronism][write] */
static const char *const names[3][2][3][2] = {
    {{{"read_at", "write_at"}, {"iread_at", "iwrite_at"}, {NULL, NULL}},
     {{"read_at_all", "write_at_all"},
      {"iread_at_all", "iwrite_at_all"},
      {"read_at_all_begin", "write_at_all_begin"}}},
    {{{"read", "write"}, {"iread", "iwrite"}, {NULL, NULL}},
     {{"read_all", "write_all"},
      {"iread_all", "iwrite_all"},
      {"read_all_begin", "write_all_begin"}}},
    {{{"read_shared", "write_shared"}, {"iread_shared", "iwrite_shared"}, {NULL, NULL}},
     {{"read_ordered", "write_ordered"},
      {NULL, NULL},
      {"read_ordered_begin", "write_ordered_begin"}}},
};

const char *workload_kind_name(struct workload_kind k)
{
    return names[k.position][k.collective][k.sync][k.write];
}

int workload_kind_find(const char *name)
{
    for (int i = 0; i < WORKLOAD_KINDS; i++) {
        const char *one = workload_kind_name(workload_kind_of(i));
        if (one && strcmp(one, name) == 0) return i;
    }
    return -1;
}
