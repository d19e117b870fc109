/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef WORKLOAD_ACCESSOPEN_H
#define WORKLOAD_ACCESSOPEN_H
/* Layer 2, free of MPI. The descriptors that a process needs for its runs: one for each file and each way in
 * which it was open. All functions are local. */
#include "companions/workload/accessfile.h"

struct workload_access_open {
    int32_t file;
    int flags;       /* workload_run_flags */
    int left_out;    /* of these, those that it is not opened with */
    int64_t shorten; /* length that the file gets before, -1: it stays as it is */
    bool shared;     /* others append to it, too: where a piece comes to lie is not known */
    int fd;          /* -1: not open */
    int64_t at;      /* its pointer */
};

struct workload_access_opens {
    struct workload_access_open *open; /* [n], by file, then flags; owned */
    int64_t n;
    int64_t *of_run; /* [mine_n] index of each run's; owned */
};

/* Those of a's runs, none of them open yet. [out] o: to be freed, also after an error. Returns 0 or ERR_NOMEM. */
int workload_access_opens_make(const struct workload_accessfile *a,
                               struct workload_access_opens *o);

/* Finds out which descriptors can be opened with WORKLOAD_RUN_TRUNC and WORKLOAD_RUN_APPEND as the program did,
 * so that all calls find what they read, and what is appended comes to lie where it did. All files are open from
 * the beginning, with their whole length: one that the program truncates is empty then, and one that it appends
 * to ends where the first piece goes. process: of the runs; step: all its calls in their order. Returns 0 or
 * ERR_NOMEM. */
int workload_access_opens_plan(const struct workload_accessfile *a, int process,
                               const struct workload_step *step, int64_t steps,
                               struct workload_access_opens *o);
void workload_access_opens_free(struct workload_access_opens *o);

/* Sees that this process may have so many files open beside those that it needs for itself. name: of the
 * description, for the message. Returns 0 or ERR_USAGE. */
int workload_access_opens_allow(int64_t n, const char *name, int process);

#endif
