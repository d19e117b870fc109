/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PROFILE_PRELOAD_REQUESTS_H
#define PROFILE_PRELOAD_REQUESTS_H
/* Layer 3. Which requests of a program are of MPI-IO: waiting for these is time inside it. Any number
 * may be outstanding: what a call costs does not grow with that, nor, for MPI_Waitany and MPI_Testany,
 * with the array. Local; may be called by threads at the same time. */
#include <mpi.h>
#include <stdbool.h>

/* Hidden: none of these names may interpose one of the program's. */
#pragma GCC visibility push(hidden)

/* A call of MPI-IO has put a request there. */
void requests_posted(const MPI_Request *at);

/* Before a call that waits: whether any of n requests is one of MPI-IO. [out] before: of one alone. */
bool requests_waited(int n, const MPI_Request *list, MPI_Request *before);

/* After it: those at so many places have ended, or where MPI_REQUEST_NULL stands now; done_n -1: look
 * at all. */
void requests_ended(int n, const MPI_Request *list, MPI_Request before, int done_n,
                    const int *places);

#pragma GCC visibility pop

#endif
