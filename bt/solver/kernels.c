/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of kernels in this binary, best first. BT_ISAS is made by the Makefile: KERNEL(avx512)
 * KERNEL(avx2) KERNEL(generic) on x86-64. */
#include <stddef.h>

#include "bt/solver/kernel.h"

#define KERNEL(name) extern const struct bt_kernel bt_kernel_##name;
BT_ISAS
#undef KERNEL

const struct bt_kernel *bt_kernel_at(int i)
{
#define KERNEL(name) &bt_kernel_##name,
    static const struct bt_kernel *const list[] = {BT_ISAS};
#undef KERNEL
    return i >= 0 && (size_t)i < sizeof list / sizeof list[0] ? list[i] : NULL;
}
