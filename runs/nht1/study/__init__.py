# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of nht1-study, from the bottom up:

description  reads an INI file and remembers where everything stands in it
expression   {arithmetic} in values and conditions
sweep        sections -> points, the combinations to be run
programs     what the driver knows about each program: options, results, their headline
launch       one command for mpirun or srun
probe        ranks or threads, and how fast, before the points are known
plan         time, space and memory of all points, before anything runs
folder       what lies on disk; nothing in it is ever replaced but the summary
child        one run of a program: started, watched, ended
question     whether a point needs more rounds, by what the report will say of it
summary      median and interval of repeated runs, the closing table
drive        which point next, when to stop
whole        a study from its description to its report
tune         the best way to write: searches, their winners against each other, the verdict
ab           two builds, mounts, environments or settings in alternation, until it is decided
job          scripts for Slurm, PBS and LSF
cli          the command line
"""
