/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_MPILIB_TOOL_H
#define BASE_MPILIB_TOOL_H
/* Layer 0. Control variables of the MPI library, by its tool interface (MPI_T): base/mpilib_tool.c, and
 * base/mpilib_notool.c for a library that has none, such as SimGrid's. Local, all functions. */

/* Value of a text variable, "" when there is none of that name. */
void mpilib_variable(const char *name, char *value, int size);

/* Calls take with the name of every variable. */
void mpilib_each_variable(void (*take)(const char *name, void *arg), void *arg);

#endif
