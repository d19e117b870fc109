/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/simulation.h"

bool simulation(void)
{
    return false;
}

void simulation_compute(double seconds)
{
    (void)seconds;
}

double simulation_wall_now(void)
{
    return 0;
}

double simulation_cpu_now(void)
{
    return 0;
}

int simulation_cores(void)
{
    return 0;
}

const char *simulation_platform(void)
{
    return "";
}

bool simulation_measures(void)
{
    return false;
}
