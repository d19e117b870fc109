/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/version.h"

/* The programs' Makefile rule puts the answer of git, and LIBDIR, in their place. */
__attribute__((weak)) const char nht1_build[] = NHT1_VERSION;
__attribute__((weak)) const char nht1_libdir[] = "";
