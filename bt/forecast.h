/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_FORECAST_H
#define BT_FORECAST_H
/* Floor 3. What a run would take, without making it (--dry-run): bytes, files, memory, time, and
 * what of it does not fit. No file is made or changed, the one named by --json aside. */
#include <jansson.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bt/options.h"

#define BT_FORECAST_WRITE                                                                          \
    200e6                      /* bytes/s of writing and flushing, assumed: nothing was written    \
                                */
#define BT_FORECAST_READ 500e6 /* bytes/s of reading back, assumed */

enum bt_forecast_tc { BT_FORECAST_STORE, BT_FORECAST_PROBE, BT_FORECAST_GIVEN };

struct bt_forecast {
    int64_t ranks, threads, nodes, cores; /* planned for; cores of all nodes */
    char decomp[40];
    int64_t dumps_n, dump_bytes;
    int64_t file_bytes;    /* of one writer's file, 0: nothing is written */
    int64_t files_n;       /* left behind, manifests included */
    int64_t disk_bytes;    /* on the file system at a time */
    int64_t written_bytes; /* by all writers in all rounds */
    int64_t free_bytes;    /* of the file system, old files of the same names given back */
    int64_t rank_bytes;    /* memory of the largest rank */
    int64_t memory_bytes;  /* of all ranks */
    int64_t node_bytes;    /* of the ranks on one node */
    int64_t available_bytes, total_bytes; /* memory of this node */
    double ratio;                         /* file over the memory of all nodes */
    bool rule_holds;                      /* ratio >= RESIDENT_RULE */
    enum bt_forecast_tc tc_origin;
    double t_c_s, t_t_s, time_s; /* T_C; T_T at BT_FORECAST_WRITE; of the whole command */
    double needed_rate;          /* bytes/s in T_T - T_C at which zeta would be 10 % */
    json_t *misfits;             /* array of sentences */
};

/* Plans on rank 0 for setup's ranks and nodes (those that were started when 0). Collective over
 * comm. [out] f, on rank 0, to be freed by bt_forecast_free, also after an error. Returns 0 also
 * when something does not fit; ERR_USAGE for a decomposition that cannot be, ERR_IO when the folder
 * of the file is not there, ERR_MPI, ERR_NOMEM. */
int bt_forecast_make(MPI_Comm comm, const struct bt_setup *setup, struct bt_forecast *f);
void bt_forecast_free(struct bt_forecast *f);

/* The same in words; as JSON (docs/schema/nht1-bt-plan-1.json, new reference). Local. */
void bt_forecast_print(const struct bt_forecast *f, const struct bt_setup *setup, FILE *to);
json_t *bt_forecast_json(const struct bt_forecast *f, const struct bt_setup *setup);

/* All of --dry-run: plans, prints on rank 0, writes --json. Collective over comm. Returns what
 * bt_forecast_make does, or ERR_IO or ERR_NOMEM when the run would not fit. */
int bt_forecast_run(MPI_Comm comm, const struct bt_setup *setup);

#endif
