/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_START_H
#define BASE_START_H
/* Floor 0. What a process inherits from who started it, and what would harm it, is put right. */

/* First of all in main, before MPI is started. Descriptors 0 to 2 that are closed are taken by
 * /dev/null, so that no data file becomes standard output; reading from and writing to them still
 * fail. A limit on file sizes is an error of the call (EFBIG) and no signal. An ignored SIGCHLD,
 * with which nobody can wait for a child, is no longer ignored. Local. */
void start_clean(void);

#endif
