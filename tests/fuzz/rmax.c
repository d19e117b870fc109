/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rates that nht1-beff is put beside: a result of nht1-bt, the output of HPL or HPCC, a number. */
#include <stdlib.h>
#include <string.h>

#include "companions/beff/rmax.h"
#include "tests/fuzz/fuzz.h"

void fuzz_one(const unsigned char *bytes, size_t size)
{
    double rate = 0;
    int64_t cores;
    char text[256] = "";
    memcpy(text, bytes, size < sizeof text - 1 ? size : sizeof text - 1);
    fuzz_message(beff_rmax_parse("--rmax", text, &rate));
    fuzz_file("rates", bytes, size);
    fuzz_message(beff_rmax_hpl("rates", &rate));
    fuzz_message(beff_rmax_bt("rates", &rate, &cores));
}
