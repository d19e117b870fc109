/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/par_main.h"

#include <errno.h>
#include <stdio.h>

#include "base/par.h"
#include "base/start.h"
#include "base/stop.h"

/* What was printed has arrived, on rank 0; a launcher's own output is the launcher's to watch. */
static int output_check(int rank)
{
    if (rank != 0 || (fflush(stdout) == 0 && !ferror(stdout))) return 0;
    return err_set_errno(ERR_IO, errno, "writing to standard output");
}

static int started(int wanted, const char *program, int argc, char **argv,
                   int (*body)(int argc, char **argv))
{
    int rank = 0, level;
    start_clean();
    if (MPI_Init_thread(&argc, &argv, wanted, &level) != MPI_SUCCESS) {
        fprintf(stderr, "%s: MPI could not be started\n", program);
        return err_exit_status(ERR_MPI);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int rc = stop_install();
    if (rc == 0) rc = body(argc, argv);
    const int printed = par_agree(MPI_COMM_WORLD, output_check(rank));
    if (rc >= 0) rc = printed;
    if (rc < 0 && rank == 0) fprintf(stderr, "%s: %s\n", program, err_message());
    MPI_Finalize();
    return err_exit_status(rc);
}

int par_main(const char *program, int argc, char **argv, int (*body)(int argc, char **argv))
{
    return started(MPI_THREAD_FUNNELED, program, argc, argv, body);
}

int par_main_single(const char *program, int argc, char **argv, int (*body)(int argc, char **argv))
{
    return started(MPI_THREAD_SINGLE, program, argc, argv, body);
}
