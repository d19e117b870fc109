/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_PROGRAM_H
#define BASE_PROGRAM_H
/* Layer 0. The frame of an MPI benchmark program: options, a job, its results as files. Knows MPI.
 *
 *     int main(int argc, char **argv)
 *     {
 *         return program_main(&frame, argc, argv);
 *     }
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/conf.h"
#include "base/nodes.h"

struct program {
    const struct conf_program *conf; /* name, version, help */
    /* MPI_THREAD_SINGLE instead of FUNNELED: a short message of Open MPI 4.1 takes half as long
     * again where MPI has to expect threads, 160 instead of 110 ns. */
    bool single;
    size_t setup_bytes; /* of what parse fills, zeroed before; begins with the options of conf */
    /* The command line, the same on every rank: CONF_RUN, CONF_HELP, CONF_VERSION or an error.
     * NULL: the setup is nothing but the options. */
    int (*parse)(void *setup, int argc, char **argv);
    /* Also after an error of parse. NULL: there is nothing to free but the options. */
    void (*release)(void *setup);
    /* All of the work. Collective over MPI_COMM_WORLD; the same code on all ranks. */
    int (*run)(void *setup);
};

/* Body of main(): starts MPI, makes MPI return its errors and signals ask for a stop (base/stop),
 * does what the command line says and ends MPI. Rank 0 prints the message of an error, with the
 * program's name before it, to standard error. What was printed to standard output and did not
 * arrive is an error. Collective over all processes. Returns the exit status, the same on every
 * rank. */
int program_main(const struct program *p, int argc, char **argv);

/* A file that a run leaves: JSON or text, made by one of the two functions from the job. */
struct program_output {
    const char *option; /* "--json", for messages */
    const char *path;   /* NULL: not wanted */
    const char *ours; /* how our own begins, which may be replaced: a schema but for its version, or
                         the first words of a text, "" for any */
    json_t *(*json)(const void *job, int status); /* new reference; status: of the exit */
    void (*text)(const void *job, FILE *to);
};

/* Whether all can be written, asked before the work: no foreign file in the way, a folder that can
 * be written to, no two of them in one file. Local, for rank 0. Returns 0, ERR_USAGE or ERR_IO, with the option. */
int program_outputs_check(const struct program_output *o, int n);

/* Writes what the run left, each file that can be written. Collective over MPI_COMM_WORLD; rank 0 writes. rc: how the run ended.
 * Returns rc, or, where the run went well or is only not valid as a result, why the first one could not be written; the message has
 * all of them. */
int program_outputs_write(const struct program_output *o, int n, const void *job, int rc);

/* What each result begins with: "schema", "version", "status", "started_utc", "ended_utc" (now),
 * "command_line" and "options". New reference. Local. */
json_t *program_result(const struct conf_program *conf, const void *opts, const char *schema,
                       int status, const char *started_utc);

/* Its "system": sys_json with "mpi" (of par_json), "ranks", "nodes" and
 * "cores_of_nodes". New reference. Local. */
json_t *program_system(const struct nodes *n);

/* Appends the stamp "oversubscribed" (base/stamp.h) where there are more ranks than cores. Local. */
void program_stamp_oversubscribed(json_t *stamps, const struct nodes *n);

#endif
