/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/simulation.h"

#include <mpi.h>
#include <simgrid/actor.h>
#include <simgrid/host.h>
#include <time.h>
#include <xbt/config.h>

/* Flop per second of a host, in the platform's file, that computes as fast as the machine on which the
 * kernels were measured. */
#define SPEED 1e9

bool simulation(void)
{
    return true;
}

void simulation_compute(double seconds)
{
    if (seconds > 0) sg_actor_execute(seconds * SPEED);
}

/* In parentheses: smpicc makes macros of the names of clocks, which are the simulation's. */
static double now(clockid_t clock)
{
    struct timespec t;
    (clock_gettime)(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double simulation_wall_now(void)
{
    return now(CLOCK_MONOTONIC);
}

double simulation_cpu_now(void)
{
    return now(CLOCK_THREAD_CPUTIME_ID);
}

int simulation_cores(void)
{
    return sg_host_core_count(sg_host_self());
}

const char *simulation_platform(void)
{
    const char *name = sg_host_get_property_value(sg_host_self(), "platform");
    return name ? name : "";
}

bool simulation_measures(void)
{
    return sg_cfg_get_boolean("smpi/simulate-computation");
}
