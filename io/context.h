/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef IO_CONTEXT_H
#define IO_CONTEXT_H
/* Layer 1. What a writer is given at open, made of a spec: for the two dispatchers, io/file.h and
 * io/read.h. */
#include "io/writers/writer.h"

/* As long as nothing is made. */
#define IO_CONTEXT_NONE .comm = MPI_COMM_NULL, .info = MPI_INFO_NULL

/* Fills in what follows from a spec that was checked, and what the ranks know of each other: c has
 * been IO_CONTEXT_NONE before; path, plan and what is written through pointers are the caller's.
 * ERR_USAGE when the ranks' boxes do not share the cells. Collective; to be given to io_context_free,
 * after an error too. */
int io_context_make(struct io_context *c, MPI_Comm comm, const struct io_spec *spec);

/* Collective. */
void io_context_free(struct io_context *c);

#endif
