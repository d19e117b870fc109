/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A library for LD_PRELOAD: ranks that wait sleep. Open MPI looks for messages without end and yields
 * the processor in between, in MPI_Init it sleeps for 100 us, MPICH over UCX does neither; with more ranks
 * than cores, that is what most of the processors' time goes into. Here a yield, a short sleep and a look
 * that found nothing become a sleep of half the time that the rank has waited so far: a message comes late
 * by no more than that, and by NHT1_WAIT_US (default 500) at most. 0: no rank sleeps. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64_t longest_ns = 500000;
static int64_t work_ns = 2000; /* between two yields: the rank has found something to do */

__attribute__((constructor)) static void set_up(void)
{
    const char *us = getenv("NHT1_WAIT_US");
    if (us) longest_ns = atoll(us) * 1000;
    /* With hundreds of ranks a look takes longer, and a turn at a processor is long in coming. */
    if (longest_ns / 100 > work_ns) work_ns = longest_ns / 100;
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* For ns at least. */
static void rest(int64_t least_ns)
{
    static _Thread_local int64_t began, last; /* of the waiting; end of the last yield */
    int64_t now = now_ns(), ns;
    if (last == 0) prctl(PR_SET_TIMERSLACK, 1L, 0L, 0L, 0L);
    if (now - last > work_ns) began = now;
    ns = (now - began) / 2;
    if (ns > longest_ns) ns = longest_ns;
    if (ns < least_ns) ns = least_ns;
    if (ns > 0)
        nanosleep(&(struct timespec){ns / 1000000000, ns % 1000000000}, NULL);
    else
        syscall(SYS_sched_yield);
    last = now_ns();
}

int sched_yield(void)
{
    rest(0);
    return 0;
}

int usleep(useconds_t us)
{
    rest((int64_t)us * 1000);
    return 0;
}

/* UCX: how many messages it went on with. */
unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*look)(void *);
    if (!look) *(void **)&look = dlsym(RTLD_NEXT, "ucp_worker_progress");
    const unsigned found = look ? look(worker) : 0;
    if (found == 0) rest(0);
    return found;
}
