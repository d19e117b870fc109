/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H
/* Layer 0. The version of all programs, and the build. */

#define NHT1_VERSION "0.1.0"

/* The build, which every program of it names in --version and in what it prints and writes: as
 * `git describe` says it, or NHT1_VERSION where there was no git. Python has it from the same rule. */
extern const char nht1_build[];

/* LIBDIR of the build, where it is not the folder lib beside that of the programs; else "". */
extern const char nht1_libdir[];

#endif
