/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bt/machine.h"

#include <ctype.h>
#include <limits.h>
#include <omp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/simulation.h"
#include "base/sys.h"
#include "bt/solver/problem.h"

#define CELL_BYTES  160       /* of the solver, for each cell of a block */
#define THREADS_MAX 4096      /* of a rank; the OpenMP library ends the program when it cannot */
#define RANK_BYTES  (8 << 20) /* stacks, tables and library buffers of a rank, roughly */

/* OpenMP that binds threads has bound this one by now: what it may use is known as places. */
static void tell_places(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int p = 0; p < omp_get_num_places(); p++) {
        int cpu[CPU_SETSIZE];
        const int n = omp_get_place_num_procs(p);
        if (n < 1 || n > CPU_SETSIZE) continue;
        omp_get_place_proc_ids(p, cpu);
        for (int i = 0; i < n; i++)
            if (cpu[i] >= 0 && cpu[i] < CPU_SETSIZE) CPU_SET((size_t)cpu[i], &set);
    }
    sys_cpus_tell(&set);
}

void bt_machine_reexec_passive(char **argv)
{
    static const char *const local_size[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                             "SLURM_NTASKS_PER_NODE"};
    const char *threads = getenv("OMP_NUM_THREADS"), *text;
    const long each = threads ? strtol(threads, NULL, 10) : 1;
    long ranks = 0; /* on this node, where the launcher says so */
    for (size_t i = 0; ranks < 1 && i < sizeof local_size / sizeof local_size[0]; i++)
        if ((text = getenv(local_size[i])) != NULL) ranks = strtol(text, NULL, 10);
    if (ranks < 1) ranks = 1;
    if (each <= 1 || each <= sysconf(_SC_NPROCESSORS_ONLN) / ranks) return;
    if (getenv("OMP_WAIT_POLICY") || setenv("OMP_WAIT_POLICY", "passive", 1) < 0) return;
    tell_places();
    sys_cpus_unbind();             /* the OpenMP library binds anew, from the mask that it finds */
    execv("/proc/self/exe", argv); /* without it the run is only slow */
}

/* Whether a value of OMP_NUM_THREADS is what the OpenMP library takes: a number from 1 on, maybe
 * followed by those of nested regions. */
static bool is_thread_count(const char *value)
{
    char *end;
    if (strtol(value, &end, 10) < 1) return false;
    while (isspace((unsigned char)*end))
        end++;
    return *end == '\0' || *end == ',';
}

static const char *omp_num_threads(void)
{
    const char *value = getenv("OMP_NUM_THREADS");
    return value && value[0] ? value : NULL;
}

/* Every rank of a node starting as many threads as the node has CPUs helps nobody: a rank's share is
 * that of the ranks of its node that may use the same CPUs. */
static int fair_threads(const struct bt_machine *m, int *fair)
{
    const int n = m->nodes.node_size;
    uint64_t mask, *all = mem_new(n, sizeof *all, "the processors of %d ranks", n);
    int rc = all ? 0 : ERR_NOMEM, sharers = 0;
    (void)sys_cpus_allowed(&mask);
    TRY_TO(out, rc, par_agree(m->nodes.node, rc));
    TRY_MPI_TO(out, rc, MPI_Allgather(&mask, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, m->nodes.node));
    for (int r = 0; r < n; r++)
        sharers += all[r] == mask;
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): this rank is one of them */
    *fair = (int)m->nodes.cores_allowed / sharers;
    if (*fair < 1) *fair = 1;
out:
    free(all);
    return rc;
}

/* Threads that a parallel region is going to have, whatever the load of the node is then (OMP_DYNAMIC). */
static int region_threads(void)
{
    omp_set_dynamic(0);
    const int most = omp_get_max_active_levels() > 0 ? omp_get_thread_limit() : 1;
    return omp_get_max_threads() < most ? omp_get_max_threads() : most;
}

/* The logical CPUs on which the threads of this rank are let, those of a node and of all. */
static int find_cpus(struct bt_machine *m)
{
    cpu_set_t own, node;
    int unknown = 0;
    CPU_ZERO(&own);
#pragma omp parallel
    {
        cpu_set_t mine;
        const bool known = sched_getaffinity(0, sizeof mine, &mine) == 0;
#pragma omp critical
        {
            if (known) CPU_OR(&own, &own, &mine);
            unknown |= !known;
        }
    }
    if (unknown) CPU_ZERO(&own);
    const int allowed = sys_cpus_allowed(NULL),
              width[] = {allowed > 0 ? allowed : INT_MAX, unknown ? INT_MAX : CPU_COUNT(&own)};
    int least[2];
    TRY_MPI(MPI_Allreduce(width, least, 2, MPI_INT, MPI_MIN, m->nodes.comm));
    TRY_MPI(
        MPI_Allreduce(&own, &node, (int)(sizeof node / 8), MPI_UINT64_T, MPI_BOR, m->nodes.node));
    const int64_t mine = m->nodes.node_rank == 0 ? (int64_t)CPU_COUNT(&node) : 0;
    TRY_MPI(MPI_Allreduce(&mine, &m->cpus, 1, MPI_INT64_T, MPI_SUM, m->nodes.comm));
    m->width = least[0];
    m->mask_width = least[1];
    if (m->mask_width == INT_MAX) m->cpus = INT64_MAX;
    m->omp_binds = omp_get_proc_bind() != omp_proc_bind_false;
    return 0;
}

int bt_machine_make(MPI_Comm comm, struct bt_machine *m)
{
    int fair = 1;
    *m = (struct bt_machine){
        .nodes.node = MPI_COMM_NULL, .width = INT_MAX, .mask_width = INT_MAX, .cpus = INT64_MAX};
    if (!simulation()) tell_places();
    TRY(nodes_find(comm, &m->nodes));
    if (!simulation()) TRY(fair_threads(m, &fair)); /* its ranks are one process */
    if (!omp_num_threads() || !is_thread_count(omp_num_threads())) omp_set_num_threads(fair);
    const int threads = region_threads();
    TRY_MPI(MPI_Allreduce(&threads, &m->threads, 1, MPI_INT, MPI_MIN, comm));
    TRY_MPI(MPI_Allreduce(&threads, &m->threads_most, 1, MPI_INT, MPI_MAX, comm));
    if (m->threads > THREADS_MAX)
        return err_set(ERR_USAGE,
                       "OMP_NUM_THREADS asks for %d threads per rank, more than %d: set it to the "
                       "cores of a rank",
                       m->threads, THREADS_MAX);
    omp_set_num_threads(m->threads);
    if (!simulation()) TRY(find_cpus(m));
    const int64_t used = (int64_t)m->nodes.size * m->threads;
    m->cores_in_use = used < m->nodes.cores ? used : m->nodes.cores;
    return 0;
}

const char *bt_machine_unbind(const struct bt_machine *m, char out[BT_MACHINE_UNBIND])
{
    snprintf(
        out, BT_MACHINE_UNBIND,
        "%sstart with mpirun --bind-to none, or --map-by slot:PE=%d; taskset and cpusets bind, too",
        m->omp_binds ? "unset OMP_PROC_BIND and OMP_PLACES, and " : "", m->threads);
    return out;
}

void bt_machine_free(struct bt_machine *m)
{
    nodes_free(&m->nodes);
}

void bt_machine_warn(const struct bt_machine *m, json_t *notices)
{
    if (omp_num_threads() && !is_thread_count(omp_num_threads()))
        bt_notice(notices,
                  "OMP_NUM_THREADS is '%.80s', which is not a number of threads: every rank takes "
                  "its share of the CPUs.",
                  omp_num_threads());
    if (m->threads_most > m->threads)
        bt_notice(notices, "The ranks were given %d to %d threads: each computes with %d.",
                  m->threads, m->threads_most, m->threads);
}

int64_t bt_machine_free_bytes(void)
{
    struct sys_memory memory;
    sys_memory(&memory);
    return memory.free_bytes;
}

int64_t bt_machine_rank_bytes(int64_t cells, bool staged)
{
    return cells * (CELL_BYTES + (staged ? BT_NCOMP * 8 : 0)) + RANK_BYTES;
}

int bt_machine_memory(const struct bt_machine *m, int64_t mine)
{
    double needed = 0;
    int64_t available = 0;
    int rc = nodes_memory(&m->nodes, mine, &needed, &available);
    if (rc == 0 && needed > (double)available)
        rc = err_set(ERR_NOMEM,
                     "the %d ranks on %s need about %.1f GB of memory, %.1f GB are available: "
                     "choose a smaller --class, --n or --staging, or more nodes",
                     m->nodes.node_size, m->nodes.host, needed / 1e9, (double)available / 1e9);
    return par_agree(m->nodes.comm, rc);
}
