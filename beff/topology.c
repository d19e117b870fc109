/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beff/topology.h"

#include <stdlib.h>
#include <string.h>

#include "base/par.h"

/* The largest grid of at most n processes with a shape that suits. */
static int shape_grid(int n, int dims_n, struct beff_grid *grid)
{
    for (int m = n; m > 0; m--) {
        int dims[3] = {0, 0, 0};
        TRY_MPI(MPI_Dims_create(m, dims_n, dims));
        for (int d = 0; d < 3; d++)
            grid->dims[d] = d < dims_n ? dims[d] : 1;
        if (beff_grid_suits(m, dims[dims_n - 1])) break;
    }
    return 0;
}

/* Every process tells its position in the grid, or that it has none. */
static int collect(MPI_Comm row, int position, struct beff_grid *grid)
{
    int n;
    TRY_MPI(MPI_Comm_size(row, &n));
    int *all = malloc((size_t)n * sizeof *all);
    grid->order = malloc((size_t)n * sizeof *grid->order);
    int rc = all && grid->order ? 0 : err_set(ERR_NOMEM, "no memory for a grid of %d processes", n);
    rc = par_agree(row, rc);
    if (rc == 0)
        rc = par_check(MPI_Allgather(&position, 1, MPI_INT, all, 1, MPI_INT, row), "MPI_Allgather");
    for (int r = 0; rc == 0 && r < n; r++)
        if (all[r] >= 0) grid->order[all[r]] = r;
    free(all);
    return rc;
}

static int make_grid(MPI_Comm row, int dims_n, struct beff_grid *grid)
{
    const int periods[3] = {1, 1, 1};
    MPI_Comm cart;
    int n, position = -1;
    TRY_MPI(MPI_Comm_size(row, &n));
    TRY(shape_grid(n, dims_n, grid));
    TRY_MPI(MPI_Cart_create(row, dims_n, grid->dims, periods, 1, &cart));
    if (cart != MPI_COMM_NULL) {
        TRY_MPI(MPI_Comm_rank(cart, &position));
        TRY_MPI(MPI_Comm_free(&cart));
    }
    return collect(row, position, grid);
}

int beff_topology_make(MPI_Comm comm, struct beff_topology *t)
{
    const int periodic = 1;
    int n;
    *t = (struct beff_topology){.row = MPI_COMM_NULL};
    TRY_MPI(MPI_Comm_size(comm, &n));
    TRY_MPI(MPI_Cart_create(comm, 1, &n, &periodic, 1, &t->row));
    TRY_MPI(MPI_Comm_set_errhandler(t->row, MPI_ERRORS_RETURN));
    for (int g = 0; g < 2; g++)
        TRY(make_grid(t->row, g + 2, &t->grid[g]));
    return 0;
}

void beff_topology_free(struct beff_topology *t)
{
    for (int g = 0; g < 2; g++)
        free(t->grid[g].order);
    if (t->row != MPI_COMM_NULL) MPI_Comm_free(&t->row);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

const char *beff_placement(char *const *hosts, int n)
{
    int runs = 1, different = 1;
    char **sorted = malloc((size_t)n * sizeof *sorted);
    if (!sorted) return "unknown";
    memcpy(sorted, hosts, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_name);
    for (int r = 1; r < n; r++) {
        runs += strcmp(hosts[r], hosts[r - 1]) != 0;
        different += strcmp(sorted[r], sorted[r - 1]) != 0;
    }
    free(sorted);
    if (different == 1) return "one node";
    if (runs == different) return "sequential"; /* no node is come back to */
    return runs == n ? "round-robin" : "mixed";
}
