/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_CRASH_H
#define BASE_CRASH_H
/* Layer 0. A library that crashes, or does not come back, on a damaged file, whatever it promises. Nothing of the
 * process can be trusted after that: it ends with one line on standard error and the status of ERR_IO; here
 * alone, besides main. A launcher then ends the other ranks of a job. One file at a time; all functions are local. */

/* From here on a crash tells of this file; library: what people call it. */
void crash_expect(const char *path, const char *library);

/* Ends what crash_expect began: signals do what they did before. */
void crash_end(void);

/* From here on this thread has so many seconds of processor time for calls that do little, after crash_expect.
 * What it waits for a disk, and what other threads take, does not count. 0: any time again. */
void crash_limit(int seconds);
#define CRASH_OPEN_S                                                                               \
    20 /* for opening a file, of which little is read: a library may go in circles on a damaged one */

#endif
