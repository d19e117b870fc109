/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H
/* Layer 0. The version of all programs. */

#define NHT1_VERSION "0.1.0"

/* The build that results name: as `git describe` says it, or NHT1_VERSION where there was no git.
 */
extern const char nht1_build[];

/* LIBDIR of the build, where it is not the folder lib beside that of the programs; else "". */
extern const char nht1_libdir[];

#endif
