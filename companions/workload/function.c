/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "companions/workload/function.h"

#include <stddef.h>
#include <string.h>

#define F(name) "MPI_File_" name

/* [position][collective][synchronism][write] */
static const char *const names[3][2][3][2] = {
    {{{F("read_at"), F("write_at")}, {F("iread_at"), F("iwrite_at")}, {NULL, NULL}},
     {{F("read_at_all"), F("write_at_all")},
      {F("iread_at_all"), F("iwrite_at_all")},
      {F("read_at_all_begin"), F("write_at_all_begin")}}},
    {{{F("read"), F("write")}, {F("iread"), F("iwrite")}, {NULL, NULL}},
     {{F("read_all"), F("write_all")},
      {F("iread_all"), F("iwrite_all")},
      {F("read_all_begin"), F("write_all_begin")}}},
    {{{F("read_shared"), F("write_shared")}, {F("iread_shared"), F("iwrite_shared")}, {NULL, NULL}},
     {{F("read_ordered"), F("write_ordered")},
      {NULL, NULL},
      {F("read_ordered_begin"), F("write_ordered_begin")}}},
};

const char *workload_kind_call(int index)
{
    const struct workload_kind k = workload_kind_of(index);
    return names[k.position][k.collective][k.sync][k.write];
}

const char *workload_kind_name(int index)
{
    const char *call = workload_kind_call(index);
    return call ? call + strlen(F("")) : NULL;
}

int workload_kind_find(const char *name)
{
    for (int i = 0; i < WORKLOAD_KINDS; i++) {
        const char *one = workload_kind_name(i);
        if (one && strcmp(one, name) == 0) return i;
    }
    return -1;
}
