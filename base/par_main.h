/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_PAR_MAIN_H
#define BASE_PAR_MAIN_H
/* Floor 0. The frame of an MPI program: what stands around its work in main(). Knows MPI. */

/* Starts MPI, makes MPI return its errors and signals ask for a stop (base/stop), calls body on
 * every rank of MPI_COMM_WORLD and ends MPI. threads: MPI_THREAD_FUNNELED, or MPI_THREAD_SINGLE for
 * a program without threads: a short message of Open MPI 4.1 takes half as long again where MPI has
 * to expect them, 160 instead of 110 ns. body returns the same code on all ranks: 0 or an error
 * whose message rank 0 prints to standard error with the program's name before it. What was printed
 * to standard output and did not arrive is an error. Collective over all processes. Returns the exit
 * status, the same on every rank. */
int par_main(const char *program, int threads, int argc, char **argv,
             int (*body)(int argc, char **argv));

#endif
