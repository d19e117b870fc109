/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BASE_DISTURBANCE_H
#define BASE_DISTURBANCE_H
/* Layer 0. Evidence of what else kept the processors busy while something was measured. A rank takes
 * one sample just before the clock starts and one just after it has stopped; what lies between them,
 * of all ranks of a node, tells
 *
 *   share     of the time in which a thread of the rank could run, the part in which it did run: the
 *             rest it waited for a processor (/proc/self/task/N/schedstat). A thread that waits for a
 *             device or sleeps asks for no processor; one that spins in MPI does. Without that file:
 *             CPU time over wall time and threads, of ranks that do nothing but compute
 *   steal     share of the node's processors that a hypervisor gave to others (/proc/stat)
 *   others    share of the node's processors that was busy, but neither with the ranks of this job nor
 *             with threads of the kernel, such as those that flush the page cache (/proc/stat, /proc/N/stat)
 *   throttled share of the node's processors that the CPU quota of the ranks' control group withheld
 *             while they could run (cpu.max and cpu.stat of cgroups, version 1 or 2)
 *   pressure  share of the time in which some task waited for memory (/proc/pressure/memory)
 *   mhz       frequency of the processors, as they were before and after
 *
 * What this system does not tell is NaN and named as not readable, never taken as zero. Local but for
 * nodes_disturbance (base/nodes.h), which brings the ranks together.
 *
 * In tests the variable NHT1_PROC of the environment names a folder with recorded files,
 * before/proc/... and after/proc/..., which are then read in place of the system's; the time is that of
 * proc/uptime in there, the CPU time that of proc/self/stat. The result says so. */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Undisturbed is a run whose ranks got at least this share of their processors, with at most so
 * much steal, withheld by a quota and work of other programs on every node. */
#define DISTURBANCE_SHARE     0.95
#define DISTURBANCE_STEAL     0.01
#define DISTURBANCE_OTHERS    0.05
#define DISTURBANCE_THROTTLED 0.01

#define DISTURBANCE_PROC "NHT1_PROC"

/* CPU time of some tasks, in the order of their numbers. */
struct disturbance_tasks {
    struct disturbance_task {
        int64_t id;
        double ran_s, waited_s; /* since it began; waited: could have run, had no processor */
    } * task;
    int n; /* 0: none of them can be read */
};

struct disturbance_sample {
    double at_s;             /* wall clock */
    int continued_n;         /* signals so far that continued this process (SIGCONT) */
    double user_s, system_s; /* CPU time of this process, of threads that have ended, too */
    struct disturbance_tasks threads; /* of this process */
    /* Of the node, where it was asked for: */
    bool of_node;
    int cpus_n; /* 0: /proc/stat cannot be read */
    double busy_user_s, busy_system_s, steal_s;
    struct disturbance_tasks kernel; /* threads of the kernel; none in most containers */
    double pressure_s, mhz;
    double throttled_s; /* withheld by a quota; NaN: no control group tells */
    double quota_cpus;  /* NaN: there is none */
};

enum disturbance_when { DISTURBANCE_BEFORE, DISTURBANCE_AFTER };

/* Takes a sample, and sets the action of SIGCONT. of_node: of the node, too (one rank of each). Never inside a
 * clock: with of_node it takes about a millisecond for a hundred processes. [out] s, to be freed by
 * disturbance_free. */
void disturbance_take(struct disturbance_sample *s, enum disturbance_when when, bool of_node);
void disturbance_free(struct disturbance_sample *s);

/* What lies between two samples of a rank; plain data, which goes through messages. */
struct disturbance_part {
    char host[64];
    int node; /* equal for ranks of one node */
    double wall_s, user_s, system_s;
    double share;   /* NaN: not readable */
    bool suspended; /* it was stopped meanwhile, and continued */
    bool of_node;   /* the members that follow are set */
    int cpus_n;     /* 0: not readable */
    double tick_s;  /* step of the system's counters */
    double busy_user_s, busy_system_s, steal_s;
    double kernel_s, pressure, mhz; /* NaN: not readable */
    double throttled_s, quota_cpus; /* NaN: no control group tells, none */
};

/* One of which nothing has been read yet. */
struct disturbance_part disturbance_unread(void);

/* width: threads that were to compute all the time, 0: not known. */
void disturbance_between(const struct disturbance_sample *before,
                         const struct disturbance_sample *after, int width,
                         struct disturbance_part *out);

/* The evidence of a run: the worst of its ranks and nodes, NaN what no node tells. */
struct disturbance {
    bool known;       /* false: nothing was sampled */
    bool undisturbed; /* the share can be read, and nothing is beyond the thresholds */
    bool disturbed;   /* something is beyond them, and not by the job itself */
    bool suspended;   /* and that is that it was stopped for some time */
    bool shared; /* ranks got too little of their processors, but no other program took the rest:
                         the job has more threads than processors, or the kernel flushed its files */
    double share_min, share_median; /* over ranks */
    int share_rank;                 /* the one with the least */
    double steal, others, pressure, mhz;
    double throttled, quota_cpus; /* NaN: nothing is withheld, or no control group tells */
    double wall_s;
    int nodes_n;
    char sentence[512];   /* what was found, for people, in any case */
    char unreadable[256]; /* what cannot be read, "" when everything can */
    json_t *nodes;        /* array, where it was made; owned */
};

/* Whether steal and other programs' shares of a node, each NaN where it is not readable, are too much. step: what one
 * tick of the system's counters is of them. */
bool disturbance_noticed(double steal, double others, double step);

/* What the parts of all ranks, in rank order, say. A pure function. [out] d, to be freed by
 * disturbance_end. */
void disturbance_judge(const struct disturbance_part *part, int n, struct disturbance *d);
void disturbance_end(struct disturbance *d);

/* The member "disturbance" of results (docs/disturbance.md); null when nothing is known. New
 * reference. */
json_t *disturbance_json(const struct disturbance *d);

/* Adds what is to be said to a list of stamps: "disturbed" or "processors-shared", with the numbers;
 * "disturbance-unknown" where none of share, others and steal can be read; or nothing. */
void disturbance_stamp(const struct disturbance *d, json_t *stamps);

#endif
