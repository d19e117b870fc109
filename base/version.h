/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H
/* Floor 0. The version of all programs. */

#define NHT1_VERSION "0.1.0"

#endif
