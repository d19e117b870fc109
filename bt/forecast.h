/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BT_FORECAST_H
#define BT_FORECAST_H
/* Layer 3. What a run would take, without making it (--dry-run): bytes, files, memory, time, and
 * what of it does not fit. No file is made or changed, the one named by --json aside. */
#include <jansson.h>
#include <mpi.h>

#include "bt/machine.h"
#include "bt/options.h"

/* What --io auto would try: as bt_search_each of bt/search/search.h, which is above this. */
typedef int bt_forecast_search(const struct bt_setup *s, int64_t ranks, int64_t nodes,
                               void (*take)(void *arg, const struct bt_candidate *c), void *arg);

/* All of --dry-run: plans on rank 0 for setup's ranks and nodes (those that were started when 0),
 * prints, writes --json (docs/schema/nht1-bt-plan-1.json). Collective over comm. ERR_USAGE for a
 * decomposition that cannot be, ERR_IO when the run would not fit or the folder of the file is not
 * there, ERR_MPI, ERR_NOMEM. */
int bt_forecast_run(MPI_Comm comm, const struct bt_setup *setup, bt_forecast_search *search);

/* Before a run whose files lie in memory: whether they fit there together with the ranks, in the words of a dry run. Of other runs nothing
 * is asked here. Collective over comm. Returns 0, ERR_IO or as above. */
int bt_forecast_fits(MPI_Comm comm, const struct bt_machine *m, const struct bt_setup *setup,
                     bt_forecast_search *search);

#endif
