/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_PAR_MAIN_H
#define BASE_PAR_MAIN_H
/* Floor 0. The frame of an MPI program: what stands around its work in main(). Knows MPI. */

/* Starts MPI (with threads that do not call it), makes MPI return its errors and signals ask for a
 * stop (base/stop), calls body on every rank of MPI_COMM_WORLD and ends MPI. body returns the same
 * code on all ranks: 0 or an error whose message rank 0 prints to standard error with the
 * program's name before it. What was printed to standard output and did not arrive is an error.
 * Collective over all processes. Returns the exit status, the same on every rank. */
int par_main(const char *program, int argc, char **argv, int (*body)(int argc, char **argv));

/* The same for a program without threads, MPI started so (MPI_THREAD_SINGLE): a short message of
 * Open MPI 4.1 takes half as long again where MPI has to expect threads, 160 instead of 110 ns. */
int par_main_single(const char *program, int argc, char **argv, int (*body)(int argc, char **argv));

#endif
