/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_PAR_H
#define BASE_PAR_H
/* Layer 0. Knows MPI: checked calls, agreement on errors, statistics over ranks. */
#include <jansson.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Turns an MPI return value into 0 or ERR_MPI with the call's text, MPI's error text in the
 * message. Local. */
int par_check(int mpi_rc, const char *call);
#define TRY_MPI(call)               TRY(par_check((call), #call))
#define TRY_MPI_TO(label, rc, call) TRY_TO(label, rc, par_check((call), #call))

/* Adds a hint to an info object, which is made where there is none (MPI_INFO_NULL). key: the hint's key,
 * or with value NULL all of it, "KEY=VALUE". Local. Returns 0, ERR_USAGE or ERR_MPI. */
int par_info_add(MPI_Info *info, const char *key, const char *value);

/* The path of a file as MPI-IO gets it, here or from a library. OMPIO of Open MPI 4.1 cannot open a file whose
 * whole name is one letter: it gets "./" before it, in longer. Local. Returns path or longer. */
const char *par_file_name(const char *path, char longer[4]);

/* MPI_File_open, of that name. Collective over comm. Returns what MPI returns. */
int par_file_open(MPI_Comm comm, const char *path, int mode, MPI_Info info, MPI_File *fh);

/* Rank 0 reads a file, all ranks get its content, with a NUL behind it. Collective over comm. A
 * file of more than most_bytes is refused. [out] text: to be freed, also after an error. Returns 0,
 * ERR_USAGE or ERR_NOMEM, the same on every rank. */
int par_read_file(MPI_Comm comm, const char *path, int64_t most_bytes, char **text, int64_t *bytes);

/* Agrees on success or failure. Collective over comm. Not for use inside timed sections.
 * rc: this rank's code. Returns the same code on every rank: 0 when all are >= 0, else the code of
 * the lowest failing rank, whose message, prefixed "rank R on HOST: ", becomes everybody's
 * (replacing local ones), so that rank 0 can print it. With usage errors (ERR_USAGE), the same on
 * all ranks, the prefix is left out. */
int par_agree(MPI_Comm comm, int rc);

/* The same on whether each rank has got its memory (base/mem.h): ERR_NOMEM where one has not. Collective
 * over comm. */
int par_agree_memory(MPI_Comm comm, bool has);

#ifdef __clang_analyzer__
/* What `make analyze` cannot see in other files: a failed call is a negative code, success is 0, and no
 * agreement makes a success of a rank's failure. */
static inline int par_checked(int mpi_rc, const char *call)
{
    const int rc = par_check(mpi_rc, call);
    if ((mpi_rc == MPI_SUCCESS) != (rc == 0) || rc > 0) __builtin_unreachable();
    return rc;
}
static inline int par_agreed(MPI_Comm comm, int rc)
{
    const int agreed = par_agree(comm, rc);
    if (agreed > 0 || (rc < 0 && agreed == 0)) __builtin_unreachable();
    return agreed;
}
#define par_check(mpi_rc, call)     par_checked(mpi_rc, call)
#define par_agree(comm, rc)         par_agreed(comm, rc)
#define par_agree_memory(comm, has) par_agreed(comm, (has) ? 0 : ERR_NOMEM)
#endif

/* Each rank acts after the one before it, and not at all where that or an earlier one failed: what one has
 * taken of a disk the next one finds taken. Collective over comm, but for the code of act or of a failed
 * MPI call, which is each rank's own: par_agree is to follow. */
int par_in_turn(MPI_Comm comm, int (*act)(void *arg), void *arg);

/* Minimum, median (of an even number the mean of the two in the middle), maximum and mean over ranks and
 * the rank that has the maximum. Collective over comm; the result is valid on every rank. */
struct par_spread {
    double min, median, max, mean;
    int max_rank;
};
int par_spread(MPI_Comm comm, double value, struct par_spread *out);

/* Of each of n things that the ranks do together the slowest rank's time, which may be another one each time,
 * summed. Collective over comm. took_s: [n] this rank's times. */
int par_slowest(MPI_Comm comm, const double *took_s, int64_t n, double *sum_s);

/* Names of the hosts, in rank order, one per rank, as a malloc'ed array on the root (NULL elsewhere),
 * freed by the caller with one free() (strings lie in the same block). Collective over comm. */
int par_hosts(MPI_Comm comm, int root, char ***hosts);

/* What MPI is and where its ranks are, the "mpi" object of results: "library", "standard",
 * "thread_level", "ranks_n", "nodes_n", "hosts" [{"name", "ranks_n"}] in order of their first rank,
 * "affinity_cpus_min_n" and "affinity_cpus_max_n" (logical processors a rank may run on, least and
 * most over ranks). Collective over comm; a new reference on rank 0, NULL elsewhere. */
int par_json(MPI_Comm comm, json_t **out);

#endif
