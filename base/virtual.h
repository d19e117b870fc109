/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_VIRTUAL_H
#define BASE_VIRTUAL_H
/* Layer 0. Whether this system runs on a virtual machine, whose host has caches and memory of its own below it. */
#include <stdbool.h>

/* As far as the system tells: on x86 the processor does, elsewhere the firmware's description of the
 * machine (DMI, device tree). root: "" for this system; another folder with the same files for
 * tests. Local. */
bool virtual_machine(const char *root);

#endif
