/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_OUTPUT_H
#define PROFILE_OUTPUT_H
/* Layer 3. Where what a run prints goes. Of one without writes it goes to what is of the same kind as where the user's goes, so that it takes the same
 * time, is not shown, and only its end is kept. All functions are local. */
#include <pthread.h>
#include <stdbool.h>
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

/* Before a run. With writes (drop: false) it goes where that of this process goes. Without: to a file on the file system of the user's
 * file where that can have one without a name, else in folder dir; of a pipe or a terminal to a pipe that is read at once; nowhere
 * where the user's goes to /dev/null. [out] o: to be ended, also after an error. Returns 0, ERR_IO, or ERR_INVALID where a file has no
 * room for as much as the latest run with writes has printed. */
int output_begin(struct output *o, bool drop, const char *dir);

/* The run has ended. */
void output_end(struct output *o);

/* The end of it as a new file. Returns 0 or ERR_IO. */
int output_save(const struct output *o, const char *path);

#endif
