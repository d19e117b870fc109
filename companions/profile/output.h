/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_OUTPUT_H
#define PROFILE_OUTPUT_H
/* Layer 3. What a run without writes prints: it goes to what is of the same kind as where the user's goes, so that it takes the same
 * time, is not shown, and only its end is kept. All functions are local. */
#include <pthread.h>
#include <stdint.h>

#include "base/child.h"

#define OUTPUT_TAIL 65536 /* bytes that are kept */

struct output {
    enum child_stream out, err;
    int fd; /* with CHILD_FD */
    /* Private. A file, or a pipe that a thread reads. */
    int from, wake[2];
    pthread_t reader;
    int64_t bytes;          /* that have come by the pipe */
    char tail[OUTPUT_TAIL]; /* the last of them, byte i at i modulo its size */
};

/* Before a run with writes: what that prints into a file, the next one without is to have room for. */
void output_watch(void);

/* Of a file on the file system of the user's file where that can have one without a name, else in folder dir; of a pipe or a
 * terminal a pipe that is read at once; nothing where the user's goes to /dev/null. [out] o: to be ended, also after an error.
 * Returns 0, ERR_IO, or ERR_INVALID where a file has no room. */
int output_begin(struct output *o, const char *dir);

/* The run has ended. */
void output_end(struct output *o);

/* The end of it as a new file. Returns 0 or ERR_IO. */
int output_save(const struct output *o, const char *path);

#endif
