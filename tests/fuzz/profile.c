/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What two ranks of a profiled program have left, or what that program has made of it: for each rank
 * the head of its map, two files and three phases (companions/profile/record.h). To a workload and a result. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "companions/profile/merge.h"
#include "tests/fuzz/fuzz.h"
#include "companions/workload/plan.h"

enum { RANKS = 2, FILES = 2, PHASES = 3, BUFFER_BYTES = 1 << 19, MEMORY_BYTES = 1 << 22 };

/* Puts the next of the bytes at an offset of the map, as many as there are. */
static void put(int fd, const unsigned char **at, size_t *left, size_t bytes, size_t offset)
{
    const size_t n = *left < bytes ? *left : bytes;
    FUZZ_CHECK(pwrite(fd, *at, n, (off_t)offset) == (ssize_t)n);
    *at += n;
    *left -= n;
}

static void leave(const char *name, const unsigned char **at, size_t *left)
{
    const int fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FUZZ_CHECK(fd >= 0 && ftruncate(fd, sizeof(struct profile_map)) == 0);
    put(fd, at, left, offsetof(struct profile_map, file), 0);
    put(fd, at, left, FILES * sizeof(struct profile_file), offsetof(struct profile_map, file));
    put(fd, at, left, PHASES * sizeof(struct profile_phase), offsetof(struct profile_map, phase));
    close(fd);
}

/* What can be replayed is planned. */
static void look_at(const struct workload *w)
{
    for (int i = 0; i < w->points_n; i++) {
        const struct workload_point *p = &w->point[i];
        struct workload_plan plan;
        const int rc = workload_point_check(p, w->separate, "w: ");
        FUZZ_CHECK(rc == 0);
        if (workload_plan_memory(w, i, 0, BUFFER_BYTES, 4) > MEMORY_BYTES) continue;
        FUZZ_CHECK(workload_plan_make(w, i, 0, &plan) == 0);
        workload_plan_free(&plan);
    }
}

void fuzz_one(const unsigned char *bytes, size_t size)
{
    static const char *const names[RANKS] = {"rank-0", "rank-1"};
    struct profile_run run;
    struct workload w = {0};
    char why[ERR_MESSAGE_MAX];
    int left_out;
    for (int r = 0; r < RANKS; r++)
        leave(names[r], &bytes, &size);
    int rc = profile_load(".", 1, &run);
    if (rc == 0 && run.size > 0) {
        rc = profile_workload(&run, &w, &left_out, why);
        if (rc == 0) {
            workload_write(&w, fuzz_null);
            look_at(&w);
        }
        profile_print(&run, fuzz_null);
        json_t *o = profile_json(&run);
        FUZZ_CHECK(o);
        json_decref(o);
        workload_free(&w);
    }
    fuzz_message(rc);
    profile_free(&run);
}
