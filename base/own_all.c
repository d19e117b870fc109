/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/own_all.h"

#include "base/err.h"
#include "base/par.h"

int own_begin_all(struct own **o, MPI_Comm comm, const char *dir, const char *lock, int how)
{
    int rank = 0;
    *o = NULL;
    TRY_MPI(MPI_Comm_rank(comm, &rank));
    uint64_t job = rank == 0 ? own_job() : 0;
    TRY_MPI(MPI_Bcast(&job, 1, MPI_UINT64_T, 0, comm));
    if (rank == 0 && !(how & OWN_NO_SWEEP)) own_sweep(dir, 0);
    int rc = own_begin(o, dir, job, (how & OWN_KEEP) != 0);
    if (rc == 0 && rank == 0) rc = own_lock(*o, lock);
    if (rc == 0) rc = own_watch(*o);
    return par_agree(comm, rc);
}
