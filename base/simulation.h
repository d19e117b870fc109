/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_SIMULATION_H
#define BASE_SIMULATION_H
/* Layer 0. Whether the ranks run inside a simulation (SimGrid's SMPI, docs/simulation.md), and what it
 * says of itself. base/simulation_smpi.c is built with its compiler wrapper, base/simulation_none.c with
 * any other. Local, all functions. */
#include <jansson.h>
#include <stdbool.h>

/* Whether messages and clocks are those of a simulation. */
bool simulation(void);

/* Lets this rank compute for so many seconds of a processor as fast as the one that was measured. */
void simulation_compute(double seconds);

/* Seconds that have really passed since an arbitrary start, and of processor time that this thread has
 * really taken: what base/watch.h says is the simulation's. */
double simulation_wall_now(void);
double simulation_cpu_now(void);

/* Cores of this rank's simulated node; 0: not simulated. */
int simulation_cores(void);

/* The platform's name, the property "platform" of this rank's node; "" when it has none. */
const char *simulation_platform(void);

/* Whether computing takes the simulated time that it really takes, and not only what
 * simulation_compute says. */
bool simulation_measures(void);

#endif
