/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORKLOAD_JOBFILE_H
#define WORKLOAD_JOBFILE_H
/* Layer 2, free of MPI. Job files: an ordered list of phases, in one of two spellings.
 *
 *     Record 64k                        # outside of sections: for all sections below
 *     Think 2                           # a phase of thinking, seconds
 *     <Repeat 3>
 *         <Pattern nested-strided>
 *             Temporal write,re-write
 *             Method collective
 *         </Pattern>
 *     </Repeat>
 *
 * Words are separated by blanks or line ends, so that a section may stand in one line. In quotes a
 * value may hold blanks. As an INI file:
 *
 *     [job]
 *     record = 64k
 *     [think 2]
 *     [repeat 3]
 *     [pattern nested-strided]
 *     temporal = write, re-write
 *     method = collective
 *     [end]                             ; of the repetition
 *
 * A section's own directive overrides that of the job, --set both. For tiled, flash and mesh `record`
 * says the same as `tile` (its columns), `blocks` and `values`: the one of the stronger place holds.
 *
 * Names of directives are the same, whatever their case and with or without '-' in them. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/conf.h"
#include "companions/workload/pattern.h"

#define WORKLOAD_PHASES_MAX 10000

enum workload_temporal {
    WORKLOAD_WRITE,
    WORKLOAD_REWRITE,
    WORKLOAD_READ,
    WORKLOAD_REREAD,
    WORKLOAD_MODIFY,
    WORKLOAD_TEMPORALS
};
enum workload_method { WORKLOAD_INDEPENDENT, WORKLOAD_COLLECTIVE, WORKLOAD_POSIX };

/* "re-write". Static text. */
const char *workload_temporal_name(enum workload_temporal t);
const char *workload_method_name(enum workload_method m);

/* The one table of directives. */
extern const struct conf_option workload_directives[];

/* One measurement: a spatial and a temporal pattern. */
struct workload_phase {
    enum workload_pattern pattern;
    enum workload_temporal temporal;
    enum workload_method method;
    bool view;                   /* a file view, else explicit offsets */
    int64_t group;               /* accesses in one call; 1 without a view */
    bool group_given;            /* else it follows from the record */
    struct workload_shape shape; /* without procs and n */
    struct workload_memory memory;
    int64_t data_bytes; /* of all processes; 0: find the amount */
    int64_t limit_bytes;
    double time_limit_s, think_s, fraction;
    bool think_busy;
    double pause_s; /* not a measurement: thinking between phases */
    int line;
};

struct workload_jobfile {
    int n;
    struct workload_phase *phase; /* in the order of execution, repetitions written out; owned */
    /* Sentences "name:line:column: what" on directives that others override; owned. */
    json_t *notes;
};

/* Reads a job file. ini: the INI spelling. set: KEY=VALUE of the command line, for every section.
 * procs: for what depends on it. [out] j, to be freed by workload_jobfile_free, empty after an
 * error. Returns 0, ERR_USAGE with "name:line:column: what", or ERR_NOMEM. Local. */
int workload_jobfile_read(const char *name, const char *text, size_t bytes, bool ini,
                          const struct conf_list *set, struct workload_jobfile *j);
void workload_jobfile_free(struct workload_jobfile *j);

/* The shape of a phase for so many processes and repetitions. Local. */
struct workload_shape workload_phase_shape(const struct workload_phase *p, int procs, int64_t n);

/* "Simple Strided (re-write)". Local. Returns out. */
const char *workload_phase_title(const struct workload_phase *p, char out[64]);

#endif
