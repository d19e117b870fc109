/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/par_main.h"

#include <stdio.h>

#include "base/par.h"
#include "base/start.h"
#include "base/stop.h"

int par_main(const char *program, int threads, int argc, char **argv,
             int (*body)(int argc, char **argv))
{
    int rank = 0, level;
    start_clean();
    if (MPI_Init_thread(&argc, &argv, threads, &level) != MPI_SUCCESS) {
        fprintf(stderr, "%s: MPI could not be started\n", program);
        return err_exit_status(ERR_MPI);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int rc = stop_install();
    if (rc == 0) rc = body(argc, argv);
    /* Of rank 0 alone: a launcher's own output is the launcher's to watch. */
    const int printed = par_agree(MPI_COMM_WORLD, rank == 0 ? start_printed() : 0);
    if (rc >= 0) rc = printed;
    if (rc < 0 && rank == 0) fprintf(stderr, "%s: %s\n", program, err_message());
    MPI_Finalize();
    return err_exit_status(rc);
}
