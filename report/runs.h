/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef REPORT_RUNS_H
#define REPORT_RUNS_H
/* Serial. The runs of nht1-bt out of any number of results, sorted for reporting:
 *
 *   group  one problem (N, steps, dt, I_W, layout, --sync) on one kind of system
 *   cell   one writer in one configuration (ranks, threads, options): the runs that repeat each
 *          other, and their statistics
 *   run    one run of one result
 *
 * T_C is a property of system and problem: the best verified time of all results for the same
 * processor, nodes, cores in use and problem. zeta is computed with it. All functions are local. */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "report/load.h"

struct run {
    const struct doc *doc;
    const json_t *json;              /* its object in runs[] */
    const char *writer;              /* "none": computing only */
    double t_t_s, bytes, write_rate; /* NaN: unknown */
    double t_c_s;                    /* as this result has it */
    bool writes, verified, wrong, page_cache, official;
    int group, cell; /* where it belongs */
};

struct cell {
    int group;
    const char *writer;
    char *variant; /* options that make it another configuration, "--decomp 1d:z"; "" */
    int64_t ranks, threads, token_group; /* token_group: ranks that may write at a time,
                                            of the writer token; else 0 */
    int64_t processors, nodes, cores,
        cores_in_use;                    /* processors: ranks x threads; cores: of nodes */
    int n;                               /* runs */
    double *t_t_s;                       /* of each run, in order of the results */
    double median_s, lo_s, hi_s, best_s; /* T_T; lo, hi: 95 % interval, NaN below 3 runs */
    int outliers_n;
    double r_io, zeta, write_rate; /* of the median; bytes/s */
    double t_c_s;                  /* best verified for this configuration's cores; NaN */
    double slowness;           /* computing between the dumps of the typical run over T_C; NaN */
    const struct run *typical; /* the run nearest to the median */
    bool writes, verified, page_cache, official, oversubscribed;
    bool serial; /* it leaves a serial file, unlike perrank, whose parts have a run id */
    bool drops;  /* its writer takes the data and drops them: what all but writing costs */
    bool shaped; /* others of its group at the same processors have other ranks or nodes */
};

struct group {
    const struct doc *first; /* a result that it comes from: its system and problem */
    const char *cls, *layout, *sync, *cpu, *fs;
    int64_t n, steps, interval, dumps_n;
    double dt;
    bool last;
    int cells_n;
    int *cell; /* numbers of its cells: writers by processors, then by median */
};

struct runs {
    int runs_n, cells_n, groups_n;
    struct run *run;
    struct cell *cell;
    struct group *group; /* the official problem first, then larger before smaller */
    int unfinished_n;    /* runs left out: interrupted, failed or continued */
    int wrong_n;         /* runs left out: what they computed or wrote was wrong */
};

/* Collects and sorts. runs: [out] freed by runs_free, also after an error; points into docs.
 * level: of the intervals. Returns 0 or ERR_NOMEM. */
int runs_collect(struct runs *runs, const struct docs *docs, double level);
void runs_free(struct runs *runs);

/* The cell of a group with the shortest median among those that write, with this many processors
 * (0: any) and leave a serial file; oversubscribed and unverified ones only if there are no
 * others. -1: none. */
int runs_best(const struct runs *runs, const struct group *g, int64_t processors);

/* Different processor counts of a group, ascending. out: at most room. Returns how many. */
int runs_processors(const struct runs *runs, const struct group *g, int64_t *out, int room);

/* Best T_C of a group at a number of processors; NaN. */
double runs_t_c(const struct runs *runs, const struct group *g, int64_t processors);

/* What computing only takes with so many processors: T_C; where they are more than the cores, whose
 * T_C that is, the best time measured with as many, NaN when there is none. */
double runs_alone(const struct runs *runs, const struct group *g, int64_t processors);

/* "posix", "token, group 4", "posix, 2 ranks x 4 threads", "posix --decomp 1d:z": what tells a cell
 * from others of its group at the same processors. In buf; returns buf. */
#define CELL_NAME_MAX 256
const char *cell_name(const struct cell *c, char buf[CELL_NAME_MAX]);

/* "N = 64, class A, 200 steps, a dump every 5". In buf; returns buf. */
#define GROUP_NAME_MAX 256
const char *group_name(const struct group *g, char buf[GROUP_NAME_MAX]);

#endif
